/*
** See loops.h
*/

#include "count/loops.h"

#include <string.h>


void loops_init (Loops *l, ChunkSet *s) {
  chunkset_add(s, &l->list, sizeof(Loop), LOOPS_SHIFT, BLOCK_LOOPS);
  chunkset_add(s, &l->marks, sizeof(LoopMark), MARKS_SHIFT, BLOCK_FRAMEMARKS);
  chunkset_add(s, &l->worst, sizeof(WorstFrame), WORST_SHIFT, BLOCK_WORST);
  chunkset_add(s, &l->nodes, sizeof(FrameNode), FRAMENODES_SHIFT,
               BLOCK_FRAMENODES);
  chunkset_add(s, &l->states, sizeof(LoopState), LOOPS_SHIFT, 0);
}


static LoopState *loops_state (const Loops *l, uint32_t id) {
  return cast(LoopState *, chunks_at(&l->states, id));
}


/* The loop enters the list last, when all its parts exist. */
static LoopState *loops_new (Loops *l, const char *name) {
  LoopState *s;
  uint32_t i;
  Loop *x;
  for (i = 0; i < LOOP_WORST; i++)
    if (chunks_add(&l->worst) == NULL) return NULL;
  s = cast(LoopState *, chunks_add(&l->states));
  x = s != NULL ? cast(Loop *, chunks_add(&l->list)) : NULL;
  if (x == NULL) return NULL;
  strncpy(s->name, name, LOOP_NAME - 1);
  memcpy(x->name, s->name, LOOP_NAME);
  chunks_publish(&l->list);
  return s;
}


LoopState *loops_find (Loops *l, const char *name, uint32_t *id) {
  for (*id = 0; *id < l->states.count; ++*id)
    if (strncmp(loops_state(l, *id)->name, name, LOOP_NAME - 1) == 0)
      return loops_state(l, *id);
  return loops_room(l) ? loops_new(l, name) : NULL;
}


/* Sets 'number' last: a reader of a live file may see a half-written mark. */
static void mark_write (LoopMark *to, const LoopMark *from) {
  volatile uint32_t *number = &to->number;
  LoopMark m = *from;
  m.number = 0;
  *to = m;
  *number = from->number;
}


int loops_add (Loops *l, const LoopMark *m, uint64_t ns, uint64_t budget) {
  uint32_t at = (uint32_t)(l->marked % LOOP_MARKS);
  Loop *x = loops_at(l, m->loop);
  if (at >= l->marks.count && chunks_add(&l->marks) == NULL) return 0;
  mark_write(loops_mark(l, at), m);
  chunks_publish(&l->marks);
  l->marked++;
  x->frames++;
  x->budget = budget;
  if (budget > 0 && m->own > budget) x->slow++;
  durations_add(&x->times, ns);
  if (durations_isslow(&x->times, m->own)) {
    SlowCall call = ZEROS;
    call.took = m->own;
    durations_slow(&x->times, &call);
  }
  return 1;
}


/* the slot of the fastest frame among the slowest ones */
static uint32_t worst_least (const LoopState *s) {
  uint32_t least = 0, i;
  for (i = 1; i < LOOP_WORST; i++)
    if (s->own[i] < s->own[least]) least = i;
  return least;
}


int loops_isworst (const Loops *l, const LoopMark *m) {
  const LoopState *s = loops_state(l, m->loop);
  return m->own > s->own[worst_least(s)];
}


/*
** Gives all slots of a loop room for 'room' nodes, or more, at once: how much
** memory that takes must not depend on which frames are slow, thus on the
** machine. The old rooms are lost. As rooms at least double, all lost ones
** together are smaller than the new ones.
*/
static int worst_room (Loops *l, LoopState *s, uint32_t room) {
  uint32_t slot, i;
  if (room < s->room * 2) room = s->room * 2;
  s->room = 0;
  for (slot = 0; slot < LOOP_WORST; slot++) {
    s->first[slot] = l->nodes.count;
    for (i = 0; i < room; i++)
      if (chunks_add(&l->nodes) == NULL) return 0;
  }
  chunks_publish(&l->nodes);
  s->room = room;
  return 1;
}


int loops_keep (Loops *l, const LoopMark *m, uint64_t steps,
                const FrameNode *list, uint32_t n, uint32_t more) {
  LoopState *s = loops_state(l, m->loop);
  uint32_t slot = worst_least(s), i;
  WorstFrame *to = loops_worst(l, m->loop * LOOP_WORST + slot);
  if (n > LOOP_NODES) n = 0;
  *(volatile uint32_t *)&to->is.number = 0;
  s->own[slot] = 0;
  if (n > s->room && !worst_room(l, s, more)) return 0;
  for (i = 0; i < n; i++) *loops_node(l, s->first[slot] + i) = list[i];
  to->steps = steps;
  to->first = s->first[slot];
  to->nodes = n;
  mark_write(&to->is, m);
  s->own[slot] = m->own;
  return 1;
}

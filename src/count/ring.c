/*
** See ring.h
*/

#include "count/ring.h"

#include <string.h>


void ring_init (Ring *g, const Memory *m) {
  memset(g, 0, sizeof *g);
  g->memory = m;
}


void ring_free (Ring *g) {
  while (g->oldest != NULL) {
    RingBlock *b = g->oldest;
    g->oldest = b->next;
    memory_free(g->memory, b, sizeof *b);
  }
  g->newest = NULL;
  g->at = g->end = NULL;
  g->blocks = 0;
}


/* Makes 'b' the block that is being written. */
static void ring_append (Ring *g, RingBlock *b, uint64_t begun) {
  b->next = NULL;
  b->begun = begun;
  if (g->newest != NULL) g->newest->next = b;
  else g->oldest = b;
  g->newest = b;
  g->at = b->event;
  g->end = b->event + RING_ROOM;
}


/* One block is being written, so there are at least two. */
int ring_begin (Ring *g, uint64_t keep, uint64_t bytes) {
  RingBlock *b = memory_new(g->memory, RingBlock, 1);
  if (b == NULL) return 0;
  g->keep = keep;
  g->most = bytes == 0 ? RING_BLOCKS : (uint32_t)(bytes / sizeof *b);
  if (g->most < 2) g->most = 2;
  g->blocks = 1;
  ring_append(g, b, 0);
  return 1;
}


void ring_clear (Ring *g) {
  uint64_t keep = g->keep;
  uint32_t most = g->most;
  RingBlock *first = g->oldest;
  if (first == NULL) return;
  g->oldest = first->next;
  ring_free(g);
  ring_init(g, g->memory);
  g->keep = keep;
  g->most = most;
  g->blocks = 1;
  ring_append(g, first, 0);
}


/* Removes the oldest block from the list, and returns it. */
static RingBlock *ring_drop (Ring *g) {
  RingBlock *b = g->oldest;
  g->oldest = b->next;
  if (g->oldest == NULL) g->newest = NULL;
  g->dropped = 1;
  return b;
}


/* The last block is full: begins another one. */
static void ring_turn (Ring *g, uint64_t begun) {
  const RingBlock *next = g->oldest->next;
  int old = next != NULL && next->begun + g->keep < begun;
  RingBlock *b = NULL;
  if (!old && g->blocks < g->most) b = memory_new(g->memory, RingBlock, 1);
  if (b != NULL) g->blocks++;
  else b = ring_drop(g);
  ring_append(g, b, begun);
}


/* The halves of a stretch have to be in one block. */
void ring_add (Ring *g, uint64_t begun, uint32_t node, unsigned what,
               uint64_t ticks) {
  uint64_t more = ticks >> 32;
  if (g->end - g->at < 1 + (more != 0)) {
    while (g->at != g->end) ring_put(g, 0, RING_MORE, 0);
    ring_turn(g, begun);
  }
  if (more != 0) ring_put(g, (uint32_t)more, RING_MORE, 0);
  ring_put(g, node, what, ticks & UINT32_MAX);
}


/* If that stretch is in the block before, it stays as it is. */
void ring_ended (Ring *g, unsigned what, uint32_t overhead) {
  uint64_t *e = g->at;
  while (e > g->newest->event) {
    uint64_t high = *--e >> 32;
    if ((high & 7) > RING_WAIT && (high & 7) != LUA_HOOKTAILCALL) continue;
    if (high >> 3 == overhead) continue;
    *e = (*e & UINT32_MAX) | (high >> 3 << 3 | what) << 32;
    return;
  }
}


#if CPROF_WHOLE

static void ring_enter (RingCursor *c, const RingBlock *b) {
  c->block = b;
  c->at = b->event;
  if (b->begun > c->time) c->time = b->begun;
}


void ring_first (RingCursor *c, const Ring *g) {
  c->ring = g;
  c->time = 0;
  ring_enter(c, g->oldest);
}


int ring_next (RingCursor *c, RingStretch *s) {
  uint64_t more = 0;
  for (;;) {
    uint64_t e;
    if (c->at == c->ring->at) return 0;
    if (c->at == c->block->event + RING_ROOM) {
      if (c->block->next == NULL) return 0;
      ring_enter(c, c->block->next);
      continue;
    }
    e = *c->at++;
    s->node = (uint32_t)(e >> 35);
    s->what = (unsigned)(e >> 32) & 7;
    s->ticks = (e & UINT32_MAX) | more << 32;
    more = s->node;
    if (s->what == RING_MORE) continue;
    s->begun = c->time;
    c->time += s->ticks;
    return 1;
  }
}

#endif

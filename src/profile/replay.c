/*
** See replay.h
*/

#include "profile/replay.h"

#include <string.h>


#define REPLAY_STEP	4.0	/* ns */
#define REPLAY_LONG	1000.0	/* ns */


/* Begins another chunk. */
static void replay_turn (Replay *p) {
  AxisChunk *c = memory_newzeroed(p->memory, AxisChunk, 1);
  memory_grow(p->memory, &p->chunk, &p->capacity, p->chunks, sizeof *p->chunk);
  c->number = p->chunks + (p->recording->ring.dropped != 0);
  c->from = p->axis.last;
  p->chunk[p->chunks++] = c;
  p->axis.used = 0;
}


static void replay_put (Replay *p, const AxisSample *x) {
  if (p->chunks == 0 || p->axis.used + AXIS_LONGEST > AXIS_ROOM)
    replay_turn(p);
  axis_put(&p->axis, p->chunk[p->chunks - 1], (uint64_t)x->end, x);
}


static uint32_t replay_place (Replay *p, uint32_t node) {
  if (p->place[node] == 0) p->place[node] = p->places++;
  return p->place[node];
}


/*
** The stretch of a node is complete. A sample counts at its end, but a call
** where it begins: if these are far apart, they are two samples.
*/
static void replay_flush (Replay *p) {
  AxisSample *x = &p->sample;
  if (p->node == 0 && x->ns <= 0) return;
  x->place = replay_place(p, p->node);
  if (x->samples > 0 && x->ns > REPLAY_LONG) {
    AxisSample call = *x;
    call.end = p->begun;
    call.ns = 0;
    replay_put(p, &call);
    x->samples = 0;
  }
  if (x->ns > 0 || x->samples > 0) replay_put(p, x);
  memset(x, 0, sizeof *x);
  p->node = 0;
}


/*
** A stretch that is charged to no function: others had the processor, nothing
** was recorded, or it is overhead. What ran before goes on after it.
*/
static void replay_lost (Replay *p, const RingStretch *s) {
  AxisSample x = ZEROS;
  replay_flush(p);
  x.end = (double)(s->begun + s->ticks) * p->tick;
  x.ns = (double)s->ticks * p->tick;
  x.place = s->node == NODE_OVERHEAD ? replay_place(p, NODE_OVERHEAD)
                                     : AXIS_NOWHERE;
  x.waits = s->what == RING_PREEMPTED;
  replay_put(p, &x);
}


static void replay_add (Replay *p, const RingStretch *s) {
  AxisSample *x = &p->sample;
  int calls = p->what == LUA_HOOKCALL || p->what == LUA_HOOKTAILCALL;
  int waits = s->what == RING_WAIT;
  if (calls || s->node != p->node || waits != x->waits) replay_flush(p);
  if (x->samples == 0 && x->ns <= 0) p->begun = (double)s->begun * p->tick;
  p->node = s->node;
  p->what = s->what;
  x->samples += (uint64_t)calls;
  x->waits = waits;
  x->ns += (double)s->ticks * p->tick;
  x->end = (double)(s->begun + s->ticks) * p->tick;
}


static void replay_all (Replay *p) {
  RingCursor c;
  RingStretch s;
  ring_first(&c, &p->recording->ring);
  while (ring_next(&c, &s)) {
    if (s.what == RING_PREEMPTED || s.what == RING_PAUSED ||
        s.node == NODE_OVERHEAD)
      replay_lost(p, &s);
    else if (s.node < p->snapshot->nodes)
      replay_add(p, &s);
  }
  replay_flush(p);
}


/* An axis whose first chunk has a number above 0 begins where that does. */
static void replay_begin (Replay *p) {
  const Ring *g = &p->recording->ring;
  double begun = (double)g->oldest->block->begun * p->tick;
  p->axis.step = REPLAY_STEP;
  if (g->dropped) p->axis.last = (uint64_t)(begun / REPLAY_STEP);
}


void replay_make (Replay *p, AxisData *d, const Memory *m, const Recording *r,
                  const Snapshot *s) {
  memset(p, 0, sizeof *p);
  p->memory = m;
  p->recording = r;
  p->snapshot = s;
  p->tick = clock_rate(s->scale);
  p->what = RING_OTHER;
  p->place = memory_newzeroed(m, uint32_t, s->nodes);
  p->places = 1;
  replay_begin(p);
  replay_all(p);
  memset(d, 0, sizeof *d);
  d->step = p->axis.step;
  d->chunks = p->chunks;
  d->places = p->places;
}


void replay_copy (const Replay *p, AxisData *d) {
  uint32_t i;
  for (i = 0; i < p->chunks; i++) d->chunk[i] = *p->chunk[i];
  for (i = 0; i < p->snapshot->nodes; i++) {
    AxisPlace *to = &d->place[p->place[i]];
    if (p->place[i] == 0) continue;
    to->node = i;
    to->at = 0;
  }
  if (p->recording->ring.dropped && d->chunks > 0)
    d->begins = (double)d->chunk[0].from * d->step;
}

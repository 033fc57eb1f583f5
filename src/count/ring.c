/*
** See ring.h
*/

#include "count/ring.h"

#include <string.h>


void ring_init (Ring *g, const Memory *m, const Pages *pages) {
  memset(g, 0, sizeof *g);
  g->memory = m;
  g->pages = pages;
}


static void ring_freeblocks (Ring *g, RingBlock *b) {
  while (b != NULL) {
    RingBlock *next = b->next;
    memory_free(g->memory, b, sizeof *b);
    b = next;
  }
}


void ring_free (Ring *g) {
  if (g->pages == NULL) {
    ring_freeblocks(g, g->oldest);
    ring_freeblocks(g, g->spare);
  }
  g->oldest = g->newest = g->spare = NULL;
  g->at = g->end = NULL;
  g->blocks = 0;
}


/* Makes 'b' the block that is being written. */
static void ring_append (Ring *g, RingBlock *b, uint64_t begun) {
  if (g->pages != NULL) memset(b->event, 0xff, sizeof b->event);
  b->next = NULL;
  b->begun = begun;
  if (g->newest != NULL) g->newest->next = b;
  else g->oldest = b;
  g->newest = b;
  g->at = b->event;
  g->end = b->event + RING_ROOM;
}


/* A block without events, if there may be one more. NULL: there is none. */
static RingBlock *ring_block (Ring *g) {
  RingBlock *b = g->spare;
  if (b != NULL) g->spare = b->next;
  else if (g->blocks < g->most) {
    b = cast(RingBlock *, pages_new(g->pages, g->memory, g->blocks,
                                    sizeof *b));
    g->blocks += b != NULL;
  }
  return b;
}


/* One block is being written, so there are at least two. */
int ring_begin (Ring *g, uint64_t keep, uint64_t bytes) {
  RingBlock *b;
  g->keep = keep;
  g->most = bytes == 0 ? RING_BLOCKS : (uint32_t)(bytes / sizeof *b);
  if (g->most < 2) g->most = 2;
  b = ring_block(g);
  if (b == NULL) return 0;
  ring_append(g, b, 0);
  return 1;
}


void ring_clear (Ring *g) {
  RingBlock *b;
  if (g->newest == NULL) return;
  g->newest->next = g->spare;
  g->spare = g->oldest;
  for (b = g->spare; b != NULL; b = b->next) b->event[0] = RING_NONE;
  g->oldest = g->newest = NULL;
  g->dropped = 0;
  ring_append(g, ring_block(g), 0);
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
  RingBlock *b = old ? NULL : ring_block(g);
  ring_append(g, b != NULL ? b : ring_drop(g), begun);
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

static void ring_enter (RingCursor *c, RingBlock *b) {
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
    if (c->at == c->block->event + RING_ROOM || *c->at == RING_NONE) {
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


/* Blocks usually come in the order of time. */
void ring_restore (Ring *g, RingBlock *b) {
  RingBlock **at = &g->oldest;
  if (b->event[0] == RING_NONE) return;
  if (g->newest != NULL && g->newest->begun <= b->begun) at = &g->newest->next;
  while (*at != NULL && (*at)->begun <= b->begun) at = &(*at)->next;
  b->next = *at;
  *at = b;
  if (b->next == NULL) g->newest = b;
  g->blocks++;
}


int ring_check (Ring *g, uint32_t nodes, uint64_t most) {
  RingCursor c;
  RingStretch s;
  int good = 1;
  if (g->newest == NULL) return 1;
  g->most = g->blocks;
  g->dropped = g->oldest->begun > 0;
  for (ring_first(&c, g); ring_next(&c, &s); ) {
    if (s.node < nodes && s.begun <= most && s.ticks <= most - s.begun)
      continue;
    c.at[-1] = RING_NONE;
    c.time = s.begun;
    good = 0;
  }
  g->at = g->newest->event;
  g->end = g->newest->event + RING_ROOM;
  while (g->at != g->end && *g->at != RING_NONE) g->at++;
  return good;
}

#endif

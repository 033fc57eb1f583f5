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


static void ring_freelist (Ring *g, RingLink *l) {
  while (l != NULL) {
    RingLink *next = l->next;
    if (g->pages == NULL) memory_free(g->memory, l->block, sizeof *l->block);
    memory_free(g->memory, l, sizeof *l);
    l = next;
  }
}


void ring_free (Ring *g) {
  ring_freelist(g, g->oldest);
  ring_freelist(g, g->spare);
  g->oldest = g->newest = g->spare = NULL;
  g->at = g->end = NULL;
  g->blocks = 0;
}


/* Makes the block of 'l' the one that is being written. */
static void ring_append (Ring *g, RingLink *l, uint64_t begun) {
  RingBlock *b = l->block;
  if (g->pages != NULL) memset(b->event, 0xff, sizeof b->event);
  b->begun = begun;
  l->next = NULL;
  if (g->newest != NULL) g->newest->next = l;
  else g->oldest = l;
  g->newest = l;
  g->at = b->event;
  g->end = b->event + RING_ROOM;
}


/* A link to a block, which may be NULL. NULL: out of memory. */
static RingLink *ring_link (Ring *g, RingBlock *b) {
  RingLink *l = memory_new(g->memory, RingLink, 1);
  if (l != NULL) l->block = b;
  return l;
}


/* A block without events, if there may be one more. NULL: there is none. */
static RingLink *ring_block (Ring *g) {
  RingLink *l = g->spare;
  if (l != NULL) {
    g->spare = l->next;
    return l;
  }
  if (g->blocks == g->most || (l = ring_link(g, NULL)) == NULL) return NULL;
  l->block = cast(RingBlock *, pages_new(g->pages, g->memory, g->blocks,
                                         sizeof *l->block));
  if (l->block == NULL) {
    memory_free(g->memory, l, sizeof *l);
    g->most = g->blocks;  /* do not ask for more again and again */
    return NULL;
  }
  g->blocks++;
  return l;
}


/* One block is being written, so there are at least two. */
int ring_begin (Ring *g, uint64_t keep, uint64_t bytes) {
  RingLink *l;
  g->keep = keep;
  g->most = bytes == 0 ? RING_BLOCKS : (uint32_t)(bytes / sizeof *l->block);
  if (g->most < 2) g->most = 2;
  l = ring_block(g);
  if (l == NULL) return 0;
  ring_append(g, l, 0);
  return 1;
}


void ring_clear (Ring *g) {
  RingLink *l;
  if (g->newest == NULL) return;
  g->newest->next = g->spare;
  g->spare = g->oldest;
  for (l = g->spare; l != NULL; l = l->next) l->block->event[0] = RING_NONE;
  g->oldest = g->newest = NULL;
  g->dropped = 0;
  ring_append(g, ring_block(g), 0);
}


/* Removes the oldest block from the list, and returns it. */
static RingLink *ring_drop (Ring *g) {
  RingLink *l = g->oldest;
  g->oldest = l->next;
  if (g->oldest == NULL) g->newest = NULL;
  g->dropped = 1;
  return l;
}


/* The last block is full: begins another one. */
static void ring_turn (Ring *g, uint64_t begun) {
  const RingLink *next = g->oldest->next;
  int old = next != NULL && next->block->begun + g->keep < begun;
  RingLink *l = old ? NULL : ring_block(g);
  ring_append(g, l != NULL ? l : ring_drop(g), begun);
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
  while (e > g->newest->block->event) {
    uint64_t high = *--e >> 32;
    if ((high & 7) > RING_WAIT && (high & 7) != LUA_HOOKTAILCALL) continue;
    if (high >> 3 == overhead) continue;
    *e = (*e & UINT32_MAX) | (high >> 3 << 3 | what) << 32;
    return;
  }
}


#if CPROF_WHOLE

static void ring_enter (RingCursor *c, const RingLink *l) {
  c->link = l;
  c->at = l->block->event;
  if (l->block->begun > c->time) c->time = l->block->begun;
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
    if (c->at == c->link->block->event + RING_ROOM || *c->at == RING_NONE) {
      if (c->link->next == NULL) return 0;
      ring_enter(c, c->link->next);
      more = 0;
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
int ring_restore (Ring *g, RingBlock *b) {
  RingLink **at = &g->oldest, *l;
  if (b->event[0] == RING_NONE) return 1;
  l = ring_link(g, b);
  if (l == NULL) return 0;
  if (g->newest != NULL && g->newest->block->begun <= b->begun)
    at = &g->newest->next;
  while (*at != NULL && (*at)->block->begun <= b->begun) at = &(*at)->next;
  l->next = *at;
  *at = l;
  if (l->next == NULL) g->newest = l;
  g->blocks++;
  return 1;
}


int ring_check (Ring *g, uint32_t nodes, uint64_t most) {
  RingCursor c;
  RingStretch s;
  int good = 1;
  if (g->newest == NULL) return 1;
  g->most = g->blocks;
  g->dropped = g->oldest->block->begun > 0;
  for (ring_first(&c, g); ring_next(&c, &s); ) {
    if (s.node < nodes && s.begun <= most && s.ticks <= most - s.begun)
      continue;
    c.at[-1] = RING_NONE;
    c.time = s.begun;
    good = 0;
  }
  g->at = g->newest->block->event;
  g->end = g->at + RING_ROOM;
  while (g->at != g->end && *g->at != RING_NONE) g->at++;
  return good;
}

#endif

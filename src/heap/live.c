/*
** See live.h
*/

#include "heap/live.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "follow/instructions.h"


/* {======================================================
** Gaps
** ======================================================= */

void gaps_begin (Gaps *g, uint64_t interval) {
  g->interval = interval;
  g->seed = platform_ticks();
  gaps_choose(g);
}


void gaps_choose (Gaps *g) {
  double gap = random_exponential(&g->seed) * (double)g->interval;
  g->next = g->interval <= 1 ? 0 : 1 + (int64_t)gap;
}


BlockWeight gaps_weight (const Gaps *g, size_t bytes) {
  BlockWeight w;
  double p = g->interval <= 1 ? 1
           : 1 - exp(-(double)bytes / (double)g->interval);
  double count = p > 0 ? 1 / p : (double)g->interval;
  w.count = (uint32_t)(count + 0.5);
  w.bytes = (uint64_t)((double)bytes * count + 0.5);
  return w;
}

/* }====================================================== */


#define LIVE_FIRST	8	/* bits at first: 256 places */


/* {======================================================
** Blocks by address
** ======================================================= */

static uint32_t live_mask (const Live *l) {
  return (1u << l->bits) - 1;
}


/* The place of a block, or the free place where it would be. */
static uint32_t live_place (const Live *l, uintptr_t address) {
  uint32_t i = live_home(l, address);
  while (l->list[i].address != 0 && l->list[i].address != address)
    i = (i + 1) & live_mask(l);
  return i;
}


static int live_grow (Live *l) {
  LiveBlock *old = l->list;
  uint32_t count = old != NULL ? 1u << l->bits : 0, i;
  uint32_t bits = old != NULL ? l->bits + 1 : LIVE_FIRST;
  LiveBlock *list = bits < 31
    ? memory_newzeroed(l->memory, LiveBlock, (size_t)1 << bits) : NULL;
  if (list == NULL) return 0;
  l->list = list;
  l->bits = bits;
  for (i = 0; i < count; i++)
    if (old[i].address != 0)
      list[live_place(l, old[i].address)] = old[i];
  memory_free(l->memory, old, count * sizeof *old);
  return 1;
}


static int live_add (Live *l, const LiveBlock *b) {
  if ((l->list == NULL || l->blocks >= (1u << l->bits) / 4 * 3) &&
      !live_grow(l))
    return 0;
  l->list[live_place(l, b->address)] = *b;
  l->blocks++;
  return 1;
}


/*
** Empties place 'at'. Moves later blocks into it, so that no search ends too
** early.
*/
static void live_remove (Live *l, uint32_t at) {
  uint32_t i = at;
  l->blocks--;
  for (;;) {
    uint32_t home;
    i = (i + 1) & live_mask(l);
    if (l->list[i].address == 0) break;
    home = live_home(l, l->list[i].address);
    if (((i - home) & live_mask(l)) < ((i - at) & live_mask(l))) continue;
    l->list[at] = l->list[i];
    at = i;
  }
  l->list[at].address = 0;
}

/* }====================================================== */


/* {======================================================
** What is in use, by node and line
** ======================================================= */

/*
** Adds a block to the bytes in use of its node and line, or takes it away
** (sign -1). At a new peak, no node is copied: each keeps its figure of the
** last peak when it next changes.
*/
static void live_charge (Live *l, Recorder *r, const LiveBlock *b, int sign) {
  Figures *f = r->recording.figures;
  int64_t count = sign * (int64_t)b->count, bytes = sign * (int64_t)b->bytes;
  NodeAllocated *n;
  if (b->node == LIVE_NOBODY) return;
  n = tree_allocated(&r->recording.tree, b->node);
  if (n->peak != f->live_peaks) {
    n->peak = f->live_peaks;
    n->peak_bytes = n->live_bytes;
  }
  n->live_count += count;
  n->live_bytes += bytes;
  if (b->bytes_of != NULL) *b->bytes_of += bytes;
  l->sum += bytes;
  if (l->sum > f->live_peak) {
    f->live_peak = l->sum;
    f->live_peaks++;
  }
}


/* The counter of bytes in use of the running line or instruction, or NULL. */
static int64_t *live_counter (const Hot *h) {
  InstructionAllocated *a = instructions_running(h);
  if (a != NULL) return &a->live[1];
  return h->lines ? &line_allocated(h->top->line)->live_bytes : NULL;
}


static void live_wait (Live *l, LiveBlock *b) {
  b->node = LIVE_NOBODY;
  b->bytes_of = NULL;
  if (l->waiting < LIVE_WAITERS) l->waiter[l->waiting] = b->address;
  l->waiting++;
}


/* Makes the block belong to the node and line that run, or lets it wait. */
static void live_assignrunning (Live *l, const Recorder *r, LiveBlock *b) {
  const Hot *h = r->hot;
  if (l->waits) live_wait(l, b);
  else {
    b->node = tree_id(h->tree, h->top->node);
    b->bytes_of = live_counter(h);
  }
}


/*
** The block 'b' is new ('old' is 0) or has grown from 'old' bytes. Adds the
** weight of the growth. Where all blocks are recorded, a block that was
** there before recording began gets its growth alone.
*/
static void live_grown (Live *l, const Recorder *r, LiveBlock *b,
                        size_t old, size_t to) {
  BlockWeight w = gaps_weight(&l->gaps, to - old);
  if (old == 0) b->count = w.count;
  else if (l->gaps.interval <= 1) b->count = 1;
  b->bytes += w.bytes;
  live_assignrunning(l, r, b);
}


/*
** A block that shrinks keeps its node. One that grows belongs to the node
** that made it grow, if the growth is a sample.
*/
int live_change (Live *l, Recorder *r, const void *p, size_t old,
                 const void *block, size_t to, int sampled) {
  LiveBlock b = ZEROS;
  int there = 0;
  if (p != NULL && l->list != NULL) {
    uint32_t at = live_place(l, (uintptr_t)p);
    there = l->list[at].address != 0;
    if (there) {
      b = l->list[at];
      live_charge(l, r, &b, -1);
      live_remove(l, at);
    }
  }
  if (to == 0 || !(there || sampled)) return 1;
  b.address = (uintptr_t)block;
  if (sampled) live_grown(l, r, &b, old, to);
  else if (to < old)
    b.bytes = (uint64_t)((double)b.bytes * (double)to / (double)old + 0.5);
  if (b.node == LIVE_NOBODY && !sampled) live_wait(l, &b);
  if (!live_add(l, &b)) return 0;
  live_charge(l, r, &b, 1);
  return 1;
}


/* Charges a block to 'node' and to the line of 'bytes_of', if it waits. */
static void live_assign (LiveBlock *b, Live *l, Recorder *r,
                         const Node *node, int64_t *bytes_of) {
  if (b->address == 0 || b->node != LIVE_NOBODY) return;
  b->node = tree_id(&r->recording.tree, node);
  b->bytes_of = bytes_of;
  live_charge(l, r, b, 1);
}


void live_settle (Live *l, Recorder *r, const Node *node,
                  int64_t *bytes_of) {
  uint32_t i;
  if (l->waiting == 0 || l->list == NULL) return;
  if (l->waiting <= LIVE_WAITERS)
    for (i = 0; i < l->waiting; i++)
      live_assign(&l->list[live_place(l, l->waiter[i])], l, r, node, bytes_of);
  else
    for (i = 0; i <= live_mask(l); i++)
      live_assign(&l->list[i], l, r, node, bytes_of);
  l->waiting = 0;
}

/* }====================================================== */


void live_clear (Live *l) {
  if (l->list != NULL)
    memset(l->list, 0, ((size_t)1 << l->bits) * sizeof *l->list);
  l->blocks = l->waiting = 0;
  l->sum = 0;
}


void live_begin (Live *l, const Memory *m, uint64_t interval, int waits) {
  memset(l, 0, sizeof *l);
  l->memory = m;
  l->on = interval > 0;
  l->waits = waits;
  if (l->on) gaps_begin(&l->gaps, interval);
}


void live_end (Live *l) {
  if (l->list != NULL)
    memory_free(l->memory, l->list, ((size_t)1 << l->bits) * sizeof *l->list);
  memset(l, 0, sizeof *l);
}


/* {======================================================
** Samples of allocations
** ======================================================= */

void heapsample_begin (HeapSample *s, uint64_t interval) {
  memset(s, 0, sizeof *s);
  s->on = 1;
  gaps_begin(&s->gaps, interval);
}


void heapsample_clear (HeapSample *s) {
  memset(s->kind, 0, sizeof s->kind);
  s->waits = 0;
}


void heapsample_add (HeapSample *s, Figures *f, AllocKind kind,
                     size_t bytes) {
  BlockWeight w = gaps_weight(&s->gaps, bytes);
  allocated_add(&s->kind[kind], w.count, w.bytes);
  s->waits = 1;
  f->alloc_samples++;
}


void heapsample_settle (HeapSample *s, Live *l, Recorder *r,
                        const Node *n, InstructionAllocated *at,
                        int before) {
  const Tree *t = &r->recording.tree;
  uint32_t id = tree_id(t, n);
  KindsAllocated *kinds = tree_kinds(t, tree_place(t, id)->func);
  Allocated *own = &tree_allocated(t, id)->all;
  int i;
  for (i = 0; i < ALLOC_KINDS; i++) {
    const Allocated *more = &s->kind[i];
    allocated_add(own, more->count, more->bytes);
    allocated_add(&kinds->kind[i], more->count, more->bytes);
    if (at != NULL)
      allocated_add(before ? &at->before : &at->other, more->count,
                    more->bytes);
  }
  live_settle(l, r, n, at != NULL ? &at->live[!before] : NULL);
  heapsample_clear(s);
}

/* }====================================================== */

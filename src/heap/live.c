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

static void gaps_begin (Gaps *g, uint64_t interval) {
  g->interval = interval;
  g->seed = platform_ticks();
  gaps_choose(g);
}


void gaps_choose (Gaps *g) {
  double gap = random_exponential(&g->seed) * (double)g->interval;
  g->next = g->interval <= 1 ? 0 : 1 + (int64_t)gap;
}


void gaps_change (Gaps *g, uint64_t interval) {
  g->interval = interval;
  gaps_choose(g);
}


/* One of the two whole numbers next to 'n', which on average is 'n'. */
static uint32_t gaps_round (Gaps *g, double n) {
  return (uint32_t)(n + random_bits(&g->seed) / 2147483648.0);
}


/* The weight of a sample of 'bytes' bytes. */
static COLD BlockWeight gaps_weight (Gaps *g, size_t bytes) {
  BlockWeight w;
  double p = g->interval <= 1 ? 1
           : 1 - exp(-(double)bytes / (double)g->interval);
  double count = p > 0 ? 1 / p : (double)g->interval;
  w.count = p < 1 ? gaps_round(g, count) : 1;
  w.bytes = (uint64_t)((double)bytes * count + 0.5);
  return w;
}

/* }====================================================== */


#define LIVE_FIRST	8	/* bits at first: 256 places */


/* {======================================================
** Blocks by address
** ======================================================= */

static void live_free (Live *l, uintptr_t *address, LiveBlock *list,
                       size_t places) {
  memory_free(l->memory, address, places * sizeof *address);
  memory_free(l->memory, list, places * sizeof *list);
}


static size_t live_places (const Live *l) {
  return l->address != NULL ? (size_t)1 << l->bits : 0;
}


static COLD int live_grow (Live *l) {
  size_t count = live_places(l), i;
  uintptr_t *was = l->address;
  LiveBlock *old = l->list;
  uint32_t bits = was != NULL ? l->bits + 1 : LIVE_FIRST;
  size_t places = (size_t)1 << (bits < 31 ? bits : 0);
  uintptr_t *address = memory_newzeroed(l->memory, uintptr_t, places);
  LiveBlock *list = memory_newzeroed(l->memory, LiveBlock, places);
  if (address == NULL || list == NULL || bits >= 31) {
    live_free(l, address, list, places);
    return 0;
  }
  l->address = address;
  l->list = list;
  l->bits = bits;
  for (i = 0; i < count; i++) {
    uint32_t to;
    if (was[i] == 0) continue;
    to = live_place(l, was[i]);
    address[to] = was[i];
    list[to] = old[i];
  }
  live_free(l, was, old, count);
  return 1;
}


/*
** How many blocks fit into the table. Where few blocks are samples, most of
** what Lua frees is not there, and free places end the search.
*/
static size_t live_room (const Live *l) {
  size_t places = live_places(l);
  return l->gaps.interval <= 1 ? places / 4 * 3 : places / 4;
}


static int live_add (Live *l, uintptr_t address, const LiveBlock *b) {
  uint32_t at;
  if (l->blocks >= live_room(l) && !live_grow(l)) return 0;
  at = live_place(l, address);
  l->address[at] = address;
  l->list[at] = *b;
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
    if (l->address[i] == 0) break;
    home = live_home(l, l->address[i]);
    if (((i - home) & live_mask(l)) < ((i - at) & live_mask(l))) continue;
    l->address[at] = l->address[i];
    l->list[at] = l->list[i];
    at = i;
  }
  l->address[at] = 0;
}

/* }====================================================== */


/* {======================================================
** What is in use, by node and line
** ======================================================= */

/* The node keeps its figure of the last peak, before it changes. */
static void live_keeppeak (NodeAllocated *n, const Figures *f) {
  if (n->peak == f->live_peaks) return;
  n->peak = f->live_peaks;
  n->peak_bytes = n->live_bytes;
}


/*
** Adds a block to the bytes in use of its node and line, or takes it away
** (sign -1). Notes no peak: the block was there, or only its weight changes.
*/
static void live_move (Live *l, Recorder *r, const LiveBlock *b, int sign) {
  int64_t count = sign * (int64_t)b->count, bytes = sign * (int64_t)b->bytes;
  NodeAllocated *n;
  if (b->node == LIVE_NOBODY) return;
  n = tree_allocated(&r->recording.tree, b->node);
  live_keeppeak(n, r->recording.figures);
  n->live_count += count;
  n->live_bytes += bytes;
  if (b->bytes_of != NULL) *b->bytes_of += bytes;
  l->sum += bytes;
}


/* Notes a new peak, if there is one. No node is copied, see 'live_keeppeak'. */
static void live_peak (const Live *l, Figures *f) {
  if (l->sum <= f->live_peak) return;
  f->live_peak = l->sum;
  f->live_peaks++;
}


static void live_charge (Live *l, Recorder *r, const LiveBlock *b) {
  live_move(l, r, b, 1);
  live_peak(l, r->recording.figures);
}


/* The counter of bytes in use of the running line or instruction, or NULL. */
static int64_t *live_counter (const Hot *h) {
  InstructionAllocated *a = instructions_running(h);
  if (a != NULL) return &a->live[1];
  return h->lines ? &line_allocated(h->top->line)->live_bytes : NULL;
}


static void live_wait (Live *l, LiveBlock *b, uintptr_t address) {
  b->node = LIVE_NOBODY;
  b->bytes_of = NULL;
  if (l->waiting < LIVE_WAITERS) l->waiter[l->waiting] = address;
  l->waiting++;
}


/* Ages the freed bytes by the collector's cycles that have ended since. */
static void live_age (const Live *l, LiveNode *n) {
  for (; n->cycle != l->cycle; n->cycle++) {
    if (n->freed[0] == 0 && n->freed[1] == 0) {
      n->cycle = l->cycle;
      return;
    }
    n->freed[2] += n->freed[1];
    n->freed[1] = n->freed[0];
    n->freed[0] = 0;
  }
}


/*
** The age of a block. A cycle of the collector decides what is garbage some
** time before the cycle ends. So the first cycle that ends may not have looked
** at the block; if the block is still there when the second one ends, that one
** has found it in use.
*/
static uint32_t live_ageof (const Live *l, const LiveBlock *b) {
  uint32_t age = l->cycle - b->cycle;
  return age < LIVE_AGES ? age : LIVE_AGES - 1;
}


/* Makes room for the record of a node, if needed. 0: out of memory. */
static COLD int live_noderoom (Live *l, uint32_t node) {
  uint32_t room = node < UINT32_MAX / 2 ? (node + 1) * 2 : UINT32_MAX;
  LiveNode *list;
  if (node < l->nodes) return 1;
  list = memory_newzeroed(l->memory, LiveNode, room);
  if (list == NULL) return 0;
  if (l->nodes > 0) memcpy(list, l->node, l->nodes * sizeof *list);
  memory_free(l->memory, l->node, l->nodes * sizeof *list);
  l->node = list;
  l->nodes = room;
  return 1;
}


/* Notes that a block was freed. Without memory, less is known of garbage. */
static void live_freed (Live *l, const LiveBlock *b) {
  uint32_t age = live_ageof(l, b);
  LiveNode *n;
  if (l->exact || b->node == LIVE_NOBODY || !live_noderoom(l, b->node))
    return;
  n = &l->node[b->node];
  live_age(l, n);
  if (age == LIVE_AGES - 1) n->lasted += b->bytes;
  else n->freed[age] += b->bytes;
}


/* Makes the block belong to the node and line that run. */
static void live_assignrunning (const Recorder *r, LiveBlock *b) {
  const Hot *h = r->hot;
  b->node = tree_id(h->tree, h->top->node);
  b->bytes_of = live_counter(h);
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
  if (!l->waits) live_assignrunning(r, b);
}


/*
** A block that shrinks keeps its node. One that grows belongs to the node
** that made it grow, if the growth is a sample.
*/
int live_change (Live *l, Recorder *r, const void *p, size_t old,
                 const void *block, size_t to, int sampled) {
  LiveBlock b = ZEROS;
  int there = 0;
  b.cycle = l->cycle;
  if (p != NULL && l->address != NULL) {
    uint32_t at = live_place(l, (uintptr_t)p);
    there = l->address[at] != 0;
    if (there) {
      b = l->list[at];
      live_move(l, r, &b, -1);
      live_remove(l, at);
      if (to == 0) live_freed(l, &b);
    }
  }
  if (to == 0 || !(there || sampled)) return 1;
  if (sampled) live_grown(l, r, &b, old, to);
  else if (to < old)
    b.bytes = (uint64_t)((double)b.bytes * (double)to / (double)old + 0.5);
  if (sampled ? l->waits : b.node == LIVE_NOBODY)
    live_wait(l, &b, (uintptr_t)block);
  if (!live_add(l, (uintptr_t)block, &b)) return 0;
  live_charge(l, r, &b);
  return 1;
}


/* Charges a block to 'node' and to the line of 'bytes_of', if it waits. */
static COLD void live_assign (uint32_t at, Live *l, Recorder *r,
                              const Node *node, int64_t *bytes_of) {
  LiveBlock *b = &l->list[at];
  if (l->address[at] == 0 || b->node != LIVE_NOBODY) return;
  b->node = tree_id(&r->recording.tree, node);
  b->bytes_of = bytes_of;
  live_charge(l, r, b);
}


/* Charges all waiting blocks to 'node', and to the line of 'bytes_of'. */
static COLD void live_settle (Live *l, Recorder *r, const Node *node,
                              int64_t *bytes_of) {
  uint32_t i;
  if (l->waiting == 0 || l->address == NULL) return;
  if (l->waiting <= LIVE_WAITERS)
    for (i = 0; i < l->waiting; i++)
      live_assign(live_place(l, l->waiter[i]), l, r, node, bytes_of);
  else
    for (i = 0; i <= live_mask(l); i++)
      live_assign(i, l, r, node, bytes_of);
  l->waiting = 0;
}

/* }====================================================== */


/* {======================================================
** What changes the weight of blocks
** ======================================================= */

/* Makes a block stand for 'bytes' bytes. */
static void live_weigh (Live *l, Recorder *r, LiveBlock *b, uint64_t bytes) {
  double factor = b->bytes > 0 ? (double)bytes / (double)b->bytes : 0;
  live_move(l, r, b, -1);
  b->bytes = bytes;
  b->count = gaps_round(&l->gaps, (double)b->count * factor);
  live_move(l, r, b, 1);
}


/*
** A block that stands for a part of the new interval is kept with that part as
** its probability; it then stands for a whole one. Dropped blocks are removed
** at the end, since removing a block moves others.
*/
void live_thin (Live *l, Recorder *r, uint64_t interval) {
  double most = (double)interval;
  size_t i, places = live_places(l);
  for (i = 0; i < places; i++) {
    LiveBlock *b = &l->list[i];
    int kept = random_bits(&l->gaps.seed) * most <
               (double)b->bytes * 2147483648.0;
    if (l->address[i] != 0 && b->bytes < interval)
      live_weigh(l, r, b, kept ? interval : 0);
  }
  for (i = 0; i < places; i++)
    while (l->address[i] != 0 && l->list[i].bytes == 0)
      live_remove(l, (uint32_t)i);
  gaps_change(&l->gaps, interval);
  live_peak(l, r->recording.figures);
}


/* The record of a block's node; NULL: there is none. */
static LiveNode *live_nodeof (const Live *l, const LiveBlock *b) {
  return b->node < l->nodes ? &l->node[b->node] : NULL;
}


/*
** The part of a block that is in use, on average. A part of its node's blocks
** has reached the highest age, and the same part of its new blocks is expected
** to reach it. Those are all among the new blocks that are not freed yet. One
** more block is taken to have reached it, since a few blocks that were garbage
** prove little.
*/
static double live_part (const Live *l, const LiveBlock *b) {
  const LiveNode *n = live_nodeof(l, b);
  uint32_t age = live_ageof(l, b), old = LIVE_AGES - 1;
  double left, part;
  if (age == old || n == NULL) return 1;
  left = (double)(n->left[old] + n->lasted + l->gaps.interval);
  part = left / (left + (double)n->freed[old]);
  left = (double)n->left[age] + 1;
  part *= (left + (double)n->freed[age]) / left;
  return part < 1 ? part : 1;
}


/* Sums up, by node and age, the blocks that are left. */
static void live_sumleft (Live *l) {
  size_t i, places = live_places(l);
  for (i = 0; i < l->nodes; i++) {
    live_age(l, &l->node[i]);
    memset(l->node[i].left, 0, sizeof l->node[i].left);
  }
  for (i = 0; i < places; i++) {
    const LiveBlock *b = &l->list[i];
    if (l->address[i] != 0 && b->node != LIVE_NOBODY &&
        live_noderoom(l, b->node))
      l->node[b->node].left[live_ageof(l, b)] += b->bytes;
  }
}


/*
** What the weight of a node's blocks is to be multiplied by, so that chance
** does not make them exceed what the node has allocated. If they exceed it by
** more than chance can, there is another reason, and the factor is 1: a block
** that other nodes made grow is still charged to this node.
*/
static double live_bound (const Live *l, const Recorder *r,
                          const LiveBlock *b) {
  const LiveNode *n = live_nodeof(l, b);
  double made, left;
  if (n == NULL) return 1;
  made = (double)tree_allocated(&r->recording.tree, b->node)->all.bytes;
  left = (double)(n->left[0] + n->left[1] + n->left[2]);
  if (left <= made ||
      (left - made) * (left - made) > 9 * made * (double)l->gaps.interval)
    return 1;
  return made / left;
}


/* Makes the peak at most 'most', in the figures of all nodes. */
static void live_boundpeak (Recorder *r, uint64_t most) {
  Figures *f = r->recording.figures;
  const Tree *t = &r->recording.tree;
  double factor = most > 0 && (uint64_t)f->live_peak > most
                ? (double)most / (double)f->live_peak : 1;
  uint32_t i;
  f->live_peak = 0;
  for (i = 0; i < t->nodes.count; i++) {
    NodeAllocated *n = tree_allocated(t, i);
    live_keeppeak(n, f);
    n->peak_bytes = (int64_t)((double)n->peak_bytes * factor);
    f->live_peak += n->peak_bytes;
  }
}


void live_finish (Live *l, Recorder *r, uint64_t heap, uint64_t most) {
  size_t i, places = live_places(l);
  double factor = 1, garbage = 0;
  if (!l->on || l->exact) return;
  if (heap > 0 && l->sum > 0 && (uint64_t)l->sum > heap)
    factor = (double)heap / (double)l->sum;
  live_boundpeak(r, most);
  live_sumleft(l);
  for (i = 0; i < places; i++) {
    LiveBlock *b = &l->list[i];
    double part, bound;
    if (l->address[i] == 0 || b->node == LIVE_NOBODY) continue;
    part = live_part(l, b);
    bound = live_bound(l, r, b);
    if (bound > factor) bound = factor;
    garbage += (double)b->bytes * bound * (1 - part);
    /* rounded down, so that sums do not exceed their bounds */
    if (bound * part < 1)
      live_weigh(l, r, b, (uint64_t)((double)b->bytes * bound * part));
  }
  live_peak(l, r->recording.figures);
  r->recording.garbage = (uint64_t)garbage;
}

/* }====================================================== */


void live_clear (Live *l) {
  if (l->address != NULL)
    memset(l->address, 0, live_places(l) * sizeof *l->address);
  if (l->nodes > 0) memset(l->node, 0, l->nodes * sizeof *l->node);
  l->blocks = l->waiting = 0;
  l->sum = 0;
}


void live_begin (Live *l, const Memory *m, uint64_t interval, int adapts,
                 int waits) {
  memset(l, 0, sizeof *l);
  l->memory = m;
  l->on = interval > 0;
  l->exact = interval <= 1 && !adapts;
  l->waits = waits;
  if (l->on) gaps_begin(&l->gaps, interval);
}


void live_end (Live *l) {
  if (l->address != NULL) live_free(l, l->address, l->list, live_places(l));
  if (l->nodes > 0) memory_free(l->memory, l->node, l->nodes * sizeof *l->node);
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

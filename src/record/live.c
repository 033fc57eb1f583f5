/*
** See live.h
*/

#include "record/live.h"

#include <math.h>
#include <string.h>


#define LIVE_FIRST	8	/* 256 places at first */


/* {======================================================
** Blocks by address
** ======================================================= */

static uint32_t live_home (const Live *l, uintptr_t address) {
  return (uint32_t)((uint64_t)address * 0x9E3779B97F4A7C15u >>
                    (64 - l->bits));
}


static uint32_t live_mask (const Live *l) {
  return (1u << l->bits) - 1;
}


/* The place of a block, or the free one where it would be. */
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


static int live_enter (Live *l, const LiveBlock *b) {
  if ((l->list == NULL || l->blocks >= (1u << l->bits) / 4 * 3) &&
      !live_grow(l))
    return 0;
  l->list[live_place(l, b->address)] = *b;
  l->blocks++;
  return 1;
}


/* Those behind it move up, so that no search ends too early. */
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
** While what is in use is at its peak, nothing is copied: a node keeps what
** it had then when it is about to have something else.
*/
static void live_charge (Live *l, Recorder *r, const LiveBlock *b, int sign) {
  Figures *f = r->recording.figures;
  NodeAllocated *n = tree_allocated(&r->recording.tree, b->node);
  int64_t count = sign * (int64_t)b->count, bytes = sign * (int64_t)b->bytes;
  if (n->peak != f->live_peaks) {
    n->peak = f->live_peaks;
    n->peak_bytes = n->live_bytes;
  }
  n->live_count += count;
  n->live_bytes += bytes;
  if (b->line != NULL) line_allocated(b->line)->live_bytes += bytes;
  l->sum += bytes;
  if (l->sum > f->live_peak) {
    f->live_peak = l->sum;
    f->live_peaks++;
  }
}


/* Is a block of so many bytes one of the samples? */
static int live_sampled (Live *l, size_t bytes) {
  double u;
  if (l->interval <= 1) return 1;
  l->next -= (int64_t)bytes;
  if (l->next > 0) return 0;
  u = (timing_random(&l->seed) + 1.0) / 2147483649.0;
  l->next = 1 + (int64_t)(-log(u) * (double)l->interval);
  return 1;
}


/* What a sample of so many bytes stands for. */
static void live_weigh (const Live *l, LiveBlock *b, size_t bytes) {
  double p = l->interval <= 1 ? 1
           : 1 - exp(-(double)bytes / (double)l->interval);
  double count = p > 0 ? 1 / p : (double)l->interval;
  b->count = (uint32_t)(count + 0.5);
  b->bytes = (uint64_t)((double)bytes * count + 0.5);
}


static int live_new (Live *l, const Recorder *r, const void *block,
                     size_t bytes, LiveBlock *b) {
  const Hot *h = r->hot;
  if (!live_sampled(l, bytes)) return 0;
  b->address = (uintptr_t)block;
  b->node = h->top->node->id;
  b->line = h->lines ? h->top->line : NULL;
  live_weigh(l, b, bytes);
  return 1;
}


/*
** What is made smaller stays that of who made it; what grows is that of who
** made it grow, all but what was there before recording began.
*/
int live_change (Live *l, Recorder *r, const void *p, size_t old,
                 const void *block, size_t to, int charged) {
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
  if (to > old) {
    size_t earlier = l->interval > 1 ? 0 : old - (there ? (size_t)b.bytes : 0);
    there = charged && live_new(l, r, block, to - earlier, &b);
  }
  else if (there && to > 0) {
    b.address = (uintptr_t)block;
    b.bytes = (uint64_t)((double)b.bytes * (double)to / (double)old + 0.5);
  }
  if (!there || to == 0) return 1;
  if (!live_enter(l, &b)) return 0;
  live_charge(l, r, &b, 1);
  return 1;
}

/* }====================================================== */


void live_clear (Live *l) {
  if (l->list != NULL)
    memset(l->list, 0, ((size_t)1 << l->bits) * sizeof *l->list);
  l->blocks = 0;
  l->sum = 0;
}


void live_begin (Live *l, const Memory *m, uint64_t interval) {
  memset(l, 0, sizeof *l);
  l->memory = m;
  l->interval = interval;
  l->on = interval > 0;
  if (interval > 1) (void)live_sampled(l, 0);
}


void live_end (Live *l) {
  if (l->list != NULL)
    memory_free(l->memory, l->list, ((size_t)1 << l->bits) * sizeof *l->list);
  memset(l, 0, sizeof *l);
}

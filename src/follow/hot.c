/*
** See hot.h
*/

#include "follow/hot.h"

#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "count/slicing.h"


#if !defined(CPROF_AMALGAMATION)
const Hot hot_nobody = ZEROS;
PLATFORM_THREAD Hot *hot_current = (Hot *)&hot_nobody;
PLATFORM_THREAD unsigned hot_thread;
#endif

static unsigned hot_threads;	/* how many threads have a number */


/*
** The child of a fork shares files with its parent. Forgetting what the
** thread recorded makes its next event take the slow path, which finds out
** about the fork.
*/
static void hot_forked (void) {
  hot_current = (Hot *)&hot_nobody;
  timer_forked();
}


Hot *hot_new (void) {
  platform_atfork(hot_forked);
  return cast(Hot *, calloc(1, sizeof(Hot)));
}


/*
** Another thread's 'hot_current' may still point to 'h'. Then its memory is
** cleared but never freed.
*/
void hot_free (Hot *h) {
  int mine = hot_current == h;
  int known = h->shared || (h->thread != 0 && h->thread != hot_thread);
  memset(h, 0, sizeof *h);
  if (known) return;
  if (mine) hot_current = (Hot *)&hot_nobody;
  free(h);
}


void hot_follow (Hot *h) {
  if (hot_thread == 0) hot_thread = platform_increment(&hot_threads);
  if (h->thread != 0) {
    h->shared = 1;
    if (h->recording != NULL)
      clock_follow(&h->recording->clock, h->last);
    if (h->look != NULL) {
      gap_follow(h->look);
      hot_keeplook(h);
    }
  }
#if defined(__GNUC__)
  __atomic_store_n(&h->thread, hot_thread, __ATOMIC_SEQ_CST);
#else
  h->thread = hot_thread;
#endif
}


void hot_keeplook (Hot *h) {
  Figures *f;
  if (h->recording == NULL || !h->look->on) return;
  f = h->recording->figures;
  f->look = h->look->last;
  f->thread = h->look->thread;
}


void hot_skipgap (Hot *h) {
  gap_skip(h->look);
  hot_keeplook(h);
}


uint64_t hot_read (const Hot *h) {
  return clock_read(&h->recording->clock);
}


/*
** The time between the last event and the setting of the clock is lost. In mode
** line, 'since' may be older than 'last': the node still gets what its lines
** were charged.
*/
void hot_backwards (Hot *h, uint64_t now) {
  Figures *f = h->recording->figures;
  f->backwards++;
  f->backwards_ticks += h->last - now;
  h->top->node->self += hot_pending(h);
  hot_settime(h, now);
}


/* The ticks from when recording began to 'at', a time since the last event. */
static uint64_t hot_elapsed (const Hot *h, uint64_t at) {
  const Figures *f = h->recording->figures;
  return at - f->begun + f->backwards_ticks;
}


void hot_keepany (Hot *h, uint32_t node, unsigned what, uint64_t passed) {
  ring_add(h->ring, hot_elapsed(h, h->last - passed), node, what, passed);
}


static void hot_waited (Hot *h, uint64_t ticks) {
  Recording *x = h->recording;
  Wait w = ZEROS;
  h->waited += ticks;
  w.ticks = ticks;
  w.node = tree_id(&x->tree, h->top->node);
  if (h->lines) w.line = (int32_t)line_number(h->top->line);
  if (!waits_add(&x->waits, &w)) x->figures->unwaited += ticks;
}


void hot_preempted (Hot *h, uint64_t ticks) {
  Figures *f = h->recording->figures;
  f->preempted += ticks;
  f->paused += ticks;
  h->last += ticks;
  h->since += ticks;
  if (hot_ring(h) != NULL && ticks > 0)
    hot_keepany(h, 0, RING_PREEMPTED, ticks);
}


/*
** Charges the time since 'now', which looking into a gap took, to overhead. A
** look takes GAP_LOOK at most: beyond that, the thread was preempted. Returns
** the current time.
*/
static uint64_t hot_chargelook (Hot *h, uint64_t now) {
  uint64_t passed, took;
  if (!h->look->on) return now;
  passed = hot_now(h) - now;
  if (passed > GAP_LOOK) {
    hot_skipgap(h);
    passed = hot_now(h) - now;
  }
  if (passed > INT64_MAX) return now;  /* the clock was set back */
  took = passed < GAP_LOOK ? passed : GAP_LOOK;
  h->recording->tree.overhead->self += took;
  h->last += took;
  h->since += took;
  if (hot_ring(h) != NULL) hot_keepany(h, NODE_OVERHEAD, RING_OTHER, took);
  hot_preempted(h, passed - took);
  return now + passed;
}


void hot_divide (Hot *h, uint64_t now, GapParts *parts) {
  Gap *g = h->look;
  uint64_t late;
  int tries = GAP_TRIES;
  parts->waited = parts->preempted = 0;
  if (!g->on) return;
  /* the thread may be preempted again between 'late' and the reading */
  do late = hot_now(h) - now;
  while ((!gap_read(g) || hot_now(h) - now - late > GAP_LOOK) && --tries > 0);
  h->gap = gap_divide(g, now - h->last, late, h->gap, parts);
  hot_keeplook(h);
  hot_preempted(h, parts->preempted);
}


#if PLATFORM_SIGNALS
/* Calls what reads the time and the thread's clocks, which is safe. */
void hot_killed (Hot *h) {
  Figures *f = h->recording->figures;
  GapParts parts;
  uint64_t now;
  if (!h->look->on) return;
  now = hot_now(h);
  if (now < h->last) return;
  hot_divide(h, now, &parts);
  f->killed_waited = parts.waited;
  f->killed = now;
}
#endif


/* First charges the running node its time, as its lines were charged theirs. */
uint64_t hot_slice (Hot *h) {
  Recording *x = h->recording;
  const Figures *f = x->figures;
  uint32_t series = x->axis.series;
  uint64_t before, took;
  if (h->slice == HOT_NOSLICES) return 0;
  before = hot_now(h);
  h->top->node->self += hot_pending(h);
  h->since = h->last;
  if (!slicing_end(x, hot_elapsed(h, h->last))) {
    h->slice = HOT_NOSLICES;
    return 0;
  }
  took = hot_now(h) - before;
  if (took > INT64_MAX) took = 0;  /* the clock was set back */
  x->tree.overhead->self += took;
  h->last += took;
  h->since += took;
  h->sliced = h->last;
  h->slice = f->slices.length;
  /* merging takes long, but is rare */
  if (x->axis.series == series && took * SLICES_COST > h->slice)
    h->slice = took * SLICES_COST;
  return took;
}


/* A gap that is longer than a slice is in a slice of its own. */
uint64_t hot_gap (Hot *h, uint64_t now) {
  GapParts parts;
  int alone;
  if (now < h->last) {
    hot_backwards(h, now);
    return now;
  }
  alone = now - h->last >= h->slice;
  if (alone) now += hot_slice(h);
  hot_divide(h, now, &parts);
  if (parts.waited > 0) hot_waited(h, parts.waited);
  now = hot_chargelook(h, now);
  if (!alone) return now;
  if (h->lines) h->top->line.at->self += now - h->last;
  h->top->node->self += now - h->last + hot_pending(h);
  hot_settime(h, now);
  return now + hot_slice(h);
}


/* Where there is a ring, there are no lines. */
void hot_chargekept (Hot *h, uint64_t now) {
  Node *n = h->top->node;
  uint64_t waited = h->waited, passed;
  if (unlikely(now - h->last > h->gap)) now = hot_gap(h, now);
  passed = now - h->last;
  waited = h->waited - waited;
  if (waited > passed) waited = passed;
  n->self += passed;
  if (waited > 0)
    ring_add(h->ring, hot_elapsed(h, h->last), n->id, RING_WAIT, waited);
  hot_settime(h, now);
  hot_keep(h, n, RING_OTHER, passed - waited);
}


uint64_t hot_owngap (Hot *h) {
  uint64_t now = hot_now(h);
  GapParts parts;
  if (now < h->last) hot_backwards(h, now);
  else if (now - h->last > h->gap) {
    hot_divide(h, now, &parts);
    return hot_chargelook(h, now);
  }
  return now;
}

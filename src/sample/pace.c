/*
** See pace.h
*/

#include "sample/pace.h"

#include "base/random.h"


#define PACE_PATIENCE	4	/* ticks within one C function; more of them
				   come less and less often */
#define PACE_SELDOM	50000000u	/* ns, on average, at most */
#define PACE_RESTS	8u	/* looks at what waits are one part of so many of the
				   wait apart, at least */
#define PACE_STUCK	8	/* ticks, and each twice as many */
#define PACE_SLOWEST	1000000000u	/* ns between samples, at most */
#if !defined(PACE_SHARE)
#define PACE_SHARE	100u	/* a sample may cost one part of so many */
#endif
#define PACE_CHEAP	1000u	/* a second; more of them may cost more ... */
#define PACE_DEAR	7u	/* ... by so many times at 10000 */
#if !defined(PACE_FASTER)
#define PACE_FASTER	1u	/* to see what more ticks do, for a test */
#endif
#define PACE_SIGNAL	5000u	/* ns that a signal costs beside what is seen:
				   an empty handler, in a virtual machine */
#define PACE_LATE	50000u	/* ns that a signal takes at most to come to a
			   thread that runs */
#define PACE_USUAL	4000u	/* ns that a sample costs, for a start */


void pace_begin (Pace *p, uint32_t rate, int cpu) {
  p->period = p->interval = 1000000000u / (rate * PACE_FASTER);
  p->cpu = cpu;
  p->seed = platform_ticks();
  p->cost = p->last = PACE_USUAL;
}


void pace_forget (Pace *p) {
  p->weight = p->since = p->late = p->within = p->spent = p->taken = 0;
  p->waited = 0;
}


/*
** The handler may come in the middle of a read, where a machine reads 64 bits
** in two; two reads that agree are one number.
*/
uint64_t pace_take (Pace *p) {
  uint64_t sum, taken = p->taken;
  do sum = p->spent; while (sum != p->spent);
  p->taken = sum;
  return sum - taken;
}


static uint64_t pace_least (uint64_t a, uint64_t b) {
  return a < b ? a : b;
}


/* Ticks come less often while one C function goes on and on. */
static uint64_t pace_patient (const Pace *p) {
  uint64_t mean = p->interval;
  uint32_t i;
  for (i = PACE_PATIENCE; i < p->waited && mean < PACE_SELDOM; i++)
    mean *= 2;
  return mean;
}


#if PLATFORM_WATCH

/* {======================================================
** In the thread that looks
** ======================================================= */

uint64_t pace_rest (Pace *p, uint64_t waited, uint64_t *mean) {
  uint64_t most = pace_least(waited / PACE_RESTS, PACE_SELDOM);
  *mean = pace_patient(p);
  if (*mean < most) *mean = most;
  return 1 + (uint64_t)(random_exponential(&p->seed) * (double)*mean);
}


void pace_due (Pace *p, uint64_t now, uint64_t mean) {
  p->mean = mean;
  p->due = now;
}

/* }====================================================== */

#endif


/* {======================================================
** In the handler
** ======================================================= */

void pace_next (Pace *p, int waits) {
  uint64_t mean = p->interval, ns;
  if (p->watched) return;
  if (!p->cpu && waits && p->weight > 0) mean = PACE_SELDOM;
  else if (!p->cpu) mean = pace_patient(p);
  ns = 1 + (uint64_t)(random_exponential(&p->seed) * (double)mean);
  p->mean = mean;
  p->due = platform_monotonic() + ns;
  timer_next(p->timer, ns);
}


void pace_tick (Pace *p, uint64_t now, int armed, int waits) {
  if (armed || p->cpu) p->weight += p->mean;
  if (armed) {
    p->since = p->due < now ? p->due : now;
    p->late = now - p->since;
    p->waits = waits;
    p->ran = p->cpu ? 0 : platform_cpu();
    p->within = 0;
    p->waited = 0;
  }
  else
    p->waited++;
}


int pace_stuck (const Pace *p) {
  uint32_t n = p->waited;
  return n >= PACE_STUCK && (n & (n - 1)) == 0;
}

/* }====================================================== */


/*
** Takes from a stretch of 'ns' without running what 'away' has of it: the
** part that others had the processor for, which is returned, and the part
** that the thread waited.
*/
static uint64_t pace_away (uint64_t ns, Away *away, uint64_t *waited) {
  uint64_t preempted = pace_least(ns, away->preempted);
  uint64_t rest = pace_least(ns - preempted, away->waited);
  away->preempted -= preempted;
  away->waited -= rest;
  *waited += rest;
  return preempted;
}


/*
** By the wall clock, from the tick until now. A signal wakes a thread that
** waits at once, and then others may have the processor. It comes late to a
** thread that does not run for another reason; then the tick itself tells of
** that. What is known of a system call that goes on is that it waits.
*/
static void pace_stretch (const Pace *p, uint64_t now, Away away, Weight *w) {
  uint64_t ns = now - p->since - p->within, late = pace_least(p->late, ns);
  uint64_t after = ns - late, preempted = 0, waited = 0, off;
  if (late > PACE_LATE) preempted = pace_away(late, &away, &waited);
  if (p->waits) {
    away.waited += waited;
    waited = 0;
    w->wait = w->ns;
  }
  else if (preempted > late / 2) w->ns = 0;  /* nothing ran */
  else if (waited > late / 2) w->wait = w->ns;
  if (after > PACE_LATE) {
    off = after - pace_least(after, platform_cpu() - p->ran);
    if (p->waits) waited += off;
    else preempted += pace_away(off, &away, &waited);
  }
  w->ns += ns - preempted;
  w->wait += waited;
}


Weight pace_weigh (Pace *p, uint64_t now, uint64_t passed, Away away) {
  Weight w;
  int rare = p->mean > p->interval;
  w.ns = 1;
  w.wait = w.samples = 0;
  if (p->weight == 0) return w;
  w.ns = p->weight;
  if (!p->cpu && now > p->since + p->within) pace_stretch(p, now, away, &w);
  /* a timer that counts other time goes on where this thread waits */
  if (!PLATFORM_TIMERS && p->cpu && w.ns > passed) w.ns = passed;
  w.samples = w.ns > p->interval ? w.ns / p->interval : w.ns >= p->weight;
  if (w.ns == 0) w.ns = 1;
  p->weight = 0;
  p->waited = 0;
  if (rare) pace_next(p, 0);
  return w;
}


uint64_t pace_handler (const Pace *p) {
  return pace_least(p->within / (p->waited + 1), PACE_LATE);
}


void pace_adjust (Pace *p, uint64_t ns, int sure) {
  uint64_t rate = 1000000000u / p->period, interval;
  uint64_t deep = sure || ns < p->last ? ns : p->last;
  p->last = ns;
  if (ns > p->cost * 4) ns = p->cost * 4;  /* it may have been interrupted */
  p->cost = (p->cost * 7 + ns) / 8;
  if (deep > p->cost * 4) p->cost = deep;  /* by its stack */
  interval = (p->cost + PACE_SIGNAL) * PACE_SHARE;
  if (rate > PACE_CHEAP)
    interval = interval * 9000 / (9000 + (rate - PACE_CHEAP) * PACE_DEAR);
  if (interval < p->period) interval = p->period;
  if (interval > PACE_SLOWEST) interval = PACE_SLOWEST;
  p->interval = interval;
}

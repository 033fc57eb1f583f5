/*
** See pace.h
*/

#include "sample/pace.h"

#include "base/random.h"


#define PACE_PATIENCE	4	/* ticks in one C function before fewer come */
#define PACE_SELDOM	50000000u	/* ns, the longest mean of rare ticks */
#define PACE_RESTS	8u	/* the mean between looks at a wait grows to 1/8
				   of the wait so far, but not above
				   PACE_SELDOM */
#define PACE_STUCK	8	/* see 'pace_stuck'; a power of two */
#define PACE_SLOWEST	1000000000u	/* greatest interval, in ns */
#if !defined(PACE_SHARE)
#define PACE_SHARE	100u	/* samples may take 1/100 of the time */
#endif
#define PACE_CHEAP	1000u	/* at higher rates, samples may take more of the
				   time: 1 + PACE_DEAR times as much at 10000 */
#define PACE_DEAR	7u
#if !defined(PACE_FASTER)
#define PACE_FASTER	1u	/* a test may set more: multiplies the rate */
#endif
#define PACE_SIGNAL	5000u	/* ns that a signal costs outside its handler,
				   as measured in a virtual machine */
#define PACE_COUNTS	12000u	/* ns that a signal costs in addition where
				   the timer counts the time in which the
				   thread runs */
#define PACE_WAITS	4u	/* where the timer counts that time, looks
				   are for waits alone, so the mean between
				   them is 4 times as long */
#define PACE_LATE	50000u	/* most ns that a signal takes to reach a thread
			   that runs */
#define PACE_USUAL	4000u	/* ns of a sample, assumed at first */


void pace_begin (Pace *p, uint32_t rate, int cpu) {
  p->period = p->interval = 1000000000u / (rate * PACE_FASTER);
  p->cpu = cpu;
  p->seed = platform_ticks();
  p->seedrest = ~p->seed;
  p->cost = PACE_USUAL;
  p->dear = p->sincedear = 0;
  p->cheap = 0;
}


void pace_forget (Pace *p) {
  p->weight = p->since = p->late = p->within = p->spent = p->taken = 0;
  p->waited = 0;
}


/*
** A machine may read 64 bits in two steps, and the handler may add to 'spent'
** between them. A number that is read twice in a row is right.
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


/*
** The average ns until the next tick. It is the interval, but grows while one
** C function goes on and on.
*/
static uint64_t pace_patient (const Pace *p) {
  uint64_t mean = p->interval;
  uint32_t i;
  for (i = PACE_PATIENCE; i < p->waited && mean < PACE_SELDOM; i++)
    mean *= 2;
  return mean;
}


#if PLATFORM_WATCH

/* {======================================================
** In the watching thread
** ======================================================= */

uint64_t pace_rest (Pace *p, uint64_t waited, uint64_t *mean) {
  uint64_t most = pace_least(waited / PACE_RESTS, PACE_SELDOM);
  *mean = pace_patient(p) * (p->counts ? PACE_WAITS : 1);
  if (*mean < most) *mean = most;
  return 1 + (uint64_t)(random_exponential(&p->seedrest) * (double)*mean);
}


void pace_due (Pace *p, uint64_t now, uint64_t mean) {
  if (!p->counts) p->mean = mean;
  p->due = now;
}

/* }====================================================== */

#endif


/* {======================================================
** In the handler
** ======================================================= */

void pace_next (Pace *p, int waits) {
  uint64_t mean = p->interval, ns;
  if (p->watched && !p->counts) return;
  if (!p->cpu && waits && p->weight > 0) {
    if (mean < PACE_SELDOM) mean = PACE_SELDOM;
  }
  else if (!p->cpu) mean = pace_patient(p);
  ns = 1 + (uint64_t)(random_exponential(&p->seed) * (double)mean);
  p->mean = mean;
  if (!p->counts) p->due = platform_monotonic() + ns;
  timer_next(p->timer, ns);
}


void pace_tick (Pace *p, const PaceTick *t) {
  if (t->armed || p->cpu) p->weight += t->ns;
  if (t->armed) {
    p->each = t->ns;
    p->since = t->due < t->at ? t->due : t->at;
    p->late = t->at - p->since;
    p->waits = t->waits;
    p->seen = t->seen;
    p->ran = p->cpu ? 0 : platform_cpu();
    p->within = 0;
    p->waited = 0;
  }
  else
    p->waited++;
}


int pace_toomany (Pace *p, uint64_t *ns) {
  uint64_t interval = p->interval;
  if (*ns >= interval) return 0;
  if ((double)random_bits(&p->seed) * (double)interval >
      (double)*ns * 2147483648.0)
    return 1;
  *ns = interval;
  return 0;
}


int pace_stuck (const Pace *p) {
  uint32_t n = p->waited;
  return n >= PACE_STUCK && (n & (n - 1)) == 0;
}

/* }====================================================== */


/*
** Divides 'ns' in which the thread did not run, by what is left in '*away'.
** Returns the part in which others had the processor, and adds the part in
** which the thread waited to '*waited'. Takes both parts out of '*away'.
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
** By the wall clock: adds the ns from when the tick was due until 'now' to
** '*w', without those in which others had the processor.
**
** A signal wakes at once a thread that waits in a system call, though others
** may then get the processor first. If the signal came late for another
** reason, the thread did not run when the tick was due, so the time before the
** tick is divided like the delay: dropped if others ran, else a wait. That is
** not so if the thread was seen to run then: it has lost the processor since.
** A system call that the tick has interrupted is known to wait.
*/
static void pace_stretch (const Pace *p, uint64_t now, Away away, Weight *w) {
  uint64_t ns = now - p->since - p->within, late = pace_least(p->late, ns);
  uint64_t after = ns - late, preempted = 0, waited = 0, off;
  if (late > PACE_LATE) preempted = pace_away(late, &away, &waited);
  if (p->waits) w->wait = w->ns;
  else if (!p->seen && preempted > late / 2) w->ns = 0;  /* nothing ran */
  else if (!p->seen && waited > late / 2) w->wait = w->ns;
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
  uint64_t each = p->each > p->interval ? p->each : p->interval;
  w.ns = 1;
  w.wait = w.samples = 0;
  if (p->weight == 0) return w;
  w.ns = p->weight;
  if (!p->cpu && now > p->since + p->within) pace_stretch(p, now, away, &w);
  /* without PLATFORM_TIMERS, ticks count wall time, even while it waits */
  if (!PLATFORM_TIMERS && p->cpu && w.ns > passed) w.ns = passed;
  w.samples = w.ns > each ? w.ns / each : w.ns >= p->weight;
  if (w.ns == 0) w.ns = 1;
  p->weight = 0;
  p->waited = 0;
  if (rare) pace_next(p, 0);
  return w;
}


uint64_t pace_handler (const Pace *p) {
  return pace_least(p->within / (p->waited + 1), PACE_LATE);
}


/*
** What samples take on average, after one that took 'ns'. A dear one takes more
** than 4 times the average, a cheap one less than 1/4.
**   - A dear one may have been interrupted. But if one came before it, what
**     both took is divided among the samples since then: stacks are deep now,
**     or now and then.
**   - After two cheap ones, the average falls quickly: stacks are no longer
**     deep.
*/
static uint64_t pace_cost (Pace *p, uint64_t ns) {
  uint64_t cost = p->cost, most = cost * 4, each = 0;
  int cheap = ns < cost / 4;
  if (ns > most) {
    each = pace_least(ns, p->dear) / (p->sincedear + 1);
    p->dear = ns;
    p->sincedear = 0;
    ns = most;
  }
  else p->sincedear++;
  cost = cheap && p->cheap ? cost / 4 : (cost * 7 + ns) / 8;
  p->cheap = cheap;
  return each > most ? each : cost;
}


void pace_adjust (Pace *p, uint64_t ns) {
  uint64_t rate = 1000000000u / p->period, interval;
  p->cost = pace_cost(p, ns);
  interval = p->cost + PACE_SIGNAL + (p->counts ? PACE_COUNTS : 0);
  interval *= PACE_SHARE;
  if (rate > PACE_CHEAP)
    interval = interval * 9000 / (9000 + (rate - PACE_CHEAP) * PACE_DEAR);
  if (interval < p->period) interval = p->period;
  if (interval > PACE_SLOWEST) interval = PACE_SLOWEST;
  p->interval = interval;
}

/*
** See pace.h
*/

#include "record/pace.h"


#define PACE_PATIENCE	16	/* ticks within one C function; more of them
				   come less and less often */
#define PACE_SELDOM	50000000u	/* ns, at most */
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
#define PACE_USUAL	4000u	/* ns that a sample costs, for a start */


void pace_begin (Pace *p, uint32_t rate, int cpu) {
  p->period = p->interval = 1000000000u / (rate * PACE_FASTER);
  p->cpu = cpu;
  p->seed = platform_ticks();
  p->cost = PACE_USUAL;
  p->waited = 0;
  p->stands = 1;
}


void pace_forget (Pace *p) {
  p->ticks = p->spent = p->spent_ns = 0;
}


uint64_t pace_take (volatile uint64_t *from) {
#if defined(__GNUC__)
  return __atomic_exchange_n(from, 0, __ATOMIC_RELAXED);
#else
  uint64_t value = *from;
  *from -= value;
  return value;
#endif
}


void pace_next (Pace *p) {
  uint64_t ns = p->interval, most;
  most = ns < PACE_SELDOM ? PACE_SELDOM / ns : 1;
  p->stands = p->waited < PACE_PATIENCE ? 1 : p->waited / PACE_PATIENCE;
  if (p->stands > most) p->stands = most;
  ns = ns * p->stands;
  p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
  ns = ns / 2 + (p->seed >> 33) % (ns + 1);
  timer_next(p->timer, ns > 0 ? ns : 1);
}


int pace_stuck (const Pace *p) {
  return p->waited % PACE_PATIENCE == PACE_PATIENCE - 1;
}


void pace_made (Pace *p) {
  int rare = p->stands > 1;
  p->waited = 0;
  if (rare) pace_next(p);
}


void pace_adjust (Pace *p, uint64_t ns) {
  uint64_t rate = 1000000000u / p->period, interval;
  if (ns > p->cost * 4) ns = p->cost * 4;  /* it may have been interrupted */
  p->cost = (p->cost * 7 + ns) / 8;
  interval = (p->cost + PACE_SIGNAL) * PACE_SHARE;
  if (rate > PACE_CHEAP)
    interval = interval * 9000 / (9000 + (rate - PACE_CHEAP) * PACE_DEAR);
  if (interval < p->period) interval = p->period;
  if (interval > PACE_SLOWEST) interval = PACE_SLOWEST;
  p->interval = interval;
}


uint64_t pace_count (Pace *p, uint64_t passed) {
  uint64_t count = pace_take(&p->ticks), most;
  if (!p->cpu) return count;
  most = passed * 4 > p->interval ? 1 + passed / p->interval : 0;
  return count < most ? count : most;
}

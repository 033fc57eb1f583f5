/*
** See clock.h
*/

#include "base/clock.h"

#if PLATFORM_TSC && !defined(__aarch64__)
#include <cpuid.h>
#endif


#define CLOCK_TRIES	16

/* Readings after which a clock that does not advance is given up. */
#define CLOCK_PATIENCE	10000

#define CLOCK_RATED	1000000		/* ns until the rate is roughly known */
#define CLOCK_OFTEN	50000000	/* ns between moments that are kept */
#define CLOCK_ROUGH	1000		/* ns by which a moment may be wrong */


/*
** Reads both clocks at nearly the same moment: of several tries, the one
** in which the least time passed between the readings.
*/
static Moment moment (void) {
  Moment best = {0, 0};
  uint64_t least = UINT64_MAX;
  int i;
  for (i = 0; i < CLOCK_TRIES; i++) {
    uint64_t before = platform_ticks();
    uint64_t ns = platform_monotonic();
    uint64_t gap = platform_ticks() - before;
    if (gap < least) {
      least = gap;
      best.ticks = before + gap / 2;
      best.ns = ns;
    }
  }
  return best;
}


/* Does the processor's counter run at one rate on all processors? */
static int clock_steady (void) {
#if PLATFORM_TSC && !defined(__aarch64__)
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
#else
  return PLATFORM_TSC;
#endif
}


void clock_open (Clock *c) {
  c->steady = clock_steady();
  c->origin = c->agreed = moment();
}


void clock_start (Clock *c, int cpu, int nanoseconds) {
  if (c->origin.ns == 0) clock_open(c);
  if (cpu) c->kind = CLOCK_CPU;
  else if (c->host != NULL) c->kind = CLOCK_HOST;
  else if (c->steady && !nanoseconds) c->kind = CLOCK_TICKS;
  else c->kind = CLOCK_MONO;
  c->scale.factor = 0;
  c->ahead = 0;
}


void clock_follow (Clock *c, uint64_t now) {
  if (c->kind == CLOCK_CPU) c->ahead = now - platform_cpu();
}


void clock_count (Clock *c, const uint64_t *counter) {
  c->kind = CLOCK_COUNT;
  c->counter = counter;
}


/* {======================================================
** Jumps
** ======================================================= */

/* The time from one moment to another, which may be earlier. */
static double clock_passed (uint64_t from, uint64_t to) {
  return to < from ? -(double)(from - to) : (double)(to - from);
}


/*
** By how many ns the monotonic clock is ahead of the time that the rate so
** far predicts for 'now'; 0: it agrees.
*/
static double clock_ahead (const Clock *c, Moment now) {
  double base = clock_passed(c->origin.ns, c->agreed.ns);
  double rate = base / clock_passed(c->origin.ticks, c->agreed.ticks);
  double ticks = clock_passed(c->agreed.ticks, now.ticks);
  double ahead = clock_passed(c->agreed.ns, now.ns) - rate * ticks;
  double rough = CLOCK_RATED + rate * ticks * (0.001 + CLOCK_ROUGH / base);
  return ahead > rough || ahead < -rough ? ahead : 0;
}


int64_t clock_jumped (Clock *c) {
  Moment now;
  double ahead;
  if (!c->steady || (c->kind != CLOCK_TICKS && c->kind != CLOCK_MONO))
    return 0;
  now.ticks = platform_ticks();
  now.ns = platform_monotonic();
  if (now.ticks < c->agreed.ticks || now.ns < c->origin.ns) {
    clock_open(c);
    return 0;
  }
  if (c->agreed.ns == c->origin.ns) {
    if (now.ns - c->origin.ns >= CLOCK_RATED) c->agreed = moment();
    return 0;
  }
  if (clock_ahead(c, now) == 0 && now.ns - c->agreed.ns < CLOCK_OFTEN)
    return 0;
  now = moment();  /* an interrupt may have separated the two readings */
  ahead = clock_ahead(c, now);
  c->origin.ns += (uint64_t)(int64_t)ahead;
  c->agreed = now;
  return (int64_t)ahead;
}

/* }====================================================== */


/*
** Measures the rate of the processor's counter against the monotonic clock. If
** the latter has stepped back to before the start, the rate is unknown, and a
** tick is taken for a nanosecond.
*/
static Scale clock_measure (const Clock *c) {
  Scale s = {0, 32}, unknown = {1u << 31, 31};
  Moment now;
  double rate;
  int left = CLOCK_PATIENCE;
  do {  /* too short a time gives no rate */
    if (left-- == 0) return unknown;
    now = moment();
  } while (now.ticks <= c->origin.ticks || now.ns <= c->origin.ns);
  rate = (double)(now.ns - c->origin.ns)
       / (double)(now.ticks - c->origin.ticks);
  while (rate * (double)(1ull << s.shift) >= 4294967295.0) s.shift--;
  s.factor = (uint64_t)(rate * (double)(1ull << s.shift) + 0.5);
  if (s.factor == 0) s.factor = 1;  /* a clock that has hardly moved */
  return s;
}


Scale clock_scale (Clock *c, int stopped) {
  Scale one = {1u << 31, 31};  /* for clocks that count nanoseconds */
  Scale s;
  if (c->kind != CLOCK_TICKS) return one;
  if (stopped && c->scale.factor != 0) return c->scale;
  (void)clock_jumped(c);
  s = clock_measure(c);
  if (stopped) c->scale = s;
  return s;
}


uint64_t clock_ns (Scale s, uint64_t ticks) {
  uint64_t high = ticks >> s.shift;
  uint64_t low = ticks & ((1ull << s.shift) - 1);
  return high * s.factor + ((low * s.factor) >> s.shift);
}


double clock_rate (Scale s) {
  const uint32_t many = 1u << 30;
  return (double)clock_ns(s, many) / many;
}

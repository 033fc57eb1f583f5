/*
** See clock.h
*/

#include "base/clock.h"

#if PLATFORM_TSC && !defined(__aarch64__)
#include <cpuid.h>
#endif


#define CLOCK_TRIES	16

/* Readings until a clock that does not go on is given up. */
#define CLOCK_PATIENCE	10000


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


void clock_start (Clock *c, int cpu, int nanoseconds) {
  if (cpu) c->kind = CLOCK_CPU;
  else if (c->host != NULL) c->kind = CLOCK_HOST;
  else if (clock_steady() && !nanoseconds) c->kind = CLOCK_TICKS;
  else c->kind = CLOCK_MONO;
  c->origin = moment();
  c->scale.factor = 0;
}


void clock_count (Clock *c, const uint64_t *counter) {
  c->kind = CLOCK_COUNT;
  c->counter = counter;
}


/*
** The rate of the processor's clock, against the monotonic one. Where that
** has stepped back behind the start, a tick is as good as a nanosecond.
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
  return s;
}


Scale clock_scale (Clock *c, int stopped) {
  Scale one = {1u << 31, 31};  /* of clocks that count nanoseconds */
  Scale s;
  if (c->kind != CLOCK_TICKS) return one;
  if (stopped && c->scale.factor != 0) return c->scale;
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


const char *clock_name (const Clock *c) {
  switch (c->kind) {
    case CLOCK_TICKS: return "tsc";
    case CLOCK_MONO: return "monotonic";
    case CLOCK_CPU: return "cpu";
    case CLOCK_COUNT: return "instructions";
    default: return "host";
  }
}

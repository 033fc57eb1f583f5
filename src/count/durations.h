/*
** Durations: how long the calls of a function took, as a histogram, and the
** slowest of them. The steps of the histogram grow with the durations, so that
** each is at most a tenth wide.
*/

#ifndef durations_h
#define durations_h

#include <stdint.h>

#include "base/clock.h"


#define DURATIONS_OCTAVES	44	/* up to five hours */
#define DURATIONS_STEPS	10	/* in an octave */
#define DURATIONS_COUNT	(DURATIONS_OCTAVES * DURATIONS_STEPS)

#define DURATIONS_SLOWEST	8

/* parts of a duration in which the thread did not compute, in ticks */
typedef struct DurationParts {
  uint64_t waited;	/* the thread had given up its processor voluntarily (it
			   blocked) */
  uint64_t preempted;	/* others had the processor; charged to no function */
  uint64_t overhead;	/* the profiler's own; charged to no function */
} DurationParts;

typedef struct SlowCall {
  uint64_t took;	/* ticks; 0: this entry is free */
  uint64_t ended;	/* ticks since recording began, pauses included */
  DurationParts parts;	/* 'waited' is part of 'took', the others are not */
  uint32_t node;	/* its call path; 0: not known */
  uint32_t coroutine;	/* number of its coroutine */
  uint32_t frame;	/* number of the host frame in which it ended; 0: before
			   the first one ended, or there are none */
  uint32_t unused;
} SlowCall;

typedef struct Durations {
  SlowCall slowest[DURATIONS_SLOWEST];	/* the longest first */
  uint32_t count[DURATIONS_COUNT];	/* calls, by duration in ns; the last
			   one has all that took longer, too */
} Durations;

#define DURATIONS_SHIFT	4

/* the largest power of two that is not above 'n', which is not 0 */
static inline unsigned durations_octave (uint64_t n) {
#if defined(__GNUC__)
  return 63u - (unsigned)__builtin_clzll(n);
#else
  unsigned octave = 0;
  while (n >>= 1) octave++;
  return octave;
#endif
}

static inline uint32_t durations_step (uint64_t ns) {
  unsigned octave;
  if (ns == 0) return 0;
  octave = durations_octave(ns);
  if (unlikely(octave >= DURATIONS_OCTAVES)) return DURATIONS_COUNT - 1;
  ns -= (uint64_t)1 << octave;
  return octave * DURATIONS_STEPS +
         (uint32_t)(ns * DURATIONS_STEPS >> octave);
}

/* A count that is full stays as it is. */
static inline void durations_add (Durations *d, uint64_t ns) {
  uint32_t *count = &d->count[durations_step(ns)];
  if (likely(*count < UINT32_MAX)) ++*count;
}

/* Is a call that took 'took' ticks one of the slowest? */
static inline int durations_isslow (const Durations *d, uint64_t took) {
  return took > d->slowest[DURATIONS_SLOWEST - 1].took;
}

/* Adds a call to the slowest, for which 'durations_isslow' must be true. */
static inline void durations_slow (Durations *d, const SlowCall *call) {
  int i = DURATIONS_SLOWEST - 1;
  for (; i > 0 && d->slowest[i - 1].took < call->took; i--)
    d->slowest[i] = d->slowest[i - 1];
  d->slowest[i] = *call;
}

/* a - b */
static inline DurationParts parts_subtract (DurationParts a,
                                            const DurationParts *b) {
  a.waited -= b->waited;
  a.preempted -= b->preempted;
  a.overhead -= b->overhead;
  return a;
}

#if CPROF_WHOLE
/* Converts the times of the slowest calls from ticks to ns. */
static inline void durations_tons (Durations *d, Scale scale) {
  int i;
  for (i = 0; i < DURATIONS_SLOWEST; i++) {
    SlowCall *c = &d->slowest[i];
    c->took = clock_ns(scale, c->took);
    c->ended = clock_ns(scale, c->ended);
    c->parts.waited = clock_ns(scale, c->parts.waited);
    c->parts.preempted = clock_ns(scale, c->parts.preempted);
    c->parts.overhead = clock_ns(scale, c->parts.overhead);
  }
}
#endif

#endif

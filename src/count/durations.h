/*
** Durations: how long the calls of a function took, as a histogram. Its steps
** grow with the durations, so that each is at most a tenth wide.
*/

#ifndef durations_h
#define durations_h

#include <stdint.h>

#include "base/platform.h"


#define DURATIONS_OCTAVES	44	/* up to five hours */
#define DURATIONS_STEPS	10	/* in an octave */
#define DURATIONS_COUNT	(DURATIONS_OCTAVES * DURATIONS_STEPS)

typedef struct Durations {
  uint64_t longest;	/* ticks */
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
static inline void durations_add (Durations *d, uint64_t ticks, uint64_t ns) {
  uint32_t *count = &d->count[durations_step(ns)];
  if (likely(*count < UINT32_MAX)) ++*count;
  if (unlikely(ticks > d->longest)) d->longest = ticks;
}

#endif

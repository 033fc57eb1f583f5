/*
** Gaps: which blocks are samples of what is allocated, so many bytes apart
** on average, and what each of them stands for. Whether a block is one does
** not depend on those before it, so sums of weights are true on average.
*/

#ifndef gaps_h
#define gaps_h

#include <stddef.h>
#include <stdint.h>

#include "base/platform.h"


typedef struct Gaps {
  uint64_t interval;	/* bytes from sample to sample; 1: all blocks */
  int64_t next;		/* bytes to the next one */
  uint64_t seed;
} Gaps;

/* what a sample stands for */
typedef struct BlockWeight {
  uint32_t count;	/* blocks */
  uint64_t bytes;
} BlockWeight;

CPROF_I void gaps_begin (Gaps *g, uint64_t interval);

/* The next sample is chosen. */
CPROF_I void gaps_choose (Gaps *g);

/* What a sample of so many bytes stands for. */
CPROF_I BlockWeight gaps_weight (const Gaps *g, size_t bytes);

/* Is a block of so many bytes one of the samples? */
static inline int gaps_take (Gaps *g, size_t bytes) {
  g->next -= (int64_t)bytes;
  if (g->next > 0) return 0;
  gaps_choose(g);
  return 1;
}

#endif

/*
** Gaps: chooses which of the allocated blocks are samples, 'interval' bytes
** apart on average, and gives the weight of each. Whether a block is a
** sample does not depend on those before it, so sums of weights are unbiased.
*/

#ifndef gaps_h
#define gaps_h

#include <stddef.h>
#include <stdint.h>

#include "base/platform.h"


typedef struct Gaps {
  uint64_t interval;	/* average bytes between samples; 1: all blocks */
  int64_t next;		/* bytes to the next sample */
  uint64_t seed;
} Gaps;

/* the weight of a sample: what it stands for */
typedef struct BlockWeight {
  uint32_t count;	/* blocks */
  uint64_t bytes;
} BlockWeight;

CPROF_I void gaps_begin (Gaps *g, uint64_t interval);

/* Chooses the gap to the next sample. */
CPROF_I void gaps_choose (Gaps *g);

/* The weight of a sample of 'bytes' bytes. */
CPROF_I BlockWeight gaps_weight (const Gaps *g, size_t bytes);

/* Is the next block, of 'bytes' bytes, a sample? Call this once a block. */
static inline int gaps_take (Gaps *g, size_t bytes) {
  g->next -= (int64_t)bytes;
  if (g->next > 0) return 0;
  gaps_choose(g);
  return 1;
}

#endif

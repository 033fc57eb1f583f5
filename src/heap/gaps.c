/*
** See gaps.h
*/

#include "heap/gaps.h"

#include <math.h>

#include "base/random.h"


void gaps_begin (Gaps *g, uint64_t interval) {
  g->interval = interval;
  g->seed = platform_ticks();
  gaps_choose(g);
}


void gaps_choose (Gaps *g) {
  double gap = random_exponential(&g->seed) * (double)g->interval;
  g->next = g->interval <= 1 ? 0 : 1 + (int64_t)gap;
}


BlockWeight gaps_weight (const Gaps *g, size_t bytes) {
  BlockWeight w;
  double p = g->interval <= 1 ? 1
           : 1 - exp(-(double)bytes / (double)g->interval);
  double count = p > 0 ? 1 / p : (double)g->interval;
  w.count = (uint32_t)(count + 0.5);
  w.bytes = (uint64_t)((double)bytes * count + 0.5);
  return w;
}

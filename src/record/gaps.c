/*
** See gaps.h
*/

#include "record/gaps.h"

#include <math.h>

#include "record/timing.h"


void gaps_begin (Gaps *g, uint64_t interval) {
  g->interval = interval;
  g->seed = platform_ticks();
  gaps_choose(g);
}


void gaps_choose (Gaps *g) {
  double u = (timing_random(&g->seed) + 1.0) / 2147483649.0;
  g->next = g->interval <= 1 ? 0 : 1 + (int64_t)(-log(u) * (double)g->interval);
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

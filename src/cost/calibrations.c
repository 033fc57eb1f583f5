/*
** See calibrations.h
*/

#include "cost/calibrations.h"


#define FIRST_NS	12000000u	/* of processor time, the first time */
#define NEXT_NS		1500000u	/* of processor time, later on */
#define APART_NS	100000000u	/* least time between calibrations */


/* The calibrations for these options, of which some change the costs. */
static Calibrated *calibrations_way (Calibrations *c, const Options *o) {
  return &c->way[(o->cpu ? 1 : 0) | (o->callsites ? 2 : 0) |
                 (o->foldat == 0 ? 4 : 0) | (o->mode == MODE_LINE ? 8 : 0) |
                 (o->include_lines != NULL ? 16 : 0)];
}


static int calibrated_add (Calibrated *c, const Memory *m, const Options *o,
                           unsigned ns) {
  Costs *to = &c->costs[c->taken % CALIBRATIONS_KEPT];
  if (!calibrate(m, o, ns, to)) return 0;
  c->taken++;
  c->last = platform_monotonic();
  return 1;
}


/* A figure to compare costs by: the sum for what programs do most. */
static int64_t costs_sum (const Costs *c) {
  return c->caller[COST_LUA] + c->callee[COST_LUA] +
         c->caller[COST_C] + c->callee[COST_C] + c->line;
}


/* The median; of two, the first one, which was measured for longer. */
static Costs calibrated_median (const Calibrated *c) {
  unsigned n = c->taken < CALIBRATIONS_KEPT ? c->taken : CALIBRATIONS_KEPT;
  unsigned i, k;
  if (n <= 2) return c->costs[0];
  for (i = 0; i < n; i++) {
    int64_t sum = costs_sum(&c->costs[i]);
    unsigned lower = 0;
    for (k = 0; k < n; k++) {
      int64_t other = costs_sum(&c->costs[k]);
      lower += other < sum || (other == sum && k < i);
    }
    if (lower == (n - 1) / 2) break;
  }
  return c->costs[i];
}


int calibrations_get (Calibrations *c, const Memory *m, const Options *o,
                      Costs *costs) {
  Calibrated *way = calibrations_way(c, o);
  if (way->taken == 0 && !calibrated_add(way, m, o, FIRST_NS)) return 0;
  *costs = calibrated_median(way);
  return 1;
}


int calibrations_anew (Calibrations *c, const Memory *m, const Options *o,
                       Costs *costs) {
  Calibrated *way = calibrations_way(c, o);
  if (!calibrated_add(way, m, o, FIRST_NS)) return 0;
  *costs = way->costs[(way->taken - 1) % CALIBRATIONS_KEPT];
  return 1;
}


void calibrations_refresh (Calibrations *c, const Memory *m,
                           const Options *o, Costs *costs) {
  Calibrated *way = calibrations_way(c, o);
  if (way->taken > 1 && platform_monotonic() - way->last < APART_NS) return;
  if (calibrated_add(way, m, o, NEXT_NS)) *costs = calibrated_median(way);
}

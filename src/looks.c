/*
** See looks.h
*/

#include "looks.h"

#include <string.h>

#include "calibrate.h"


#define FIRST_NS	12000000u	/* to be spent on the first look */
#define NEXT_NS		1000000u	/* ... and on the next ones */
#define APART		100000000u	/* ns, from one to the next, at least */


static unsigned looks_way (const Options *o) {
  return (o->cpu ? 1u : 0) | (o->callsites ? 2u : 0) | (o->fold ? 4u : 0) |
         (o->lines ? 8u : 0) | (o->wantlines != NULL ? 16u : 0);
}


/* of what programs do most */
static double looks_sum (const Costs *c) {
  return (double)(c->caller[COST_LUA] + c->callee[COST_LUA] +
                  c->caller[COST_C] + c->callee[COST_C] + c->line);
}


/* takes another look, for 'ns'; 0: out of memory */
static int looks_take (Recording *r, Looks *l, const Options *o,
                       unsigned ns) {
  Costs costs;
  if (!calibrate(r, o, ns, &costs)) return 0;
  l->costs[l->taken++ % LOOKS] = costs;
  l->last = platform_monotonic();
  return 1;
}


/* the median; of two the lesser, for it is a busy machine that is slow */
static Costs looks_usual (const Looks *l) {
  unsigned count = l->taken < LOOKS ? l->taken : LOOKS, i, k;
  for (i = 0; i < count; i++) {
    double sum = looks_sum(&l->costs[i]);
    unsigned less = 0;
    for (k = 0; k < count; k++) {
      double other = looks_sum(&l->costs[k]);
      less += other < sum || (k < i && !(other > sum));
    }
    if (less == (count - 1) / 2) break;
  }
  return l->costs[i];
}


const char *looks_costs (Recording *r, const Options *o, int anew,
                         Costs *costs) {
  Looks *l = &r->looks[looks_way(o)];
  memset(costs, 0, sizeof *costs);
  if (!o->compensate) return "compensate = false";
  if (o->trace) return "mode trace";
  if (!o->cpu && r->clock.host != NULL) return "the clock is the host's";
  if ((l->taken == 0 || anew) && !looks_take(r, l, o, FIRST_NS))
    return "out of memory";
  *costs = anew ? l->costs[(l->taken - 1) % LOOKS] : looks_usual(l);
  return NULL;
}


void looks_again (Recording *r) {
  Looks *l = &r->looks[looks_way(&r->options)];
  if (r->uncompensated != NULL) return;
  if (l->taken > 1 && platform_monotonic() - l->last < APART) return;
  if (looks_take(r, l, &r->options, NEXT_NS)) r->costs = looks_usual(l);
}

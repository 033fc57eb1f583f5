/*
** See spots.h
*/

#include "count/spots.h"


int spots_add (Tally *t, const Spot *s) {
  TallyCount x = ZEROS;
  x.ticks = s->weight;
  x.key[0] = s->func;
  x.key[1] = s->module;
  x.key[2] = (uint32_t)s->address;
  x.key[3] = (uint32_t)(s->address >> 32);
  if (spot_isinfile(s) && t->list.count > SPOTS_MOST && !tally_has(t, &x)) {
    x.key[1] = SPOT_MORE;
    x.key[2] = x.key[3] = 0;
  }
  return tally_add(t, &x);
}

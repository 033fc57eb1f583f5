/*
** Prints what is left of a time axis whose two chunks are written again and
** again.
*/

#include <stdio.h>
#include <stdlib.h>

#include "profile/range.h"


#define RING_STEP	1000000	/* ns from sample to sample */

static void *ring_alloc (void *ud, void *p, size_t from, size_t to) {
  (void)ud; (void)from;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}


int main (int argc, char **argv) {
  const Memory m = {ring_alloc, NULL};
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, i;
  AxisSample x = ZEROS;
  RangePart part[2] = ZEROS;
  AxisData d;
  Recording r = ZEROS;
  Axis a;
  axis_init(&a, &m, NULL);
  axis_pace(&a, RING_STEP, 1, 0, 0);
  x.ns = RING_STEP;
  x.samples = 1;
  x.place = axis_place(&a, 7, 0);
  for (i = 1; i <= count; i++)
    if (x.place == 0 || !axis_add(&a, i * RING_STEP, &x)) return 1;
  r.figures = &r.own_figures;
  r.axis = a;
  range_measure(&d, &r, 1, 0);
  d.chunk = calloc(d.chunks, sizeof *d.chunk);
  d.place = calloc(d.places, sizeof *d.place);
  if (d.chunk == NULL || d.place == NULL) return 1;
  range_copy(&d, &r);
  range_add(&d, -1, 1e18, part);
  printf("%u chunks, from %.0f on, %lld samples\n", (unsigned)d.chunks,
         d.begins / RING_STEP, (long long)part[1].samples);
  free(d.chunk);
  free(d.place);
  axis_free(&a);
  return 0;
}

/*
** Prints what is left of a time axis whose two chunks are written again and
** again.
*/

#include <stdio.h>
#include <stdlib.h>

#include "axisgiven.h"


int main (int argc, char **argv) {
  uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, i;
  AxisSample x = ZEROS;
  RangePart part[2] = ZEROS;
  AxisData d;
  Recording r = ZEROS;
  given_begin(&r);
  x.ns = GIVEN_MS;
  x.samples = 1;
  x.place = axis_place(&r.axis, 7, 0);
  for (i = 1; i <= count; i++)
    if (x.place == 0 || !axis_add(&r.axis, (uint64_t)(i * GIVEN_MS), &x))
      return 1;
  if (!given_read(&r, &d)) return 1;
  range_add(&d, -1, 1e18, part);
  printf("%u chunks, from %.0f on, %lld samples\n", (unsigned)d.chunks,
         d.begins / GIVEN_MS, (long long)part[1].samples);
  given_free(&r, &d);
  return 0;
}

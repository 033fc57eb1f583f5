/*
** Prints what a sample is worth, in thousandths: one that found the program
** running, and one that found it waiting. Arguments: the beginning and the end
** of a range, in ms; then three for each sample, which come 1 ms apart: for how
** many ms it stands; as how many samples it counts; "runs", "waits" or, if
** nothing was recorded, "paused".
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/range.h"


#define WORTH_MS	1000000.0


static void *worth_alloc (void *ud, void *p, size_t from, size_t to) {
  (void)ud; (void)from;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}


static int worth_samples (Axis *a, char **arg) {
  int i;
  for (i = 1; arg[0] != NULL; i++, arg += 3) {
    AxisSample x = ZEROS;
    x.place = strcmp(arg[2], "paused") == 0 ? AXIS_NOWHERE
                                            : axis_place(a, 1, 0);
    x.ns = strtod(arg[0], NULL) * WORTH_MS;
    x.samples = strtoul(arg[1], NULL, 10);
    x.waits = strcmp(arg[2], "waits") == 0;
    if (!axis_add(a, (uint64_t)(i * WORTH_MS), &x)) return 0;
  }
  return 1;
}


int main (int argc, char **argv) {
  const Memory m = {worth_alloc, NULL};
  Recording r = ZEROS;
  AxisData d;
  double worth[2];
  axis_init(&r.axis, &m, NULL);
  axis_pace(&r.axis, WORTH_MS, 1, 0, 0);
  if (argc % 3 != 0 || !worth_samples(&r.axis, argv + 3)) return 1;
  r.figures = &r.own_figures;
  range_measure(&d, &r, 1, 0);
  d.chunk = calloc(d.chunks + 1, sizeof *d.chunk);
  d.place = calloc(d.places + 1, sizeof *d.place);
  if (d.chunk == NULL || d.place == NULL) return 1;
  range_copy(&d, &r);
  range_worth(&d, strtod(argv[1], NULL) * WORTH_MS,
              strtod(argv[2], NULL) * WORTH_MS, worth);
  printf("%.0f %.0f\n", worth[0] * 1000, worth[1] * 1000);
  return 0;
}

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

#include "axisgiven.h"


static int worth_samples (Axis *a, char **arg) {
  int i;
  for (i = 1; arg[0] != NULL; i++, arg += 3) {
    AxisSample x = ZEROS;
    x.place = strcmp(arg[2], "paused") == 0 ? AXIS_NOWHERE
                                            : axis_place(a, 1, 0);
    x.ns = strtod(arg[0], NULL) * GIVEN_MS;
    x.samples = strtoul(arg[1], NULL, 10);
    x.waits = strcmp(arg[2], "waits") == 0;
    if (!axis_add(a, (uint64_t)(i * GIVEN_MS), &x)) return 0;
  }
  return 1;
}


int main (int argc, char **argv) {
  Recording r = ZEROS;
  AxisData d;
  double worth[2];
  given_begin(&r);
  if (argc % 3 != 0 || !worth_samples(&r.axis, argv + 3) ||
      !given_read(&r, &d))
    return 1;
  range_worth(&d, strtod(argv[1], NULL) * GIVEN_MS,
              strtod(argv[2], NULL) * GIVEN_MS, worth);
  printf("%.0f %.0f\n", worth[0] * 1000, worth[1] * 1000);
  given_free(&r, &d);
  return 0;
}

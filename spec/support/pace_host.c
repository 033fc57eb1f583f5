/*
** How often to sample, after samples that take as long as this says. Prints the
** mean time between samples in ms: after usual samples, after one that took
** very long, and after a second one.
*/

#include <stdio.h>

#include "sample/pace.h"


static void say (const Pace *p) {
  printf("%u\n", (unsigned)(p->interval / 1000000u));
}


int main (void) {
  static Pace p;
  int i;
  pace_begin(&p, 1000, 0);
  for (i = 0; i < 100; i++) pace_adjust(&p, 4000);
  say(&p);
  pace_adjust(&p, 1000000);
  say(&p);
  pace_adjust(&p, 4000);
  pace_adjust(&p, 1000000);
  pace_adjust(&p, 1000000);
  say(&p);
  return 0;
}

/*
** How often to sample, after samples that take as long as this says. Prints the
** mean time between samples in ms: after usual samples, after one that took
** very long, and after a second one. Then, the ns that late samples stand for.
*/

#include <stdio.h>

#include "sample/pace.h"


static void say (const Pace *p) {
  printf("%u\n", (unsigned)(p->interval / 1000000u));
}


/*
** A sample of a tick that came 1 ms late, as others had the processor: the ns
** that it stands for. 'seen': was the thread seen to run when it was due?
*/
static void late (Pace p, int seen) {
  PaceTick t = {5000000, 4000000, 300000, 1, 0, 0};
  Away away = {0, 1000000};
  t.seen = seen;
  pace_tick(&p, &t);
  printf("%d\n", (int)pace_weigh(&p, t.at, 1000000, away).ns);
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
  late(p, 0);
  late(p, 1);
  return 0;
}

/*
** How often to sample, after samples that take as long as this says. Prints the
** mean time between samples in ms: after usual samples, after one that took
** very long, after a second one, and after each of four usual ones. Then,
** what the next one stands for, whose tick was asked for before these. Then, in
** thousandths, how much of the time samples take of which each third or tenth
** one takes very long. Then, the ns that late samples stand for; last, those
** of a wait, and how many of them are waiting.
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


/*
** A sample of a tick that has interrupted a wait, 1 ms late, as the process was
** stopped.
*/
static void stopped (Pace p) {
  PaceTick t = {5000000, 4000000, 300000, 1, 1, 0};
  Away away = {1300000, 0};
  Weight w;
  pace_tick(&p, &t);
  w = pace_weigh(&p, t.at, 1000000, away);
  printf("%d %d\n", (int)w.ns, (int)w.wait);
}


/*
** Samples that are cheap again when a tick comes for which the longer time was
** asked: as how many samples it counts, and how many ms it stands for.
*/
static void longer (Pace p) {
  PaceTick t = {5000000, 5000000, 0, 1, 0, 1};
  Away away = {0, 0};
  Weight w;
  int i;
  t.ns = p.interval;
  for (i = 0; i < 4; i++) pace_adjust(&p, 4000);
  pace_tick(&p, &t);
  w = pace_weigh(&p, t.at, 1000000, away);
  printf("%d of %d\n", (int)w.samples, (int)(w.ns / 1000000));
}


/* Of each 'n' samples, one takes 1 ms. */
static void dear (Pace p, int n) {
  uint64_t took = 0, all = 0;
  int i;
  for (i = 1; i <= 100 * n; i++) {
    uint64_t ns = i % n == 0 ? 1000000 : 4000;
    pace_adjust(&p, ns);
    took += ns;
    all += p.interval;
  }
  printf("%d\n", (int)(took * 1000 / all));
}


/* Usual samples again, after some that took very long. */
static void usual (Pace p) {
  int i;
  for (i = 0; i < 4; i++) {
    pace_adjust(&p, 4000);
    say(&p);
  }
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
  usual(p);
  longer(p);
  dear(p, 3);
  dear(p, 10);
  late(p, 0);
  late(p, 1);
  stopped(p);
  return 0;
}

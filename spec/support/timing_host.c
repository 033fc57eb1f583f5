/*
** Which timed events count. Prints the number of those that do, and their mean
** time: of events that take 20 or 40 ticks, of which every 50th was interrupted
** for 5000; of events that take longer and longer, up to 400 ticks; and of
** events that seem to take less time than a reading of the clock, of which one
** was interrupted.
*/

#include <stdio.h>

#include "count/timing.h"


#define READING	50


static void say (const Timing *t) {
  printf("%d %d\n", (int)t->events, (int)(t->ticks / (int64_t)t->events));
}


int main (void) {
  Timing mixed = {0, 0}, slow = {0, 0}, quick = {0, 0};
  int i;
  for (i = 0; i < 1000; i++) {
    uint64_t took = (i % 2 ? 20 : 40) + (i % 50 == 0 ? 5000 : 0);
    timing_add(&mixed, took + READING, READING);
    timing_add(&slow, (i < 100 ? 40 + 4 * i : 400) + READING, READING);
    timing_add(&quick, i == 500 ? 5000 : READING - 10, READING);
  }
  say(&mixed);
  say(&slow);
  say(&quick);
  return 0;
}

/*
** What timed events say of costs. Prints the cost in ps of a return, charged to
** the caller of a Lua function: with no timed events; with some that took 10
** ticks longer than those of the calibration; with some that took 10 ticks
** less, and 30 ticks less, as readings of the clock vary. A tick is 1 ns.
*/

#include <stdio.h>

#include "cost/compensate.c"


static void say (int64_t events, int64_t each) {
  Figures figures = ZEROS;
  Recording r = ZEROS;
  Costs measured = ZEROS;
  r.figures = &figures;
  measured.caller[COST_LUA] = 50000;
  measured.within[EVENT_RETURN] = 20000;
  figures.timing[EVENT_RETURN].events = (uint64_t)events;
  figures.timing[EVENT_RETURN].ticks = events * each;
  printf("%d\n", (int)compensate_costs(&r, &measured, 1).caller[COST_LUA]);
}


int main (void) {
  say(0, 0);
  say(100, 30);
  say(100, 10);
  say(100, -10);
  return 0;
}

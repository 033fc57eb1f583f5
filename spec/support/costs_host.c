/*
** What timed events say of costs. Prints the cost in ps of a return, charged to
** the caller of a Lua function: with no timed events; with some that took 10
** ticks longer than those of the calibration; with some that took 10 ticks
** less, and 30 ticks less, as readings of the clock vary. A tick is 1 ns. Then,
** for resuming a coroutine, entering it, and leaving it, the costs with such
** events that took 10 ticks less, 10 more, and 150 more.
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


/* the costs by which these events took 'more' ticks than they were measured */
static void switches (int64_t more) {
  Figures figures = ZEROS;
  Recording r = ZEROS;
  Costs measured = ZEROS, c;
  int kind;
  r.figures = &figures;
  measured.resume = measured.yielder = measured.resumer = 50000;
  for (kind = EVENT_RESUME; kind <= EVENT_LEAVE; kind++) {
    measured.within[kind] = 20000;
    figures.timing[kind].events = 100;
    figures.timing[kind].ticks = 100 * (20 + more);
  }
  c = compensate_costs(&r, &measured, 1);
  printf("%d %d %d\n", (int)c.resume, (int)c.yielder, (int)c.resumer);
}


int main (void) {
  say(0, 0);
  say(100, 30);
  say(100, 10);
  say(100, -10);
  switches(-10);
  switches(10);
  switches(150);
  return 0;
}

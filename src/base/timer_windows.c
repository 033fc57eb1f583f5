/*
** See timer.h. Windows has no signals, so there are no timers.
*/

#include "base/timer.h"

#if defined(_WIN32)

int timer_begin (TimerTick tick, void *ud, int cpu, const char **why) {
  (void)tick; (void)ud; (void)cpu;
  *why = "samples need signals, which Windows does not have";
  return -1;
}


int timer_ishere (int timer) {
  (void)timer;
  return 1;
}


int timer_follow (int timer, const char **why) {
  (void)timer; (void)why;
  return 0;
}


void timer_next (int timer, uint64_t ns) {
  (void)timer; (void)ns;
}


void timer_end (int timer) {
  (void)timer;
}


void timer_forked (void) {
}


uintptr_t timer_at (int timer) {
  (void)timer;
  return TIMER_UNKNOWN;
}


int timer_lost (int timer) {
  (void)timer;
  return 0;
}

#endif

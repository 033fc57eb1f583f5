/*
** A timer that counts the time in which its thread runs. Here, the time that
** the system has worked for the thread is sometimes read as less than before.
** This happens on real machines: the system counts its own and the thread's
** time together, but they are read one after the other. Prints 1 if ticks stand
** for more time than has passed, else 0.
*/

#define _GNU_SOURCE

#include <stdio.h>

#include "base/taskclock.h"
#include "base/timer.h"

#if PLATFORM_WATCH

#define LEAST	1000000u	/* ns */
#define MOST	5000000u

static volatile int timer = -1, reads;
static volatile uint64_t stood;


int taskclock_open (TaskClock *c, int signal) {
  (void)signal;
  c->file = -1;
  c->id = 0;
  return 1;
}


void taskclock_run (const TaskClock *c, int on) {
  (void)c; (void)on;
}


void taskclock_next (const TaskClock *c, uint64_t ns) {
  (void)c; (void)ns;
}


int taskclock_isopen (const TaskClock *c) {
  (void)c;
  return 1;
}


void taskclock_close (TaskClock *c) {
  (void)c;
}


uint64_t taskclock_system (void) {
  return reads++ % 2 == 0 ? MOST : LEAST;
}


static void tick (void *ud, TimerWithin within) {
  (void)ud; (void)within;
  stood += timer_system(timer);
}


int main (void) {
  const char *why;
  timer = timer_begin(tick, NULL, 0, &why);
  if (timer >= 0 && timer_counts(timer, 1)) {
    timer_next(timer, LEAST);
    while (reads < 10) ;
    timer_end(timer);
  }
  printf("%d\n", stood > MOST);
  return 0;
}

#else

int main (void) {
  puts("0");
  return 0;
}

#endif

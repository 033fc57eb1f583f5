/*
** A timer that counts the time in which its thread runs: says whether it
** ticks while the thread computes, whether each system call that ends early
** was counted, whether ticks come for the system's work, and whether it is
** noticed that the program closes all descriptors.
*/

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "base/timer.h"

#define PERIOD	1000000u	/* ns */

#if PLATFORM_WATCH

static volatile int timer = -1;
static volatile int ticks, ends, system_ticks;


static void tick (void *ud, TimerWithin within) {
  (void)ud;
  if (timer_system(timer) > 0) system_ticks++;
  else ticks++;
  if (within == TIMER_ENDS) ends++;
  timer_next(timer, PERIOD);
}


/* Makes the system work, until there is a tick for that. */
static void calls (void) {
  static char bytes[65536];
  int file = open("/dev/zero", O_RDONLY);
  while (system_ticks == 0)
    if (read(file, bytes, sizeof bytes) < 0 && errno == EINTR) ends--;
  close(file);
}


int main (void) {
  const char *why;
  int i, ended = 0, before;
  timer = timer_begin(tick, NULL, 0, &why);
  if (timer < 0 || !timer_counts(timer, 1)) {
    puts("not allowed");
    return 0;
  }
  printf("%d\n", timer_iscounting(timer));
  timer_next(timer, PERIOD);
  while (ticks < 20) ;
  for (i = 0; i < 100; i++) {
    before = ticks;
    if (poll(NULL, 0, 1) < 0 && errno == EINTR) ended++;
    while (i % 20 == 0 && ticks == before) ;
  }
  calls();
  timer_next(timer, 0);
  printf("%d missed\n", ended - ends);
  for (i = 3; i < 256; i++) close(i);
  printf("%d\n", timer_iscounting(timer));
  timer_end(timer);
  return 0;
}

#else

int main (void) {
  puts("not allowed");
  return 0;
}

#endif

/*
** A timer of a thread other than the main one, which waits: says whether
** ticks come to the thread, and whether the signal is harmless afterwards.
*/

#define _GNU_SOURCE

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/timer.h"

#define TICKS	20

static pthread_t worker;
static volatile int timer = -1;
static volatile sig_atomic_t ticks, strays;


static void tick (void *ud) {
  (void)ud;
  if (!pthread_equal(pthread_self(), worker)) strays++;
  if (++ticks < TICKS) timer_next(timer, 1000000);
}


static void *work (void *ud) {
  time_t ends = time(NULL) + 20;
  const char *why;
  (void)ud;
  worker = pthread_self();
  timer = timer_begin(tick, NULL, 0, &why);
  if (timer < 0) puts(why);
  else {
    timer_next(timer, 1000000);
    while (ticks < TICKS && time(NULL) < ends) ;
    timer_end(timer);
  }
  return NULL;
}


int main (void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  if (!PLATFORM_TIMERS) kill(getpid(), SIGALRM);  /* as if on its way */
  printf("%d ticks, %d elsewhere\n", (int)ticks, (int)strays);
  return 0;
}

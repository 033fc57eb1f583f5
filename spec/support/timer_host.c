/*
** A timer of a thread other than the main one, which waits: says whether
** ticks come to the thread, and whether the signal is harmless afterwards;
** and whether the program has its signals back after two timers that have
** different ones.
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


static void tick (void *ud, TimerWithin within) {
  (void)ud;
  (void)within;
  if (!pthread_equal(pthread_self(), worker)) strays++;
  if (++ticks < TICKS) timer_next(timer, 1000000);
}


static void *work (void *ud) {
  time_t ends = time(NULL) + 120;
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


#if PLATFORM_TIMERS

static int handled (int number) {
  struct sigaction a;
  return sigaction(number, NULL, &a) == 0 && a.sa_handler != SIG_IGN;
}


/* SIGPROF is blocked in this thread, so its timer has another signal. */
static void *other (void *ud) {
  const char *why;
  int t;
  sigset_t set;
  (void)ud;
  sigemptyset(&set);
  sigaddset(&set, SIGPROF);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  t = timer_begin(tick, NULL, 0, &why);
  printf("%d %d\n", handled(SIGPROF), handled(SIGRTMIN));
  timer_end(t);
  return NULL;
}


static void two (void) {
  pthread_t thread;
  const char *why;
  int t;
  signal(SIGPROF, SIG_IGN);
  signal(SIGRTMIN, SIG_IGN);
  t = timer_begin(tick, NULL, 0, &why);
  pthread_create(&thread, NULL, other, NULL);
  pthread_join(thread, NULL);
  printf("%d %d\n", handled(SIGPROF), handled(SIGRTMIN));
  timer_end(t);
  printf("%d %d\n", handled(SIGPROF), handled(SIGRTMIN));
}

#endif


int main (void) {
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  pthread_join(thread, NULL);
  if (!PLATFORM_TIMERS) kill(getpid(), SIGALRM);  /* stands for a late tick */
  printf("%d ticks, %d elsewhere\n", (int)ticks, (int)strays);
#if PLATFORM_TIMERS
  two();
#endif
  return 0;
}

/*
** A watcher whose looks are given: what each of them finds, and how far the
** thread's clock has advanced since the one before it. Prints after how many
** looks the system's ticks find the thread; 0: after none of them. First for
** looks that find it running in a quarter of them, which is as often as it
** runs, then for looks that never do. Then prints 1 if ticks come while the
** thread runs, and that they end when they are switched off.
*/

#define _GNU_SOURCE

#include <stdio.h>
#include <string.h>

#include "sample/watcher.h"

#if PLATFORM_WATCH

#define RATE	1000
#define PART	4u	/* the thread runs for a quarter of the time */
#define LOOKS	5000

static uint64_t cpu = 1000000000u;
static int runs;	/* does the look find the thread running? */
static WatchLook look;
static void *watcher;
static Pace pace;
static Watcher *w;
static volatile int came;	/* ticks that the system's own tick caused */


Watch *watch_begin (WatchLook f, void *ud, uint64_t ns) {
  (void)ns;
  look = f;
  watcher = ud;
  return (Watch *)&cpu;
}

void watch_wake (Watch *watch) { (void)watch; }
void watch_end (Watch *watch) { (void)watch; }
int watch_waits (const Watch *watch) { (void)watch; return !runs; }

int watch_queued (const Watch *watch, WatchQueued *q) {
  (void)watch; (void)q;
  return 0;
}

uint64_t watch_cpu (const Watch *watch) {
  (void)watch;
  if (runs) cpu++;
  return cpu;
}


/* a stack that is known */
uint64_t blocked_stack (const Running *r) { (void)r; return 1; }
void blocked_init (BlockedStacks *b) { (void)b; }
void blocked_free (BlockedStacks *b) { (void)b; }
void blocked_forget (BlockedStacks *b) { (void)b; }
int blocked_isours (const BlockedStacks *b) { (void)b; return 1; }

void blocked_learn (BlockedStacks *b, uint64_t stack, Node *node,
                    uint64_t now) {
  (void)b; (void)stack; (void)node; (void)now;
}

int blocked_wait (BlockedStacks *b, uint64_t stack, uint64_t now, uint64_t ns,
                  uint64_t samples) {
  (void)b; (void)stack; (void)now; (void)ns; (void)samples;
  return 1;
}

int blocked_take (BlockedStacks *b, BlockedWait *to) {
  (void)b; (void)to;
  return 0;
}


static void tick (void *ud, TimerWithin within) {
  WatcherTick asked;
  (void)ud; (void)within;
  watcher_tick(w, &asked);
  if (timer_stands(pace.timer) > 0) came++;
}


/* 'every': one look in so many finds the thread running; 0: none does. */
static int looks (int every) {
  int i;
  for (i = 1; i <= LOOKS && pace.counts == PACE_COUNTSNOT; i++) {
    runs = every > 0 && i % every == 0;
    cpu += pace.interval / PART;
    look(watcher, (const Watch *)&cpu);
  }
  return pace.counts == PACE_COUNTSNOT ? 0 : i - 1;
}


static void run (uint64_t ns, int until) {
  uint64_t from = platform_cpu();
  while (platform_cpu() - from < ns && came < until) ;
}


static void begin (void) {
  static Running running;
  const char *why;
  running.at = (const InternalsState *)&running;
  memset(&pace, 0, sizeof pace);
  pace_begin(&pace, RATE, 0);
  pace.timer = timer_begin(tick, NULL, 0, &why);
  watcher_begin(&w, &pace, &running);
}


static void end (void) {
  watcher_end(w);
  timer_end(pace.timer);
  watcher_free(w);
}


int main (void) {
  int before;
  begin();
  printf("%d", looks(PART));
  end();
  begin();
  printf(" %d", looks(0));
  run(UINT64_MAX, 3);
  printf(" %d", came == 3);
  timer_next(pace.timer, 0);
  before = came;
  run(50000000u, before + 1);
  printf(" %d\n", came - before);
  end();
  return 0;
}

#else

int main (void) {
  puts("none");
  return 0;
}

#endif

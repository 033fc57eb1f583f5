/*
** See watcher.h
*/

#include "sample/watcher.h"

#if PLATFORM_WATCH

#include <stdlib.h>


/* ns after which a tick that has not come is asked for again */
#define WATCHER_LOST	1000000000u

/* ns of rest after which the time of the next look is drawn anew */
#define WATCHER_LONG	5000000u


struct Watcher {
  Watch *watch;
  Pace *pace;
  const Running *running;
  const OpenZones *zones;
  BlockedStacks stacks;
  int asked;		/* was a tick asked for that has not come yet? */
  int anew;		/* does the next look only draw the time of the one
			   after it? */
  volatile uint64_t rests;	/* since when it rests; 0: it looks */
  volatile uint64_t unknown;	/* hash of the stack whose node the sample of
				   that tick is to tell; 0: of none */
  volatile uint64_t stands;	/* what that tick stands for, in ns */
  volatile int seen;	/* was the thread seen to run when it was asked for? */
  /* used by the watching thread alone */
  uint64_t mean;	/* average ns from the last look to the next */
  uint64_t cpu;		/* the thread's processor time in the last wait seen */
  uint64_t since;	/* when that wait was first seen */
  uint64_t stack;	/* hash of its stack; 0: it cannot be read */
};


/*
** Asks for a tick, at the look at 'now', whose sample is to tell the node of
** 'stack'; 0: of none. For 'cpu', see 'timer_now'.
*/
static void watcher_ask (Watcher *w, uint64_t now, uint64_t stack,
                         uint64_t cpu) {
  w->unknown = stack;
  w->stands = w->mean;
  w->seen = cpu > 0;
  pace_due(w->pace, now, w->mean);
  __atomic_store_n(&w->asked, 1, __ATOMIC_SEQ_CST);
  timer_now(w->pace->timer, cpu);
}


/*
** Charges a wait: the thread was seen to wait at 'now', when its processor time
** was 'cpu'. The stack is read once for each wait. If the processor time is the
** same afterwards, the thread has not run meanwhile, so the hash is of one
** moment. If no node is known for the stack, asks for a tick. Charges nothing
** if a tick has come already ('weight'): its sample counts all of the wait.
*/
static void watcher_wait (Watcher *w, const Watch *watch, uint64_t now,
                          uint64_t cpu) {
  const Pace *p = w->pace;
  if (cpu != w->cpu) {
    w->stack = blocked_stack(w->running, w->zones);
    if (watch_cpu(watch) != cpu) return;
    w->cpu = cpu;
    w->since = now;
  }
  if (p->weight == 0 &&
      (w->stack == 0 || !blocked_wait(&w->stacks, w->stack, now, w->mean,
                                      w->mean / p->interval)))
    watcher_ask(w, now, w->stack, 0);
}


/* Is a tick that was asked for still expected? */
static int watcher_expects (const Watcher *w, uint64_t now) {
  return __atomic_load_n(&w->asked, __ATOMIC_SEQ_CST) &&
         now - w->pace->due < WATCHER_LOST;
}


/* Does the timer count the time in which the thread runs? */
static int watcher_counts (Pace *p) {
  if (p->counts && !timer_iscounting(p->timer)) p->counts = 0;
  return p->counts;
}


/*
** A look at the thread, at 'now', when its processor time was 'cpu'. Returns
** how long the thread has waited so far. Where the timer counts, no tick is
** requested for a thread that runs: the timer finds such a thread by itself.
**
** A thread that is ready to run, but has no processor, counts as running if
** this look has taken the processor from it. Else other programs have it, and
** this time is charged to nothing; or a wait of the thread has just ended, and
** a signal would still make the system call fail.
*/
static uint64_t watcher_see (Watcher *w, const Watch *watch, uint64_t now,
                             uint64_t cpu) {
  int counts = watcher_counts(w->pace);
  if (watcher_expects(w, now)) return 0;
  if (watch_cpu(watch) != cpu) {
    if (!counts) watcher_ask(w, now, 0, cpu);
  }
  else if (cpu != w->cpu && !watch_waits(watch)) {
    if (!counts && watch_preempts(watch)) watcher_ask(w, now, 0, cpu);
  }
  else {
    watcher_wait(w, watch, now, cpu);
    if (w->cpu == cpu) return now - w->since;
  }
  return 0;
}


/* A look at the thread that is watched, see WatchLook. */
static uint64_t watcher_look (void *ud, const Watch *watch) {
  Watcher *w = cast(Watcher *, ud);
  uint64_t rests = w->rests, now = platform_monotonic(), cpu;
  if (__atomic_exchange_n(&w->anew, 0, __ATOMIC_SEQ_CST))
    return pace_rest(w->pace, 0, &w->mean);
  if (rests != 0) return pace_rest(w->pace, now - rests, &w->mean);
  cpu = watch_cpu(watch);
  if (cpu == 0) return 0;
  return pace_rest(w->pace, watcher_see(w, watch, now, cpu), &w->mean);
}


/*
** Can this thread be watched? The watching thread reads memory that may have
** been freed; and unless the timer counts, it has to know whether the thread
** that it sees is without a processor because of the look.
*/
static int watcher_ispossible (const Pace *p, const Running *running) {
  char from = 0, to;
  return running->at != NULL && (p->counts || watch_ispossible()) &&
         platform_copy(platform_process(), &from, &to, sizeof to) == 1;
}


void watcher_begin (Watcher **to, Pace *p, const Running *running,
                    const OpenZones *zones, int prompt) {
  Watcher *w = NULL;
  if (watcher_ispossible(p, running)) w = cast(Watcher *, calloc(1, sizeof *w));
  *to = w;
  if (w == NULL) return;
  w->pace = p;
  w->running = running;
  w->zones = zones;
  blocked_init(&w->stacks);
  p->watched = 1;
  w->watch = watch_begin(watcher_look, w, pace_rest(p, 0, &w->mean), prompt);
  if (w->watch != NULL) return;
  p->watched = 0;
  *to = NULL;
  watcher_free(w);
}


void watcher_rest (Watcher *w) {
  if (w != NULL) w->rests = platform_monotonic();
}


/*
** Looks become rarer during a rest, so after a long one the next look may be
** far away: then its time is drawn anew.
*/
void watcher_resume (Watcher *w) {
  uint64_t rested = platform_monotonic() - w->rests;
  __atomic_store_n(&w->asked, 0, __ATOMIC_SEQ_CST);
  w->rests = 0;
  if (rested < WATCHER_LONG) return;
  __atomic_store_n(&w->anew, 1, __ATOMIC_SEQ_CST);
  watch_wake(w->watch);
}


void watcher_end (Watcher *w) {
  if (w != NULL) watch_end(w->watch);
}


void watcher_free (Watcher *w) {
  if (w != NULL) blocked_free(&w->stacks);
  free(w);
}


int watcher_asks (const Watcher *w) {
  return w != NULL && blocked_isours(&w->stacks);
}


int watcher_tick (Watcher *w, WatcherTick *t) {
  t->ns = t->stack = 0;
  t->seen = 0;
  if (!watcher_asks(w)) return 1;
  if (!__atomic_exchange_n(&w->asked, 0, __ATOMIC_SEQ_CST))
    return w->pace->counts;
  t->ns = w->stands;
  t->stack = w->unknown;
  t->seen = w->seen;
  return 1;
}


void watcher_learn (Watcher *w, uint64_t stack, Node *node) {
  if (w != NULL && blocked_stack(w->running, w->zones) == stack)
    blocked_learn(&w->stacks, stack, node, platform_monotonic());
}


int watcher_take (Watcher *w, BlockedWait *to) {
  return w != NULL && blocked_take(&w->stacks, to);
}


void watcher_forget (Watcher *w) {
  if (w != NULL) blocked_forget(&w->stacks);
}

#endif

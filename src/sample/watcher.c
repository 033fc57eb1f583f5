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

/*
** ns after a look that finds the thread ready, until another look tells whether
** it has run since
*/
#define WATCHER_SOON	50000u

/* most ns from when the watching thread takes the other one's processor until
   its look begins */
#define WATCHER_SWITCH	20000u


/* a look that has found the thread ready, but others on its processor */
typedef struct WatcherReady {
  uint64_t at;		/* when; 0: there was none */
  uint64_t cpu;		/* the thread's processor time */
  int known;		/* is 'queued' known? */
  WatchQueued queued;
} WatcherReady;

/* is a tick expected? */
typedef enum WatcherAsked {
  WATCHER_NONE,
  WATCHER_ASKED,	/* it was asked for, and has not come yet */
  WATCHER_MAYBE		/* the next look decides whether to ask for it. If the
			   recording pauses or is read before, the thread has
			   run by then, so the tick counts */
} WatcherAsked;

struct Watcher {
  Watch *watch;
  Pace *pace;
  const Running *running;
  const OpenZones *zones;
  BlockedStacks stacks;
  WatcherAsked asked;
  int anew;		/* does the next look only draw the time of the one
			   after it? */
  volatile uint64_t rests;	/* since when it rests; 0: it looks */
  volatile uint64_t unknown;	/* hash of the stack whose node the sample of
				   that tick is to tell; 0: of none */
  volatile uint64_t stands;	/* what that tick stands for, in ns */
  /* used by the watching thread alone */
  uint64_t mean;	/* average ns from the last look to the next */
  uint64_t cpu;		/* the thread's processor time in the last wait seen */
  uint64_t since;	/* when that wait was first seen */
  uint64_t stack;	/* hash of its stack; 0: it cannot be read */
  WatcherReady ready;
};


/* Expects a tick, see 'watcher_ask'. */
static void watcher_expect (Watcher *w, WatcherAsked asked, uint64_t now,
                            uint64_t stack) {
  w->unknown = stack;
  w->stands = w->mean;
  pace_due(w->pace, now, w->mean);
  __atomic_store_n(&w->asked, asked, __ATOMIC_SEQ_CST);
}


/*
** Asks for a tick, at the look at 'now', whose sample is to tell the node of
** 'stack'; 0: of none. For 'cpu', see 'timer_now'.
*/
static void watcher_ask (Watcher *w, uint64_t now, uint64_t stack,
                         uint64_t cpu) {
  watcher_expect(w, WATCHER_ASKED, now, stack);
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
  return __atomic_load_n(&w->asked, __ATOMIC_SEQ_CST) == WATCHER_ASKED &&
         now - w->pace->due < WATCHER_LOST;
}


/* Does the timer count the time in which the thread runs? */
static int watcher_counts (Pace *p) {
  if (p->counts && !timer_iscounting(p->timer)) p->counts = 0;
  return p->counts;
}


/*
** Handles a look that finds the thread ready to run, but without a processor.
** There are three reasons:
**   - this look has taken the processor from it: the thread counts as running;
**   - other programs have the processor: this time is charged to nothing;
**   - a wait of the thread has just ended: a signal would still make the system
**     call fail, so there must be no tick now.
** Which one it is can be told only when the thread has run again, so another
** look comes soon. Returns the ns until that look.
*/
static uint64_t watcher_ready (Watcher *w, const Watch *watch, uint64_t now,
                               uint64_t cpu) {
  WatcherReady *r = &w->ready;
  r->at = now;
  r->cpu = cpu;
  r->known = watch_queued(watch, &r->queued);
  watcher_expect(w, WATCHER_MAYBE, now, 0);
  w->mean += WATCHER_SOON;
  return WATCHER_SOON;
}


/*
** The look 'r' has found the thread ready. Did the thread run until that look,
** and does it run again at 'now', when its processor time is 'cpu'? It has lost
** the processor at 'now', less the time that it has run since, less the time
** that it has waited for the processor. If that was when the look began, the
** look itself has taken the processor.
*/
static int watcher_ranuntil (const WatcherReady *r, const Watch *watch,
                             uint64_t now, uint64_t cpu) {
  WatchQueued q;
  if (cpu == r->cpu || (watch_cpu(watch) == cpu && watch_waits(watch)))
    return 0;
  if (!r->known || !watch_queued(watch, &q)) return 1;
  return q.times == r->queued.times + 1 &&
         now - (cpu - r->cpu) - (q.ns - r->queued.ns) + WATCHER_SWITCH > r->at;
}


/*
** A look at the thread, at 'now', when its processor time was 'cpu'. Sets
** '*waited' to how long the thread has waited so far. Returns the ns until a
** second look that completes this one; 0: there is none. Where the timer
** counts, no tick is requested for a thread that runs: the timer finds such a
** thread by itself.
*/
static uint64_t watcher_see (Watcher *w, const Watch *watch, uint64_t now,
                             uint64_t cpu, uint64_t *waited) {
  WatcherReady before = w->ready;
  int counts = watcher_counts(w->pace);
  w->ready.at = 0;
  if (watcher_expects(w, now)) return 0;
  if (before.at != 0) {
    if (__atomic_exchange_n(&w->asked, WATCHER_NONE, __ATOMIC_SEQ_CST) !=
          WATCHER_NONE && watcher_ranuntil(&before, watch, now, cpu))
      watcher_ask(w, now, 0, cpu);
  }
  else if (watch_cpu(watch) != cpu) {
    if (!counts) watcher_ask(w, now, 0, cpu);
  }
  else if (cpu != w->cpu && !watch_waits(watch))
    return counts ? 0 : watcher_ready(w, watch, now, cpu);
  else {
    watcher_wait(w, watch, now, cpu);
    if (w->cpu == cpu) *waited = now - w->since;
  }
  return 0;
}


/* A look at the thread that is watched, see WatchLook. */
static uint64_t watcher_look (void *ud, const Watch *watch) {
  Watcher *w = cast(Watcher *, ud);
  uint64_t rests = w->rests, now = platform_monotonic(), waited = 0, cpu, soon;
  if (__atomic_exchange_n(&w->anew, 0, __ATOMIC_SEQ_CST))
    return pace_rest(w->pace, 0, &w->mean);
  if (rests != 0) {
    w->ready.at = 0;
    return pace_rest(w->pace, now - rests, &w->mean);
  }
  cpu = watch_cpu(watch);
  if (cpu == 0) return 0;
  soon = watcher_see(w, watch, now, cpu, &waited);
  return soon > 0 ? soon : pace_rest(w->pace, waited, &w->mean);
}


/* Can the watching thread read memory that may have been freed? */
static int watcher_reads (const Running *running) {
  char from = 0, to;
  return running->at != NULL &&
         platform_copy(platform_process(), &from, &to, sizeof to) == 1;
}


void watcher_begin (Watcher **to, Pace *p, const Running *running,
                    const OpenZones *zones) {
  Watcher *w = NULL;
  if (watcher_reads(running)) w = cast(Watcher *, calloc(1, sizeof *w));
  *to = w;
  if (w == NULL) return;
  w->pace = p;
  w->running = running;
  w->zones = zones;
  blocked_init(&w->stacks);
  p->watched = 1;
  w->watch = watch_begin(watcher_look, w, pace_rest(p, 0, &w->mean));
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
  __atomic_store_n(&w->asked, WATCHER_NONE, __ATOMIC_SEQ_CST);
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
  if (!watcher_asks(w)) return 1;
  if (__atomic_exchange_n(&w->asked, WATCHER_NONE, __ATOMIC_SEQ_CST) ==
      WATCHER_NONE)
    return w->pace->counts;
  t->ns = w->stands;
  t->stack = w->unknown;
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

/*
** See watcher.h
*/

#include "sample/watcher.h"

#if PLATFORM_WATCH

#include <stdlib.h>


#define WATCHER_LOST	1000000000u	/* ns after which a tick may not come any
					   more, and another one is asked for */


#define WATCHER_LONG	5000000u	/* ns of a rest after which looks are rare */

static void watcher_ask (Watcher *w, uint64_t now, uint64_t stack,
                         uint64_t running) {
  w->unknown = stack;
  pace_due(w->pace, now, w->mean);
  __atomic_store_n(&w->asked, 1, __ATOMIC_SEQ_CST);
  timer_now(w->pace->timer, running);
}


/*
** It waits. While it does, its processor time stays as it is, so that what
** was read is known to be of one moment. A tick that has come already counts
** all of the wait.
*/
static void watcher_wait (Watcher *w, const Watch *watch, uint64_t now,
                          uint64_t cpu) {
  const Pace *p = w->pace;
  if (cpu != w->cpu) {
    w->stack = blocked_stack(w->running);
    if (watch_cpu(watch) != cpu) return;
    w->cpu = cpu;
    w->since = now;
  }
  if (p->weight == 0 &&
      (w->stack == 0 || !blocked_wait(&w->stacks, w->stack, now, w->mean,
                                      w->mean / p->interval)))
    watcher_ask(w, now, w->stack, 0);
}


/* Does the thread run, or is it ready to, rather than wait? */
static int watcher_runs (const Watcher *w, const Watch *watch,
                         uint64_t cpu) {
  return watch_cpu(watch) != cpu || (cpu != w->cpu && !watch_waits(watch));
}


static uint64_t watcher_look (void *ud, const Watch *watch) {
  Watcher *w = cast(Watcher *, ud);
  uint64_t rests = w->rests, now = platform_monotonic(), cpu, waited = 0;
  if (__atomic_exchange_n(&w->anew, 0, __ATOMIC_SEQ_CST))
    return pace_rest(w->pace, 0, &w->mean);
  if (rests != 0) return pace_rest(w->pace, now - rests, &w->mean);
  cpu = watch_cpu(watch);
  if (cpu == 0) return 0;
  if (__atomic_load_n(&w->asked, __ATOMIC_SEQ_CST) &&
      now - w->pace->due < WATCHER_LOST) waited = 0;
  else if (watcher_runs(w, watch, cpu)) watcher_ask(w, now, 0, now);
  else {
    watcher_wait(w, watch, now, cpu);
    if (w->cpu == cpu) waited = now - w->since;
  }
  return pace_rest(w->pace, waited, &w->mean);
}


/* Can another thread read what may not be there? */
static int watcher_reads (const Running *running) {
  char from = 0, to;
  return running->at != NULL &&
         platform_copy(platform_process(), &from, &to, sizeof to) == 1;
}


void watcher_begin (Watcher **to, Pace *p, const Running *running) {
  Watcher *w = NULL;
  if (watcher_reads(running)) w = cast(Watcher *, calloc(1, sizeof *w));
  *to = w;
  if (w == NULL) return;
  w->pace = p;
  w->running = running;
  blocked_init(&w->stacks);
  p->watched = 1;
  w->watch = watch_begin(watcher_look, w, pace_rest(p, 0, &w->mean));
  if (w->watch != NULL) return;
  p->watched = 0;
  *to = NULL;
  watcher_free(w);
}


void watcher_rest (Watcher *w) {
  w->rests = platform_monotonic();
}


/* After a long rest, the next look may be far away. */
void watcher_resume (Watcher *w) {
  uint64_t rested = platform_monotonic() - w->rests;
  __atomic_store_n(&w->asked, 0, __ATOMIC_SEQ_CST);
  w->rests = 0;
  if (rested < WATCHER_LONG) return;
  __atomic_store_n(&w->anew, 1, __ATOMIC_SEQ_CST);
  watch_wake(w->watch);
}


void watcher_end (Watcher *w) {
  watch_end(w->watch);
}


void watcher_free (Watcher *w) {
  blocked_free(&w->stacks);
  free(w);
}


int watcher_tick (Watcher *w, uint64_t *stack) {
  int asked = __atomic_exchange_n(&w->asked, 0, __ATOMIC_SEQ_CST);
  *stack = w->unknown;
  return asked;
}


void watcher_learn (Watcher *w, uint64_t stack, Node *node) {
  if (blocked_stack(w->running) == stack)
    blocked_learn(&w->stacks, stack, node, platform_monotonic());
}

#endif

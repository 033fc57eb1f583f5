/*
** How long calls take, for the histograms of count/durations.h: without the
** time in which the coroutine of the call was suspended. Of recursion, only
** the outermost call counts.
*/

#ifndef calltime_h
#define calltime_h

#include "follow/recorder.h"


/* The time of a call is never 0, which stands for an unknown one. */
#define CALLTIME_FIRST	((uint64_t)1 << 62)

/*
** The ticks in which functions have run so far, less overhead, which is
** estimated by the number of events. In mode line, events cost too different
** amounts: there, 'eventcost' is 0, and reports take the overhead out, by its
** share of the function's total.
*/
static INLINE uint64_t calltime_now (const Hot *h) {
  const Tree *t = h->tree;
  const Figures *f = h->recording->figures;
  uint64_t ticks = h->last + f->backwards_ticks - f->begun - f->paused -
                   t->overhead->self;
  if (unlikely(t->unrecorded != NULL)) ticks -= t->unrecorded->self;
  return CALLTIME_FIRST + ticks -
         (hot_events(h) * h->eventcost >> CALLTIME_SHIFT);
}

/* The beginning of a call in the current coroutine, for its frame. */
static INLINE uint64_t calltime_begin (const Hot *h) {
  return calltime_now(h) - h->suspended;
}

/*
** The waited, preempted and overhead ticks so far: 'calltime_now' has none of
** them.
*/
static INLINE DurationParts calltime_parts (const Hot *h) {
  DurationParts p;
  p.waited = h->waited;
  p.preempted = h->recording->figures->preempted;
  p.overhead = h->tree->overhead->self +
               (hot_events(h) * h->eventcost >> CALLTIME_SHIFT);
  return p;
}

/* The call of 'f' in the current coroutine begins; 'limit' is its stack's. */
static INLINE void calltime_enter (const Hot *h, Frame *limit, Frame *f) {
  f->as.begun = calltime_begin(h);
  *stack_parts(limit, f) = parts_subtract(calltime_parts(h), &h->away);
}

/*
** Fills in the parts of a call: 'begun' and 'ended' are 'calltime_parts' at its
** beginning and end, 'ticks' the time between these. What 'ticks' has beyond
** call->took is overhead.
*/
COLD CPROF_I void calltime_fill (SlowCall *call, uint64_t ticks,
                                 const DurationParts *begun,
                                 DurationParts ended);

/* Is there a frame with the node of 'f' below it? */
COLD CPROF_I int calltime_within (const Stack *s, const Frame *f);

/* Is the call of 'f' the outermost one of its function? */
static INLINE int calltime_outermost (const Hot *h, const Stack *s,
                                      const Frame *f) {
  const Node *n = f->node;
  if (n->nested) return 0;
  if (likely(h->fold ? n->as.folded.active <= 1 : !n->as.full.entered))
    return 1;
  return !calltime_within(s, f);
}

/* Keeps a call of 's' that was one of the slowest of its function. */
COLD CPROF_I void calltime_slow (const Hot *h, const Stack *s,
                                 const Frame *f, uint64_t now,
                                 uint64_t took);

/* Adds a call of 's' that has ended at 'now', by its coroutine's time. */
static INLINE void calltime_add (const Hot *h, const Stack *s, const Frame *f,
                                 uint64_t now) {
  Durations *d = tree_durations(h->tree, f->is.func);
  uint64_t took = now - f->as.begun - h->leafcost;
  if (unlikely(took > INT64_MAX)) took = 0;  /* all of it was overhead */
  durations_add(d, clock_ns(h->scale, took));
  if (unlikely(durations_isslow(d, took))) calltime_slow(h, s, f, now, took);
}

/* The function on top returns. */
static INLINE void calltime_return (const Hot *h) {
  const Frame *f = h->top;
  const Stack *s = h->recorder->current;
  if (f->as.begun != 0 && !(f->is.flags & FRAME_EXCLUDED) &&
      calltime_outermost(h, s, f))
    calltime_add(h, s, f, calltime_begin(h));
}

/*
** Adds the calls of the frames above 'from', which are about to be removed. To
** be called only where durations of calls are counted.
*/
COLD CPROF_I void calltime_ended (const Hot *h, const Stack *s, Frame *from,
                                  Frame *top);

/* Notes that the coroutine of 's' is suspended, or goes on. */
CPROF_I void calltime_suspend (const Hot *h, Stack *s);
CPROF_I void calltime_resume (const Hot *h, Stack *s);

#endif

/*
** Drives Lua's collector: a step that is due is put off until the next
** event, and made there, so that its time is known. Steps are as large as
** they would have been.
**
** To put steps off, Lua's debt is lowered by a small part of the heap. If no
** event comes for long, as in a C function, Lua makes its steps itself.
** Following the debt from request to request tells whether it is still
** lowered.
*/

#ifndef collector_h
#define collector_h

#include "follow/recorder.h"


typedef struct Collector {
  int on;
  int frozen;		/* does nogc.h hold the collector off? */
  const int64_t *debt;	/* Lua's debt in bytes; above 0, Lua makes a step */
  int64_t before;	/* the debt at the last request */
  int64_t change;	/* bytes by which that request was to change it */
  int64_t held;		/* bytes that the debt is lowered by; 0: it is not */
  int64_t due;		/* debt at which a step, or the next attempt to hold
			   the collector off, is due; INT64_MIN: at once */
  int64_t quiet;	/* bytes until the next attempt to hold it off */
  uint64_t gone;	/* number of events when the running coroutine's memory
			   was freed, plus one */
  uint64_t cycle;	/* see collection.h */
  uint32_t func;	/* the zone (garbage collector) */
  Recorder *recorder;
} Collector;

/* Can the collector of L's state be driven? */
COLD CPROF_I int collector_usable (lua_State *L);

/*
** Begins to drive the collector, when recording has begun or goes on. 0:
** out of memory.
*/
COLD CPROF_I int collector_begin (Collector *c, Recorder *r, lua_State *L);

/* Ends driving the collector, which must have been released before. */
COLD CPROF_I void collector_end (Collector *c);

/*
** Restores Lua's debt until the next event. Lua makes a step if one is due,
** and finalizers may do anything to the recorder.
*/
COLD CPROF_I void collector_release (Collector *c, lua_State *L);

/*
** To be called in an event in L, whose stack is current. Makes the step if
** one is due, and puts the next one off. Returns the ticks that the step took,
** up to the last event; COLLECTOR_NONE: no step was counted.
*/
COLD CPROF_I uint64_t collector_step (Collector *c, lua_State *L);

#define COLLECTOR_NONE	UINT64_MAX

/*
** Call these before and after code of the profiler that makes garbage while
** nothing is recorded. In between, Lua makes its own steps, unless a step of
** the program is due.
*/
CPROF_I void collector_lend (Collector *c, lua_State *L);
CPROF_I void collector_retake (Collector *c, lua_State *L);

/*
** Call these before and after others change the debt. 'same': it still has the
** meaning that it had before, so it is still lowered.
*/
COLD CPROF_I void collector_freeze (Collector *c);
COLD CPROF_I void collector_thaw (Collector *c, int same);

/* Requests an event to make the step in, see Hooks.pending. */
COLD CPROF_I void collector_due (Collector *c, const Hot *h, int64_t change);

/* Notes that the debt is no longer lowered. */
static INLINE void collector_lose (Collector *c) {
  c->held = 0;
  c->due = INT64_MIN;
}

/*
** Compares Lua's debt with the value that the last request must have led
** to. The old value is right, too: a failed request, or one by a C library,
** does not change it. A host adds whole KB with LUA_GCSTEP, after which the
** debt is still lowered. Any other value shows that it was set anew. 'change'
** is what the next request adds; 0: it is not known yet.
*/
static INLINE void collector_look (Collector *c, int64_t change) {
  int64_t debt = *c->debt, by = debt - c->before - c->change;
  if (unlikely(by != 0 && debt != c->before) && by % 1024 != 0 && !c->frozen)
    collector_lose(c);
  c->before = debt;
  c->change = change;
}

/*
** Notes a request of 'change' bytes before it is made. Returns whether a
** step is due. The request may free the running coroutine itself, whose
** hook must not be set afterwards; 'gone' notes that.
*/
static INLINE int collector_see (Collector *c, const Hot *h, const void *p,
                                  size_t size, int64_t change) {
  collector_look(c, change);
  if (change <= 0) {
    if (unlikely((uintptr_t)h->L - (uintptr_t)p < size))
      c->gone = hot_events(h) + 1;
    return 0;
  }
  return c->before + change > c->due;
}

#endif

/*
** The collector, driven: Lua's own steps are held off until the debt that
** they are due at has come up, and are then made in the next event, so that
** their time is known. They are as large as they would have been.
**
** To hold them off, Lua is told that it has allocated less than it has, by
** a small part of the heap: if no event comes for long, in a C function, it
** makes its steps itself. Whether it still believes that is seen by
** following its count from request to request.
*/

#ifndef collector_h
#define collector_h

#include "follow/recorder.h"


typedef struct Collector {
  int on;
  int frozen;		/* someone else holds the collector off: nogc.h */
  const int64_t *debt;	/* bytes; beyond 0, Lua makes a step */
  int64_t before;	/* what it was at the last request ... */
  int64_t change;	/* ... which was about to change it by this */
  int64_t held;		/* what it is too low by; 0: it is not */
  int64_t due;		/* what it is when a step is due, or a try to hold it;
			   INT64_MIN: that is due at once */
  int64_t quiet;	/* bytes until it is worth to try again */
  lua_State *asked;	/* whose next instruction is to be an event */
  uint64_t gone;	/* events until the coroutine was freed, plus one */
  uint64_t cycle;	/* see collection.h */
  uint32_t func;	/* the zone */
  Recorder *recorder;
} Collector;

/* Can the collector of L's state be driven? */
CPROF_I int collector_usable (lua_State *L);

/* Begins to drive it; recording has begun, or goes on. 0: out of memory. */
CPROF_I int collector_begin (Collector *c, Recorder *r, lua_State *L);

/* It is Lua's own again; to be released before. */
CPROF_I void collector_end (Collector *c);

/*
** Lua's count is what it would be, until the next event. It makes its step,
** if one is due: finalizers may do anything to the recorder.
*/
CPROF_I void collector_release (Collector *c, lua_State *L);

/* Makes the step that is due, in an event in L, whose stack is current. */
CPROF_I void collector_step (Collector *c, lua_State *L);

/* The debt is about to be changed by others, or has been. */
CPROF_I void collector_freeze (Collector *c);
CPROF_I void collector_thaw (Collector *c, int same);

/* Asks for an event, see Hooks.pending. */
COLD CPROF_I void collector_due (Collector *c, const Hot *h, int64_t change);

static INLINE void collector_lose (Collector *c) {
  c->held = 0;
  c->due = INT64_MIN;
}

/*
** Is Lua's count what it was left at? A request that failed, and one of a
** C library, does not change it.
*/
static INLINE void collector_look (Collector *c) {
  int64_t debt = *c->debt;
  if (unlikely(debt != c->before + c->change && debt != c->before) &&
      !c->frozen)
    collector_lose(c);
  c->before = debt;
}

/*
** A request is about to be made, of 'change' bytes. Memory of a coroutine
** may be what is freed, whose hook must not be set. Returns whether a step
** is due.
*/
static INLINE int collector_see (Collector *c, const Hot *h, const void *p,
                                  size_t size, int64_t change) {
  collector_look(c);
  c->change = change;
  if (change <= 0) {
    if (unlikely((uintptr_t)h->L - (uintptr_t)p < size))
      c->gone = hot_events(h) + 1;
    return 0;
  }
  return c->before + change > c->due;
}

#endif

/*
** Finds the coroutine that runs: starts at the main thread, and follows what
** coroutine.resume and coroutine.wrap have resumed. Works in signal handlers.
*/

#ifndef running_h
#define running_h

#include "base/probe.h"
#include "identity/library.h"
#include "internals/internals.h"


typedef struct Running {
  lua_State *main;
  const void *shared;	/* the global_State, which all coroutines point to */
  const InternalsState *at;	/* NULL: only the main thread is known */
  MemoryProbe probe;
  Library library;
  PlatformStack stack;	/* C stack of the thread that runs the state */
} Running;

/*
** Begins for the state of 'main', which this thread runs. Where Lua's
** structures are not read, only the main thread is ever found.
*/
CPROF_I void running_begin (Running *r, lua_State *main, const Library *l);
CPROF_I void running_end (Running *r);

/* Notes that this thread runs the state from now on, on its present C stack. */
CPROF_I void running_enter (Running *r);

/*
** Does another thread run the state? A host may have moved it without telling
** us, so this compares the C stack in use. 0 also where that is not known, as
** no protected call is active. May be called in a signal handler, in any
** thread.
*/
CPROF_I int running_elsewhere (const Running *r);

/*
** Returns the coroutine that runs. May be called in a signal handler, in the
** thread that runs the state. It allocates and locks nothing, and calls
** nothing but the system.
**
** What is safe: the main thread, and coroutines that were found to run, are
** not collected. Their current CallInfo is a valid one at any moment, and if
** it is marked as a Lua function's, the coroutine waits for no other.
**
** What is not: the function of the CallInfo may not be set yet, and the stack
** may be moving. So the system copies stack slots and what they point to, and
** fails where memory cannot be read. A value and its tag may be of different
** moments. So what looks like a coroutine must have the tag of one, belong to
** this state, have neither yielded nor ended, and run a function.
*/
CPROF_I lua_State *running_find (const Running *r);

/*
** Does L run, or wait for a coroutine that it has resumed? May be called like
** 'running_find'; L may have been collected.
*/
CPROF_I int running_is (const Running *r, const lua_State *L);

#define RUNNING_VALUE	16	/* bytes of a slot */

/*
** The coroutine that a call resumes. 'slots' is a copy of two stack slots, the
** called function and its first argument. If 'trusted', a closure there can be
** read; else, this may be called in any thread. NULL: none.
*/
CPROF_I const void *running_thread (const Running *r, const void *slots,
                                    int trusted);

/* Does a function run in 'co', if that is a coroutine? In any thread. */
CPROF_I int running_runs (const Running *r, const void *co);

/*
** In a hook: the coroutine that L, which waits, has resumed; NULL: a host
** resumed it, so L does not tell.
*/
CPROF_I lua_State *running_awaited (const Running *r, const lua_State *L);

/* the Lua function on top of a coroutine at the moment of a signal */
typedef struct RunningTop {
  const lua_State *L;	/* NULL: no Lua function, or not known */
  CallAddress ci;
  const void *closure;
  const void *pc;	/* the last saved instruction */
  const void *stack, *end;	/* if a call has not changed these, the stack
				   did not grow, so nothing was collected */
} RunningTop;

/* Sets '*top' to what runs in L. May be called like 'running_find'. */
CPROF_I void running_look (const Running *r, const lua_State *L,
                           RunningTop *top);

/*
** In the hook of a tail call in 'ci', which is the first event since
** 'running_look': the closure that made the tail call, which is not collected
** yet. NULL: it is not known.
*/
CPROF_I const void *running_replaced (const Running *r, const RunningTop *top,
                                      const lua_State *L, CallAddress ci);

#endif

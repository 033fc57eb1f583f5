/*
** The coroutine that runs, found from the main thread along what
** coroutine.resume and coroutine.wrap have resumed; also in a signal
** handler.
*/

#ifndef running_h
#define running_h

#include "base/probe.h"
#include "identity/library.h"
#include "internals/internals.h"


typedef struct Running {
  lua_State *main;
  const void *shared;	/* what the coroutines of a state have in common */
  const InternalsState *at;	/* NULL: only the main thread is known */
  MemoryProbe probe;
  Library library;
  PlatformStack stack;	/* of the thread that runs the state */
} Running;

/*
** For the state of L, which this thread runs. Without Lua's structures, it
** finds the main thread.
*/
CPROF_I void running_begin (Running *r, lua_State *main, const Library *l);
CPROF_I void running_end (Running *r);

/* This thread runs the state from now on, from the C stack in use now. */
CPROF_I void running_enter (Running *r);

/*
** Does another thread run the state, as its C stack tells? A host may not
** have said so. 0 also where nothing is called in protected mode. May be
** called in a signal handler, in any thread.
*/
CPROF_I int running_elsewhere (const Running *r);

/*
** May be called in a signal handler, in the thread that runs the state. It
** allocates and locks nothing, and makes no calls but to the system.
**
** The main thread and the coroutines that were found to run are not
** collected. Their CallInfo is one at any time, and where it is marked as a
** Lua function's, no coroutine is waited for. But its function may not be
** set yet, and the stack may be moving: so stack slots, and what these point
** to, are copied by the system, which fails where nothing can be read. A
** value and its tag may not be of the same moment: so what seems to be a
** coroutine must have the tag of one, belong to this state, have neither
** yielded nor ended, and run a function.
*/
CPROF_I lua_State *running_find (const Running *r);

/* Is this a coroutine that runs, or waits? As above; L may be collected. */
CPROF_I int running_is (const Running *r, const lua_State *L);

/*
** In a hook, the coroutine that L, which does not run itself, has resumed
** and waits for; NULL: a host resumed it.
*/
CPROF_I lua_State *running_awaited (const Running *r, const lua_State *L);

/* the Lua function on top of a coroutine, at some moment */
typedef struct RunningTop {
  const lua_State *L;	/* NULL: there is none, or it is not known */
  CallAddress ci;
  const void *closure;
  const void *pc;	/* the last one that was stored */
  const void *stack, *end;	/* as long as they stay, nothing is collected
				   while a function is called */
} RunningTop;

/* What runs in L, in a signal handler, as above. */
CPROF_I void running_look (const Running *r, const lua_State *L,
                           RunningTop *top);

/*
** In the hook of a tail call in 'ci', the first event since 'running_look':
** the closure that has been replaced, which is not collected yet; NULL: it
** is not known.
*/
CPROF_I const void *running_replaced (const Running *r, const RunningTop *top,
                                      const lua_State *L, CallAddress ci);

#endif

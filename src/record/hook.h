/*
** The hook: from the events of Lua's virtual machine to counters.
*/

#ifndef hook_h
#define hook_h

#include "record/recorder.h"


/*
** The function that is called once, when something is to be done at the
** next event.
*/
CPROF_I void hook_pending (lua_State *L, lua_Debug *ar);

/* Is it one that passes count events on? */
CPROF_I int hook_counts (lua_Hook f);

/* the event function for the coroutine of 's' */
CPROF_I lua_Hook hook_function (const Hot *h, const Stack *s);

/* Is it one of these? */
CPROF_I int hook_is (lua_Hook f);

/* The recorder that runs in L's state, or NULL. */
CPROF_I Recorder *hook_recorder (lua_State *L);

#endif

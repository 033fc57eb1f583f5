/*
** The hook: from the events of Lua's virtual machine to counters.
*/

#ifndef hook_h
#define hook_h

#include "record/recorder.h"


/* the event function for the coroutine of 's' */
CPROF_I lua_Hook hook_function (const Hot *h, const Stack *s);

/* Is it one of these? */
CPROF_I int hook_is (lua_Hook f);

/* The recorder that runs in L's state, or NULL. */
CPROF_I Recorder *hook_recorder (lua_State *L);

#endif

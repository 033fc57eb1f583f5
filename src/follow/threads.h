/*
** Which coroutines have a stack, and which of them still exist.
*/

#ifndef threads_h
#define threads_h

#include "follow/recorder.h"


/* To be called once for a state. */
CPROF_I void threads_init (lua_State *L);

/*
** The stack of coroutine L, made if need be. Removes stacks of collected
** coroutines: that of an earlier one at L's address at once, others now and
** then. NULL: out of memory.
*/
CPROF_I Stack *threads_stack (Recorder *r, lua_State *running, lua_State *L);

/* Removes the stacks of collected coroutines. */
CPROF_I void threads_sweep (Recorder *r, lua_State *running);

/* Does the coroutine of this stack still exist? */
CPROF_I int threads_alive (const Recorder *r, lua_State *running,
                            const Stack *s);

/* Is the coroutine of this stack suspended? If not, it runs or has ended. */
CPROF_I int threads_suspended (const Recorder *r, lua_State *running,
                               const Stack *s);

#endif

/*
** Which coroutines are known, and still exist.
*/

#ifndef threads_h
#define threads_h

#include "follow/recorder.h"


/* To be called once for a state. */
CPROF_I void threads_init (lua_State *L);

/*
** The stack of coroutine L, made if need be; removes those of coroutines
** that were collected: of one at the same address at once, of others now
** and then. NULL: out of memory.
*/
CPROF_I Stack *threads_stack (Recorder *r, lua_State *running, lua_State *L);

/* Does the coroutine of this stack still exist? */
CPROF_I int threads_alive (const Recorder *r, lua_State *running,
                            const Stack *s);

#endif

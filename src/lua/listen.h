/*
** Listening: a program that runs untouched until a signal comes. The
** signal's handler sets a hook, which calls a function of the Lua part at
** the next event of the coroutine that runs.
*/

#ifndef listen_h
#define listen_h

#include <lauxlib.h>

#include "base/platform.h"


/* the Lua functions of this */
CPROF_I const luaL_Reg *listen_functions (void);

/* makes the metatable of what ends listening when the state is closed */
CPROF_I void listen_open (lua_State *L);

#if PLATFORM_SIGNALS
/*
** From now on, the handler of signals counts those that have reached the
** thread they are for, by the digit at this offset of an open file.
*/
CPROF_I void listen_countin (int fd, size_t offset);

/* Before a hook raises an error: who waits for an answer gets it later. */
CPROF_I void listen_again (lua_State *L);

/*
** If 'f' is the hook that a signal has set in L, it is set again, over the
** one that L has by now. 0: it is another one.
*/
CPROF_I int listen_pending (lua_State *L, lua_Hook f);

/*
** This thread runs L's state from now on: signals are for it. What another
** one has asked for is sent at the next event.
*/
CPROF_I void listen_enter (lua_State *L);
#endif

#endif

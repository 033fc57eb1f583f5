/*
** Signals that end the program, for the command: Ctrl-C is an error in it,
** as in the standalone interpreter, and before a signal kills the process,
** another one reports what is in the recording's file.
*/

#ifndef signals_h
#define signals_h

#include <lauxlib.h>

#include "base/platform.h"


/* the Lua functions of this */
CPROF_I const luaL_Reg *signals_functions (void);

#if PLATFORM_SIGNALS
/* See 'listen_pending'. */
CPROF_I int signals_again (lua_State *L, lua_Hook f);
#endif

#endif

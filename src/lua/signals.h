/*
** Signals that end the program, for the command. Ctrl-C raises an error in the
** program, as in the standalone interpreter. Before a signal kills the process,
** another process reports what is in the recording's file.
*/

#ifndef signals_h
#define signals_h

#include <lauxlib.h>

#include "base/platform.h"


/* the Lua functions of this */
CPROF_I const luaL_Reg *signals_functions (void);

#if PLATFORM_SIGNALS
/*
** If 'f' is the hook that Ctrl-C has set in L, sets it again, in the place of
** the hook that L has by now. 0: 'f' is another one.
*/
CPROF_I int signals_again (lua_State *L, lua_Hook f);
#endif

#endif

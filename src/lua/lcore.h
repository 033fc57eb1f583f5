/*
** The core as Lua sees it: the functions of "cprof.core", which the Lua
** part (lua/cprof) builds on. It checks all options and names.
*/

#ifndef lcore_h
#define lcore_h

#include <lua.h>

#include "base/platform.h"


/*
** Stops the recording, measures costs again, and completes the file. 0:
** nothing is being recorded.
*/
CPROF_I int lcore_stop (lua_State *L);

#endif

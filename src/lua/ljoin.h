/*
** Joining two trees, for the Lua part.
*/

#ifndef ljoin_h
#define ljoin_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *ljoin_functions (void);

/* Makes the metatable. */
CPROF_I void ljoin_open (lua_State *L);

#endif

/*
** Saves a profile of the Lua part to a file.
*/

#ifndef lsave_h
#define lsave_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *lsave_functions (void);

/* Makes the metatable. */
CPROF_I void lsave_open (lua_State *L);

#endif

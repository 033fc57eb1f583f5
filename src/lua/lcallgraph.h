/*
** Sums over the nodes of a profile, as Lua asks for them; and sums of
** several profiles.
*/

#ifndef lcallgraph_h
#define lcallgraph_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *lcallgraph_functions (void);

/* Makes the metatables. */
CPROF_I void lcallgraph_open (lua_State *L);

#endif

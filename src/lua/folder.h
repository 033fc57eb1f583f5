/*
** Lists the contents of folders.
*/

#ifndef folder_h
#define folder_h

#include <lauxlib.h>

#include "base/platform.h"


/* the Lua functions of this */
CPROF_I const luaL_Reg *folder_functions (void);

CPROF_I void folder_open (lua_State *L);

#endif

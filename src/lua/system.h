/*
** What the command needs of the operating system: terminals, kinds and texts of
** files, processes, the time.
*/

#ifndef system_h
#define system_h

#include <lauxlib.h>

#include "base/platform.h"


/* the Lua functions of this */
CPROF_I const luaL_Reg *system_functions (void);

/* the function that 'core.saying' makes; it may run while recording */
CPROF_I int system_say (lua_State *L);

#endif

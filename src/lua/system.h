/*
** What the command needs of the operating system: terminals, what kind
** of file a path is, the text of a file, a folder of one's own.
*/

#ifndef system_h
#define system_h

#include <lauxlib.h>

#include "base/platform.h"


/* the Lua functions of this */
CPROF_I const luaL_Reg *system_functions (void);

/* what 'core.saying' gives; it may run while recording */
CPROF_I int system_say (lua_State *L);

#endif

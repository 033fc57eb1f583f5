/*
** What processes of one user tell each other: small files in folders that
** only this user can write to, and signals.
*/

#ifndef private_h
#define private_h

#include <lauxlib.h>

#include "base/platform.h"


/* May nobody but this user read or write in the folder? It is made. */
CPROF_I int private_folder (const char *path);

/* the Lua functions of this */
CPROF_I const luaL_Reg *private_functions (void);

CPROF_I void private_open (lua_State *L);

#endif

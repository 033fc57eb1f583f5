/*
** Communication between processes of one user: small files in folders that
** only this user can write to, and signals.
*/

#ifndef private_h
#define private_h

#include <lauxlib.h>

#include "base/platform.h"


/* the Lua functions of this */
CPROF_I const luaL_Reg *private_functions (void);

CPROF_I void private_open (lua_State *L);

#endif

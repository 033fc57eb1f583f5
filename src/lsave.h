/*
** What Lua sees of files: saving a profile.
*/

#ifndef lsave_h
#define lsave_h

#include <lua.h>

#include "platform.h"


/* adds its function to the table on top of L */
CPROF_I void lsave_open (lua_State *L);

/* is it that? */
CPROF_I int lsave_own (lua_CFunction f);

#endif

/*
** What Lua sees of single stack states: those below one, and what some
** took on behalf of others.
*/

#ifndef lstates_h
#define lstates_h

#include <lua.h>

#include "platform.h"


/* adds its functions to the table on top of L */
CPROF_I void lstates_open (lua_State *L);

/* is it one of these? */
CPROF_I int lstates_own (lua_CFunction f);

#endif

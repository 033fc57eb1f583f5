/*
** Sums over the nodes of a profile, as Lua asks for them.
*/

#ifndef lsums_h
#define lsums_h

#include <lua.h>

#include "profile.h"


/* adds its functions to the table on top of L */
CPROF_I void lsums_open (lua_State *L);

/* is it one of these? */
CPROF_I int lsums_own (lua_CFunction f);

/* pushes a table of what is summed up */
CPROF_I void lsums_pushrow (lua_State *L, const SumRow *row);

#endif

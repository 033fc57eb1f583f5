/*
** What the command needs that Lua has not: Ctrl-C, the end of a program,
** sums of trees.
*/

#ifndef lcommand_h
#define lcommand_h

#include <lua.h>

#include "platform.h"


/* adds its functions to the table on top of L */
CPROF_I void lcommand_open (lua_State *L);

/* is it one of these? */
CPROF_I int lcommand_own (lua_CFunction f);

#endif

/*
** What Lua sees of the tree: its nodes in depth, one by one, without a
** table for each; and the definitions of a chunk.
*/

#ifndef lwalk_h
#define lwalk_h

#include <lua.h>

#include "platform.h"


/* adds its functions to the table on top of L */
CPROF_I void lwalk_open (lua_State *L);

/* is it one of these? */
CPROF_I int lwalk_own (lua_CFunction f);

#endif

/*
** Sums over the nodes of a profile, as Lua asks for them; and sums of
** several profiles.
*/

#ifndef lcallgraph_h
#define lcallgraph_h

#include <lauxlib.h>

#include "profile/merge.h"


CPROF_I const luaL_Reg *lcallgraph_functions (void);

/* Makes the metatables. */
CPROF_I void lcallgraph_open (lua_State *L);

/* Pushes an empty sum of trees. Its finalizer frees it at the latest. */
CPROF_I Merge *lcallgraph_newmerge (lua_State *L);

/*
** Pushes an array made of the two tables on top: a map { function -> function
** of the sum }, and above it the shifts { function -> number to add to its
** lines, or false: it is a zone }.
*/
CPROF_I MergeFunction *lcallgraph_mapping (lua_State *L, const Nodes *nodes);

/* Pushes the nodes of a sum, and frees it. */
CPROF_I void lcallgraph_pushmerge (lua_State *L, Merge *m);

#endif

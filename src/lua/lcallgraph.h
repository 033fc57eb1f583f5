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

/* Pushes an empty sum of trees, freed as garbage at the latest. */
CPROF_I Merge *lcallgraph_newmerge (lua_State *L);

/*
** { function -> function of the sum } and { function -> shift of its lines,
** or false: a zone } on top as an array; pushes it
*/
CPROF_I MergeFunction *lcallgraph_mapping (lua_State *L, const Nodes *nodes);

/* Pushes the nodes of a sum, and frees it. */
CPROF_I void lcallgraph_pushmerge (lua_State *L, Merge *m);

#endif

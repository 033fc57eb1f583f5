/*
** The nodes of a profile, for the Lua part: a userdata that makes a table for a
** node when it is indexed, and a walk over all nodes without any tables.
*/

#ifndef lnodes_h
#define lnodes_h

#include <lauxlib.h>

#include "profile/profile.h"


CPROF_I const luaL_Reg *lnodes_functions (void);

/* the metamethods of nodes, which count as the profiler's own functions */
CPROF_I const luaL_Reg *lnodes_methods (void);

/* Makes the metatable. */
CPROF_I void lnodes_open (lua_State *L);

/* The nodes at 'arg'; raises an error when there are none. */
CPROF_I Nodes *lnodes_check (lua_State *L, int arg);

/*
** Pushes 'count' nodes, all zero, for the caller to fill in. If 'memory' is not
** NULL, they have counters of allocations, and '*memory' is set to these.
*/
CPROF_I ProfileNode *lnodes_new (lua_State *L, uint32_t count,
                                 NodeMemory **memory);

/*
** Pushes the names of the metamethods in 'ways', see ProfileNode: "__add",
** "__eq, __lt"; "also __add" if there were ordinary calls, too; nil: none.
*/
CPROF_I void lnodes_pushways (lua_State *L, uint32_t ways);

/* Sets a field of the table on top. */
CPROF_I void lnodes_set (lua_State *L, const char *name, lua_Integer n);

/* Adds 1 to '*at', and stores a number there in the array on top. */
CPROF_I void lnodes_put (lua_State *L, lua_Integer *at, lua_Integer n);

/* Pushes a userdata, all zero, as an array that Lua's collector frees. */
CPROF_I void *lnodes_room (lua_State *L, size_t items, size_t size);

#define lnodes_array(L, t, n)	\
	cast(t *, lnodes_room(L, n, sizeof(t)))

#endif

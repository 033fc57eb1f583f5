/*
** The nodes of a profile, as Lua sees them: a value that makes a record
** when it is asked for one. And a walk over them without any records.
*/

#ifndef lnodes_h
#define lnodes_h

#include <lauxlib.h>

#include "profile/profile.h"


CPROF_I const luaL_Reg *lnodes_functions (void);

/* the metamethods of nodes, which are functions of cprof, too */
CPROF_I const luaL_Reg *lnodes_methods (void);

/* Makes the metatable. */
CPROF_I void lnodes_open (lua_State *L);

/* The nodes at 'arg'; raises an error when there are none. */
CPROF_I Nodes *lnodes_check (lua_State *L, int arg);

/*
** Pushes 'count' nodes of zeros, to be filled in; with what was allocated in
** them unless 'memory' is NULL, which is set to that.
*/
CPROF_I ProfileNode *lnodes_new (lua_State *L, uint32_t count,
                                 NodeMemory **memory);

/*
** Pushes the metamethods of 'ways', see ProfileNode: "__add", "__eq, __lt",
** or "also __add", where there are other calls, too; nil: there are none.
*/
CPROF_I void lnodes_pushways (lua_State *L, uint32_t ways);

/* Sets a field of the table on top. */
CPROF_I void lnodes_set (lua_State *L, const char *name, lua_Integer n);

/* Puts a number into the array on top, behind '*at', which is raised. */
CPROF_I void lnodes_put (lua_State *L, lua_Integer *at, lua_Integer n);

/* Pushes an array of zeros that is garbage of the state. */
CPROF_I void *lnodes_room (lua_State *L, size_t items, size_t size);

#define lnodes_array(L, t, n)	\
	cast(t *, lnodes_room(L, n, sizeof(t)))

#endif

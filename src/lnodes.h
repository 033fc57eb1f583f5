/*
** The nodes of a profile, as Lua sees them: a value that makes a record
** when it is asked for one.
*/

#ifndef lnodes_h
#define lnodes_h

#include <lua.h>

#include "profile.h"


CPROF_I void lnodes_open (lua_State *L);

/* the nodes at 'arg'; raises an error when there are none */
CPROF_I Nodes *lnodes_check (lua_State *L, int arg);

/* pushes room for 'count' nodes, to be filled in */
CPROF_I ProfileNode *lnodes_new (lua_State *L, uint32_t count);

/* sets a field of the table on top */
CPROF_I void lnodes_set (lua_State *L, const char *name, lua_Integer n);

/* pushes room that goes with the state's garbage */
CPROF_I void *lnodes_room (lua_State *L, size_t items, size_t size);

#define lnodes_array(L, t, n)	\
	cast(t *, lnodes_room(L, n, sizeof(t)))

#endif

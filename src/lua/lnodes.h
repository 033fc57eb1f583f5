/*
** The nodes of a profile, for the Lua part: a userdata that makes a table for a
** node when it is indexed, and a walk over all nodes without any tables.
*/

#ifndef lnodes_h
#define lnodes_h

#include <lauxlib.h>

#include "profile/profile.h"


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

/* One more than the highest function of the nodes. */
CPROF_I uint32_t lnodes_functions (const Nodes *nodes);

/* The group of each node, from 0, by { function -> group, from 1 } at 'arg'. */
CPROF_I uint32_t *lnodes_groups (lua_State *L, int arg, const Nodes *nodes,
                                 uint32_t groups, const Memory *m);

#endif

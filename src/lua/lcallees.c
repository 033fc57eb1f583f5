/*
** The callees of single nodes, for viewers that open a tree node by node.
*/

#include <stdlib.h>

#include "lua/lmemory.h"
#include "lua/lnodes.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "system/system.h"


#define CALLEES	"cprof.callees"

/* an index of the callees of all nodes of a profile */
typedef struct Callees {
  uint32_t count;
  NodeStep step[1];
} Callees;


/*
** Is the node shown as a callee? That of overhead is not. A node whose whole
** time was overhead is.
*/
static int callees_shown (const Nodes *nodes, uint32_t id) {
  const ProfileNode *n = &nodes->list[id];
  return n->calls > 0 || (n->rawtotal > 0 && id != NODE_OVERHEAD);
}


/* nodes -> callees, number of nodes that are shown as one */
static int callees_make (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  Callees *c = cast(Callees *, lmemory_block(L, sizeof *c +
                                             nodes->count * sizeof *c->step));
  lua_Integer shown = 0;
  uint32_t i;
  c->count = nodes->count;
  nodes_steps(nodes, c->step);
  luaL_setmetatable(L, CALLEES);
  for (i = 1; i < nodes->count; i++) shown += callees_shown(nodes, i);
  lua_pushinteger(L, shown);
  return 2;
}


static int callees_any (const Nodes *nodes, const Callees *c, uint32_t id) {
  uint32_t i = c->step[id].child;
  while (i != 0 && !callees_shown(nodes, i)) i = c->step[i].sibling;
  return i != 0;
}


typedef struct SortedCallee {
  int64_t total;
  uint32_t id;
} SortedCallee;


/* by total time; if equal, by age */
static int callees_order (const void *a, const void *b) {
  const SortedCallee *x = cast(const SortedCallee *, a);
  const SortedCallee *y = cast(const SortedCallee *, b);
  if (x->total != y->total) return x->total < y->total ? 1 : -1;
  return x->id < y->id ? -1 : x->id > y->id;
}


/* The callees of 'id' that are shown, in an array that it pushes. */
static SortedCallee *callees_sorted (lua_State *L, const Nodes *nodes,
                               const Callees *c, uint32_t id,
                               uint32_t *count) {
  uint32_t n = 0, i;
  SortedCallee *list;
  for (i = c->step[id].child; i != 0; i = c->step[i].sibling)
    n += (uint32_t)callees_shown(nodes, i);
  list = lmemory_array(L, SortedCallee, n);
  *count = n;
  n = 0;
  for (i = c->step[id].child; i != 0; i = c->step[i].sibling) {
    if (!callees_shown(nodes, i)) continue;
    list[n].total = nodes->list[i].total;
    list[n++].id = i;
  }
  qsort(list, n, sizeof *list, callees_order);
  return list;
}


/*
** nodes, callees, id -> { id, function, line of the call, has callees,
** ... }: the callees of a node that were called or took time; most time first
*/
static int callees_children (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  const Callees *c = cast(const Callees *, luaL_checkudata(L, 2, CALLEES));
  lua_Integer id = luaL_checkinteger(L, 3), at = 0;
  uint32_t count, i;
  const SortedCallee *list;
  luaL_argcheck(L, c->count == nodes->count, 2, "of another profile");
  luaL_argcheck(L, id >= 1 && id <= nodes->count, 3, "no such node");
  list = callees_sorted(L, nodes, c, (uint32_t)id - 1, &count);
  lua_createtable(L, (int)count * 4, 0);
  for (i = 0; i < count; i++) {
    const ProfileNode *n = &nodes->list[list[i].id];
    ltable_put(L, &at, (lua_Integer)list[i].id + 1);
    ltable_put(L, &at, (lua_Integer)n->func + 1);
    ltable_put(L, &at, n->call_line);
    lua_pushboolean(L, callees_any(nodes, c, list[i].id));
    lua_rawseti(L, -2, ++at);
  }
  return 1;
}


static const luaL_Reg lcallees_list[] = {
  {"callees", callees_make},
  {"children", callees_children},
  {NULL, NULL}
};


void lcallees_open (lua_State *L) {
  system_class(L, CALLEES, NULL);
  luaL_setfuncs(L, lcallees_list, 0);
}

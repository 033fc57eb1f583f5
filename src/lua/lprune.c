/*
** See lprune.h
*/

#include "lua/lprune.h"

#include "follow/recorder.h"
#include "lua/lcallgraph.h"
#include "lua/lnodes.h"
#include "lua/lstate.h"
#include "profile/prune.h"


static const Memory *prune_memory (lua_State *L) {
  return &lstate_recorder(L)->recording.memory;
}


static int prune_nomemory (lua_State *L) {
  return luaL_error(L, "cprof: out of memory");
}


static const Nodes *prune_nodes (lua_State *L, int arg) {
  const Nodes *nodes = lnodes_check(L, arg);
  luaL_argcheck(L, nodes->count > NODE_OVERHEAD, arg, "no overhead");
  return nodes;
}


/* Checks that all functions of the nodes have numbers from 0 to 'last'. */
static void prune_functions (lua_State *L, const Nodes *nodes, int arg,
                             lua_Integer last) {
  uint32_t i;
  luaL_argcheck(L, last >= 0 && last < UINT32_MAX, arg, "bad number");
  for (i = 0; i < nodes->count; i++)
    luaL_argcheck(L, nodes->list[i].func <= last, arg, "too few functions");
}


/* { function -> integer } at 'arg' as an array; pushes it. NULL: nil. */
static uint32_t *prune_integers (lua_State *L, int arg, uint32_t count) {
  uint32_t *list;
  uint32_t i;
  if (lua_isnoneornil(L, arg)) return NULL;
  luaL_checktype(L, arg, LUA_TTABLE);
  list = lnodes_array(L, uint32_t, count);
  for (i = 0; i < count; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    list[i] = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  return list;
}


/* { function -> boolean } at 'arg' as an array; pushes it. NULL: nil. */
static uint8_t *prune_flags (lua_State *L, int arg, uint32_t count) {
  uint8_t *list;
  uint32_t i;
  if (lua_isnoneornil(L, arg)) return NULL;
  luaL_checktype(L, arg, LUA_TTABLE);
  list = lnodes_array(L, uint8_t, count);
  for (i = 0; i < count; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    list[i] = (uint8_t)lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  return list;
}


/*
** nodes, number of functions, { function -> does the new tree begin with it? }
** or nil, { function -> is it a zone? } or nil: do not fold recursion -> nodes
*/
static int lprune_fold (lua_State *L) {
  const Nodes *nodes = prune_nodes(L, 1);
  uint32_t functions = (uint32_t)luaL_checkinteger(L, 2);
  const uint8_t *root, *zone;
  Merge *m;
  prune_functions(L, nodes, 2, (lua_Integer)functions - 1);
  lua_settop(L, 4);
  root = prune_flags(L, 3, functions);
  zone = prune_flags(L, 4, functions);
  m = lcallgraph_newmerge(L);
  if (!prune_fold(m, nodes, root, zone)) return prune_nomemory(L);
  lcallgraph_pushmerge(L, m);
  return 1;
}


/*
** The size of a tree in which nodes with less than 'ns' are added up, as nodes
** of one function more: nodes, ns, number of functions, and the three tables of
** PruneBytes, by function, of which the last two may be nil -> bytes, number of
** nodes, most nodes above one, ns of the nodes that are added up
*/
static int lprune_weigh (lua_State *L) {
  const Nodes *nodes = prune_nodes(L, 1);
  int64_t least = luaL_checkinteger(L, 2);
  uint32_t below = (uint32_t)luaL_checkinteger(L, 3);
  PruneBytes bytes;
  PruneSize size;
  prune_functions(L, nodes, 3, below);
  lua_settop(L, 6);
  bytes.node = prune_integers(L, 4, below + 1);
  bytes.copies = prune_integers(L, 5, below + 1);
  bytes.once = prune_integers(L, 6, below + 1);
  if (!prune_weigh(&size, prune_memory(L), nodes, least, &bytes, below))
    return prune_nomemory(L);
  lua_pushinteger(L, (lua_Integer)size.bytes);
  lua_pushinteger(L, size.nodes);
  lua_pushinteger(L, size.deepest);
  lua_pushinteger(L, size.below);
  return 4;
}


/* Pushes { function of the new tree -> function of the old one }. */
static void prune_pushfunctions (lua_State *L, const PruneCut *cut,
                                 const uint32_t *number, uint32_t count) {
  uint32_t i;
  lua_createtable(L, (int)cut->functions, 0);
  for (i = 0; i < count; i++) {
    if (number[i] == 0) continue;
    lua_pushinteger(L, (lua_Integer)i + 1);
    lua_rawseti(L, -2, number[i]);
  }
}


/*
** nodes, ns, number of functions -> nodes, { function of the new tree ->
** function of the old one }, number of nodes that had less than 'ns'. These are
** added up, as nodes of one function more.
*/
static int lprune_cut (lua_State *L) {
  const Nodes *nodes = prune_nodes(L, 1);
  int64_t least = luaL_checkinteger(L, 2);
  uint32_t below = (uint32_t)luaL_checkinteger(L, 3), *number;
  const Memory *m = prune_memory(L);
  const PruneBytes none = ZEROS;
  NodeMemory *memory = NULL;
  ProfileNode *list;
  PruneSize size;
  PruneCut cut;
  prune_functions(L, nodes, 3, below);
  number = lnodes_array(L, uint32_t, (size_t)below + 1);
  if (!prune_weigh(&size, m, nodes, least, &none, below))
    return prune_nomemory(L);
  list = lnodes_new(L, size.nodes, nodes->memory ? &memory : NULL);
  if (!prune_cut(&cut, m, nodes, least, below, list, memory, number))
    return prune_nomemory(L);
  prune_pushfunctions(L, &cut, number, below + 1);
  lua_pushinteger(L, cut.nodes);
  return 3;
}


static const luaL_Reg lprune_list[] = {
  {"foldpaths", lprune_fold},
  {"weigh", lprune_weigh},
  {"cut", lprune_cut},
  {NULL, NULL}
};


const luaL_Reg *lprune_functions (void) {
  return lprune_list;
}

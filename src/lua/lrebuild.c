/*
** Trees that are made of others, for the Lua part: see profile/rebuild.h
*/

#include "lua/lmemory.h"
#include "lua/lnodes.h"
#include "lua/parts.h"
#include "profile/rebuild.h"


/* Pushes the nodes of a new tree, and frees its memory. */
static void lrebuild_push (lua_State *L, Merge *m, Arena *a) {
  NodeMemory *memory = NULL;
  ProfileNode *list = lnodes_new(L, merge_count(m),
                                 m->allocated ? &memory : NULL);
  merge_copy(m, list, memory);
  arena_free(a);
}


/*
** A map from the functions of 'nodes' to those of a new tree: at 'map',
** { function -> new function }, and at 'map + 1', { function -> number to add
** to its lines, or false: it is a zone }.
*/
static MergeFunction *lrebuild_mapping (lua_State *L, int map,
                                        const Nodes *nodes,
                                        const Memory *m) {
  lua_Integer n, i;
  MergeFunction *f;
  luaL_checktype(L, map, LUA_TTABLE);
  luaL_checktype(L, map + 1, LUA_TTABLE);
  n = (lua_Integer)lua_rawlen(L, map);
  f = memory_new(m, MergeFunction, (size_t)n);
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, map, i + 1);
    f[i].func = (uint32_t)luaL_checkinteger(L, -1) - 1;
    lua_rawgeti(L, map + 1, i + 1);
    f[i].shift = lua_isinteger(L, -1) ? (int32_t)lua_tointeger(L, -1)
                                      : MERGE_ZONE;
    lua_pop(L, 2);
  }
  luaL_argcheck(L, lnodes_functions(nodes) <= n, map, "no such function");
  return f;
}


/* { nodes, ... }, { map, ... }, { shifts, ... } -> nodes */
static int lrebuild_merge (lua_State *L) {
  lua_Integer n, i;
  Arena *a;
  Merge m;
  int table;
  lua_settop(L, 3);
  for (table = 1; table <= 3; table++)
    luaL_checktype(L, table, LUA_TTABLE);
  n = (lua_Integer)lua_rawlen(L, 1);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  for (i = 1; i <= n; i++) {
    const Nodes *nodes;
    for (table = 1; table <= 3; table++) lua_rawgeti(L, table, i);
    nodes = lnodes_check(L, 5);
    merge_add(&m, nodes, merge_places(&m, nodes,
                                      lrebuild_mapping(L, 6, nodes, m.memory)),
              MERGE_ALL);
    lua_settop(L, 4);
  }
  lrebuild_push(L, &m, a);
  return 1;
}


/*
** nodes, { function -> group }, number of groups, group or nil -> nodes of a
** tree in which groups take the place of functions, see 'fold_groups'
*/
static int lrebuild_fold (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  uint32_t groups = (uint32_t)luaL_checkinteger(L, 3);
  lua_Integer base = luaL_optinteger(L, 4, 0);
  Arena *a = lmemory_arena(L);
  Merge m;
  luaL_argcheck(L, base >= 0 && base <= groups, 4, "no such group");
  merge_init(&m, &a->memory);
  fold_groups(&m, nodes, lnodes_groups(L, 2, nodes, groups, m.memory),
              groups, base == 0 ? FOLD_ALL : (uint32_t)base - 1);
  lrebuild_push(L, &m, a);
  return 1;
}


/* The nodes at 1, whose functions have numbers from 0 to 'last'. */
static const Nodes *lrebuild_nodes (lua_State *L, lua_Integer last) {
  const Nodes *nodes = lnodes_check(L, 1);
  luaL_argcheck(L, nodes->count > NODE_OVERHEAD, 1, "no overhead");
  luaL_argcheck(L, last >= 0 && last < UINT32_MAX &&
                   lnodes_functions(nodes) <= last + 1,
                1, "too many functions");
  return nodes;
}


/*
** nodes, number of functions, { function -> does the new tree begin with it? }
** or nil, { function -> is it a zone? } or nil: do not fold recursion -> nodes
*/
static int lrebuild_foldpaths (lua_State *L) {
  lua_Integer functions = luaL_checkinteger(L, 2);
  const Nodes *nodes = lrebuild_nodes(L, functions - 1);
  Arena *a;
  Merge m;
  lua_settop(L, 4);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  fold_paths(&m, nodes, lmemory_integers(L, 3, (size_t)functions, m.memory),
             lmemory_integers(L, 4, (size_t)functions, m.memory));
  lrebuild_push(L, &m, a);
  return 1;
}


/*
** The size of a tree in which nodes with less than 'ns' are added up, as nodes
** of one function more: nodes, ns, number of functions, and the three tables of
** PruneBytes, by function, of which the last two may be nil -> bytes, number of
** nodes, most nodes above one, ns of the nodes that are added up
*/
static int lrebuild_weigh (lua_State *L) {
  int64_t least = luaL_checkinteger(L, 2);
  lua_Integer below = luaL_checkinteger(L, 3);
  const Nodes *nodes = lrebuild_nodes(L, below);
  size_t functions = (size_t)below + 1;
  PruneBytes bytes;
  PruneSize size;
  Arena *a;
  lua_settop(L, 6);
  a = lmemory_arena(L);
  bytes.node = lmemory_integers(L, 4, functions, &a->memory);
  bytes.copies = lmemory_integers(L, 5, functions, &a->memory);
  bytes.once = lmemory_integers(L, 6, functions, &a->memory);
  prune_weigh(&size, &a->memory, nodes, least, &bytes, (uint32_t)below);
  arena_free(a);
  lua_pushinteger(L, (lua_Integer)size.bytes);
  lua_pushinteger(L, size.nodes);
  lua_pushinteger(L, size.deepest);
  lua_pushinteger(L, size.below);
  return 4;
}


/*
** Numbers the functions of a new tree by their first nodes. Pushes { function
** -> function of the old tree }, of which there were 'functions'.
*/
static void lrebuild_number (lua_State *L, Merge *m, size_t functions) {
  uint32_t *number = memory_newzeroed(m->memory, uint32_t, functions);
  uint32_t count = 0, i;
  lua_newtable(L);
  for (i = MERGE_ROOT; i <= merge_count(m); i++) {
    ProfileNode *n = merge_node(m, i);
    if (number[n->func] == 0) {
      lua_pushinteger(L, (lua_Integer)n->func + 1);
      lua_rawseti(L, -2, ++count);
      number[n->func] = count;
    }
    n->func = number[n->func] - 1;
  }
}


/*
** nodes, ns, number of functions -> nodes, { function of the new tree ->
** function of the old one }, number of nodes that had less than 'ns'. These are
** added up, as nodes of one function more.
*/
static int lrebuild_cut (lua_State *L) {
  int64_t least = luaL_checkinteger(L, 2);
  lua_Integer below = luaL_checkinteger(L, 3);
  const Nodes *nodes = lrebuild_nodes(L, below);
  Arena *a = lmemory_arena(L);
  uint32_t cut;
  Merge m;
  merge_init(&m, &a->memory);
  cut = prune_cut(&m, nodes, least, (uint32_t)below);
  lrebuild_number(L, &m, (size_t)below + 1);
  lrebuild_push(L, &m, a);
  lua_insert(L, -2);
  lua_pushinteger(L, cut);
  return 3;
}


/*
** nodes, map, shifts of a tree with calls; nodes, map, shifts of one with times
** -> nodes; ns that stayed in their call paths; ns that went to other nodes of
** their functions; ns for which there is no node. See 'lrebuild_mapping'.
*/
static int lrebuild_join (lua_State *L) {
  JoinTree tree[2];
  JoinShares shares;
  Arena *a;
  Merge m;
  int i;
  lua_settop(L, 6);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  for (i = 0; i < 2; i++) {
    tree[i].nodes = lnodes_check(L, 1 + 3 * i);
    tree[i].function = lrebuild_mapping(L, 2 + 3 * i, tree[i].nodes,
                                        m.memory);
  }
  shares = join_trees(&m, &tree[0], &tree[1]);
  lrebuild_push(L, &m, a);
  lua_pushinteger(L, shares.path);
  lua_pushinteger(L, shares.function);
  lua_pushinteger(L, shares.none);
  return 4;
}


static const luaL_Reg lrebuild_list[] = {
  {"merge", lrebuild_merge},
  {"fold", lrebuild_fold},
  {"foldpaths", lrebuild_foldpaths},
  {"weigh", lrebuild_weigh},
  {"cut", lrebuild_cut},
  {"join", lrebuild_join},
  {NULL, NULL}
};


void lrebuild_open (lua_State *L) {
  luaL_setfuncs(L, lrebuild_list, 0);
}

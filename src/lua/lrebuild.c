/*
** Trees that are made of others, and of ranges of time, for the Lua part: see
** profile/rebuild.h and profile/ranging.h
*/

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lua/laxis.h"
#include "lua/lmemory.h"
#include "lua/lnodes.h"
#include "lua/lprofile.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "profile/ranging.h"


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
** nodes, { function -> group }, number of groups, group or nil, { group -> are
** these C frames that Lua has not called? 2: that are joined only with their
** neighbors } or nil -> nodes of a tree in which groups take the place of
** functions, see 'fold_groups'
*/
static int lrebuild_fold (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  uint32_t groups = (uint32_t)luaL_checkinteger(L, 3);
  lua_Integer base = luaL_optinteger(L, 4, 0);
  Arena *a;
  Merge m;
  luaL_argcheck(L, base >= 0 && base <= groups, 4, "no such group");
  lua_settop(L, 5);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  fold_groups(&m, nodes, lnodes_groups(L, 2, nodes, groups, m.memory),
              groups, base == 0 ? FOLD_ALL : (uint32_t)base - 1,
              lmemory_integers(L, 5, groups, m.memory));
  lrebuild_push(L, &m, a);
  return 1;
}


/* The nodes at 'arg', whose functions have numbers from 0 to 'last'. */
static const Nodes *lrebuild_nodes (lua_State *L, int arg,
                                    lua_Integer last) {
  const Nodes *nodes = lnodes_check(L, arg);
  luaL_argcheck(L, nodes->count > NODE_OVERHEAD, arg, "no overhead");
  luaL_argcheck(L, last >= 0 && last < UINT32_MAX &&
                   lnodes_functions(nodes) <= last + 1,
                arg, "too many functions");
  return nodes;
}


/*
** nodes, number of functions, { function -> does the new tree begin with it? }
** or nil, { function -> is it a zone? } or nil: do not fold recursion -> nodes
*/
static int lrebuild_foldpaths (lua_State *L) {
  lua_Integer functions = luaL_checkinteger(L, 2);
  const Nodes *nodes = lrebuild_nodes(L, 1, functions - 1);
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
  const Nodes *nodes = lrebuild_nodes(L, 1, below);
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
** function of the old one }, number of nodes that had less than 'ns'. Their
** figures are in nodes of an additional function.
*/
static int lrebuild_cut (lua_State *L) {
  int64_t least = luaL_checkinteger(L, 2);
  lua_Integer below = luaL_checkinteger(L, 3);
  const Nodes *nodes = lrebuild_nodes(L, 1, below);
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
** nodes, map, shifts of a tree with calls; nodes, map, shifts of one with
** times; { function -> is it a zone? }; number of functions -> nodes; ns that
** stayed in their call paths; ns that went to other nodes of their functions;
** ns for which there is no node. See 'lrebuild_mapping'.
*/
static int lrebuild_join (lua_State *L) {
  lua_Integer functions = luaL_checkinteger(L, 8);
  JoinTree tree[2];
  JoinShares shares;
  Arena *a;
  Merge m;
  int i;
  lua_settop(L, 8);
  luaL_checktype(L, 7, LUA_TTABLE);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  for (i = 0; i < 2; i++) {
    tree[i].nodes = lnodes_check(L, 1 + 3 * i);
    tree[i].function = lrebuild_mapping(L, 2 + 3 * i, tree[i].nodes,
                                        m.memory);
  }
  shares = join_trees(&m, &tree[0], &tree[1],
                      lmemory_integers(L, 7, (size_t)functions, m.memory));
  lrebuild_push(L, &m, a);
  lua_pushinteger(L, shares.path);
  lua_pushinteger(L, shares.function);
  lua_pushinteger(L, shares.none);
  return 4;
}


/*
** nodes, { node -> is it kept? }, number of functions -> nodes, see
** 'fold_kept'; { function of the new tree -> function of the old one }
*/
static int lrebuild_keep (lua_State *L) {
  lua_Integer functions = luaL_checkinteger(L, 3);
  const Nodes *nodes = lrebuild_nodes(L, 1, functions - 1);
  Arena *a;
  Merge m;
  luaL_checktype(L, 2, LUA_TTABLE);
  a = lmemory_arena(L);
  merge_init(&m, &a->memory);
  fold_kept(&m, nodes, lmemory_integers(L, 2, nodes->count, m.memory));
  lrebuild_number(L, &m, (size_t)functions);
  lrebuild_push(L, &m, a);
  lua_insert(L, -2);
  return 2;
}


/* {======================================================
** Ranges of time
** ======================================================= */

/* Which functions have counters, by { function -> they, or false } at 'arg'. */
static uint8_t *range_counted (lua_State *L, int arg, const Memory *m,
                               size_t functions) {
  uint8_t *counts = memory_newzeroed(m, uint8_t, functions);
  size_t i;
  for (i = 0; i < functions; i++) {
    counts[i] = lua_rawgeti(L, arg, (lua_Integer)i + 1) == LUA_TSTRING;
    lua_pop(L, 1);
  }
  return counts;
}


/*
** Replaces the counters on top, of instructions of function 'func', by those of
** the range.
*/
static void range_counters (lua_State *L, const Ranging *g, uint32_t func) {
  size_t size, count;
  const char *from = lua_tolstring(L, -1, &size);
  const Instruction *list;
  count = size / sizeof *list;
  list = ranging_counters(g, func, from, count);
  lua_pop(L, 1);
  lua_pushlstring(L, (const char *)list, count * sizeof *list);
}


/*
** Pushes the counters of the range, or false, of functions 1 to 'count': 'arg'
** has those of the recording. 'numbers', if it is not 0, has which function of
** the recording each one is.
*/
static void range_pushcounters (lua_State *L, const Ranging *g, int arg,
                                int numbers, lua_Integer count) {
  lua_Integer i;
  lua_createtable(L, (int)count, 0);
  for (i = 1; i <= count; i++) {
    lua_Integer func = numbers != 0 ? ltable_at(L, numbers, i) : i;
    if (lua_rawgeti(L, arg, func) == LUA_TSTRING)
      range_counters(L, g, (uint32_t)func - 1);
    lua_rawseti(L, -2, i);
  }
}


static int range_compare (const void *a, const void *b) {
  const ProfileLine *x = cast(const ProfileLine *, a);
  const ProfileLine *y = cast(const ProfileLine *, b);
  if (x->func != y->func) return x->func < y->func ? -1 : 1;
  return x->line < y->line ? -1 : x->line > y->line;
}


/*
** Reads the counted lines at 'arg', see 'lprofile_pushlines', and sorts them.
** Functions that were known before a reset may have any order.
*/
static void range_lines (lua_State *L, int arg, Ranging *g,
                         lua_Integer functions) {
  size_t i;
  g->lines = (size_t)lua_rawlen(L, arg) / LPROFILE_LINE;
  g->line = memory_newzeroed(g->memory, ProfileLine, g->lines + 1);
  for (i = 0; i < g->lines; i++) {
    ProfileLine *l = &g->line[i];
    lua_Integer at = (lua_Integer)i * LPROFILE_LINE, func;
    func = ltable_at(L, arg, at + 1);
    luaL_argcheck(L, func >= 1 && func <= functions, arg, "no such function");
    l->func = (uint32_t)func - 1;
    l->line = (uint32_t)ltable_at(L, arg, at + 2);
    l->hits = ltable_at(L, arg, at + 3);
    l->self = ltable_at(L, arg, at + 4);
    l->raw = ltable_at(L, arg, at + 5);
  }
  qsort(g->line, g->lines, sizeof *g->line, range_compare);
}


/*
** axis, nodes, from, to, ns of the recording, { function -> counters of its
** instructions, or false }, whether it ends with the recording and is to have a
** time axis, its counted lines -> nodes of the range; { its function ->
** function }; { its function -> counters or false }; ns of pauses; ns in which
** others had the processor; ns of overhead; ns of waiting; its time axis, or
** nil; counted lines of the range, by functions of the recording
*/
static int lrebuild_range (lua_State *L) {
  Ranging g = ZEROS;
  lua_Integer from = luaL_checkinteger(L, 3), to = luaL_checkinteger(L, 4);
  lua_Integer wall = luaL_checkinteger(L, 5), n;
  Arena *a;
  Merge m;
  lua_settop(L, 8);
  luaL_checktype(L, 6, LUA_TTABLE);
  luaL_checktype(L, 8, LUA_TTABLE);
  n = (lua_Integer)lua_rawlen(L, 6);
  g.axis = laxis_check(L, 1);
  g.nodes = lrebuild_nodes(L, 2, n - 1);
  luaL_argcheck(L, from >= 0 && from < to && to <= wall, 3, "no range");
  laxis_checknodes(L, g.axis, g.nodes);
  a = lmemory_arena(L);
  g.memory = &a->memory;
  ranging_sum(&g, range_counted(L, 6, g.memory, (size_t)n), (size_t)n,
              from == 0 ? -HUGE_VAL : (double)from,
              to == wall ? HUGE_VAL : (double)to);
  if (g.axis->mean == 0) {
    range_lines(L, 8, &g, n);
    ranging_overhead(&g, (size_t)n);
  }
  ranging_divide(&g, to - from);
  merge_init(&m, g.memory);
  ranging_tree(&g, &m);
  if (lua_toboolean(L, 7)) laxis_pushcut(L, g.axis, (double)from, g.to);
  else lua_pushnil(L);
  lua_replace(L, 7);
  lprofile_pushlines(L, g.line, g.lines);
  lua_replace(L, 8);
  lrebuild_number(L, &m, (size_t)n);
  range_pushcounters(L, &g, 6, lua_gettop(L), (lua_Integer)lua_rawlen(L, -1));
  lrebuild_push(L, &m, a);
  lua_insert(L, -3);
  lua_pushinteger(L, g.paused);
  lua_pushinteger(L, g.preempted);
  lua_pushinteger(L, g.overhead);
  lua_pushinteger(L, g.wait);
  lua_pushvalue(L, 7);
  lua_pushvalue(L, 8);
  return 9;
}


/*
** axis, nodes, { node -> is it kept? }, { function -> counters of its
** instructions, or false }; from, to, in ns, or nothing: all of the recording
** -> the counters of what ran in nodes that are kept
*/
static int lrebuild_counters (lua_State *L) {
  Ranging g = ZEROS;
  const uint32_t *kept;
  uint32_t functions, i;
  Arena *a;
  int all = lua_isnoneornil(L, 5);
  lua_Integer from = luaL_optinteger(L, 5, 0), to = luaL_optinteger(L, 6, 1);
  luaL_argcheck(L, from < to, 5, "no range");
  luaL_checktype(L, 3, LUA_TTABLE);
  luaL_checktype(L, 4, LUA_TTABLE);
  functions = (uint32_t)lua_rawlen(L, 4);
  g.axis = laxis_check(L, 1);
  g.nodes = lrebuild_nodes(L, 2, (lua_Integer)functions - 1);
  laxis_checknodes(L, g.axis, g.nodes);
  a = lmemory_arena(L);
  g.memory = &a->memory;
  kept = lmemory_integers(L, 3, g.nodes->count, g.memory);
  ranging_sum(&g, range_counted(L, 4, g.memory, functions), functions,
              all ? -HUGE_VAL : (double)from, all ? HUGE_VAL : (double)to);
  if (!all) ranging_divide(&g, to - from);
  else
    g.run = g.nodes->list[0].total - g.nodes->list[NODE_OVERHEAD].self -
            g.nodes->list[0].waittotal;
  for (i = 1; i < g.axis->places; i++)
    if (axis_isline(&g.axis->place[i]) || !kept[g.axis->place[i].node])
      memset(&g.part[i], 0, sizeof g.part[i]);
  range_pushcounters(L, &g, 4, 0, functions);
  arena_free(a);
  return 1;
}

/* }====================================================== */


static const luaL_Reg lrebuild_list[] = {
  {"merge", lrebuild_merge},
  {"fold", lrebuild_fold},
  {"foldpaths", lrebuild_foldpaths},
  {"weigh", lrebuild_weigh},
  {"cut", lrebuild_cut},
  {"keep", lrebuild_keep},
  {"join", lrebuild_join},
  {"range", lrebuild_range},
  {"counters", lrebuild_counters},
  {NULL, NULL}
};


void lrebuild_open (lua_State *L) {
  luaL_setfuncs(L, lrebuild_list, 0);
}

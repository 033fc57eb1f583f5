/*
** See lcallgraph.h
*/

#include "lua/lcallgraph.h"

#include <string.h>

#include "follow/recorder.h"
#include "lua/lnodes.h"
#include "lua/lstate.h"
#include "profile/callgraph.h"
#include "profile/fold.h"


#define CALLGRAPH	"cprof.callgraph"
#define MERGE		"cprof.profile.merge"


static const Memory *lmemory (lua_State *L) {
  return &lstate_recorder(L)->recording.memory;
}


static int lnomemory (lua_State *L) {
  return luaL_error(L, "cprof: out of memory");
}


static void callgraph_pushrow (lua_State *L, const SumRow *row) {
  lua_createtable(L, 0, 11);
  lnodes_set(L, "calls", row->calls);
  lnodes_set(L, "self_ns", row->self);
  lnodes_set(L, "self_raw_ns", row->raw);
  lnodes_set(L, "total_ns", row->total);
  lnodes_set(L, "total_raw_ns", row->rawtotal);
  lnodes_set(L, "self_wait_ns", row->wait);
  lnodes_set(L, "total_wait_ns", row->waittotal);
  lnodes_set(L, "max_depth", row->depth);
  lnodes_pushways(L, row->ways);
  lua_setfield(L, -2, "metamethod");
}


static void callgraph_pushedge (lua_State *L, const SumEdge *e) {
  lua_createtable(L, 0, 16);
  lnodes_set(L, "caller", (lua_Integer)e->caller + 1);
  lnodes_set(L, "callee", (lua_Integer)e->callee + 1);
  lnodes_set(L, "calls", e->calls);
  lnodes_set(L, "self_ns", e->self);
  lnodes_set(L, "total_in_ns", e->total_in);
  lnodes_set(L, "total_out_ns", e->total_out);
  lnodes_set(L, "self_raw_ns", e->raw);
  lnodes_set(L, "total_in_raw_ns", e->rawtotal_in);
  lnodes_set(L, "self_wait_ns", e->wait);
  lnodes_set(L, "total_in_wait_ns", e->waittotal_in);
  lnodes_set(L, "total_out_raw_ns", e->rawtotal_out);
  lnodes_set(L, "line", e->line);
  lnodes_set(L, "calls_in", e->calls_in);
  lnodes_pushways(L, e->ways);
  lua_setfield(L, -2, "metamethod");
}


/* {======================================================
** A call graph that is freed also when an error is raised
** ======================================================= */

typedef struct Box {
  Callgraph graph;
  Memory memory;
} Box;


static int box_gc (lua_State *L) {
  Box *box = cast(Box *, luaL_checkudata(L, 1, CALLGRAPH));
  callgraph_free(&box->graph);
  return 0;
}


static Box *box_new (lua_State *L) {
  Box *box = cast(Box *, lnodes_room(L, 1, sizeof *box));
  box->memory = *lmemory(L);
  luaL_setmetatable(L, CALLGRAPH);
  return box;
}

/* }====================================================== */


/* Pushes an array: each node's group, by { function -> group } at 'arg'. */
static uint32_t *callgraph_groups (lua_State *L, const Nodes *nodes, int arg,
                                   uint32_t groups) {
  uint32_t *group;
  uint32_t i;
  luaL_checktype(L, arg, LUA_TTABLE);
  group = lnodes_array(L, uint32_t, nodes->count);
  for (i = 0; i < nodes->count; i++) {
    lua_Integer g;
    lua_rawgeti(L, arg, (lua_Integer)nodes->list[i].func + 1);
    g = lua_tointeger(L, -1);
    lua_pop(L, 1);
    luaL_argcheck(L, g >= 1 && g <= groups, arg, "no such group");
    group[i] = (uint32_t)g - 1;
  }
  return group;
}


/*
** Makes each level of recursion of a group a group of its own. Pushes
** { group, level, ... } of the new groups, and returns their number.
*/
static uint32_t callgraph_spread (lua_State *L, const Nodes *nodes,
                                  uint32_t *group, uint32_t groups) {
  uint32_t *level = lnodes_array(L, uint32_t, nodes->count);
  uint32_t count = 0, i;
  if (!nodes_levels(nodes, lmemory(L), group, groups, level)) lnomemory(L);
  lua_newtable(L);  /* group and level -> new group */
  lua_newtable(L);  /* group and level of new groups, in turn */
  for (i = 0; i < nodes->count; i++) {
    lua_Integer key = (lua_Integer)group[i] << 32 | level[i];
    if (lua_rawgeti(L, -2, key) == LUA_TNIL) {
      lua_pushinteger(L, count);
      lua_rawseti(L, -4, key);
      lua_pushinteger(L, (lua_Integer)group[i] + 1);
      lua_rawseti(L, -3, (lua_Integer)count * 2 + 1);
      lua_pushinteger(L, (lua_Integer)level[i] + 1);
      lua_rawseti(L, -3, (lua_Integer)count * 2 + 2);
      group[i] = count++;
    }
    else
      group[i] = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  return count;
}


static void callgraph_push (lua_State *L, const Callgraph *g) {
  uint32_t i;
  lua_createtable(L, (int)g->groups, 0);
  for (i = 0; i < g->groups; i++) {
    callgraph_pushrow(L, &g->rows[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_createtable(L, (int)g->edges.count, 0);
  for (i = 1; i < g->edges.count; i++) {
    callgraph_pushedge(L, callgraph_edge(g, i));
    lua_rawseti(L, -2, i);
  }
}


/*
** nodes, { function -> group }, number of groups, spread, by line -> rows,
** edges, and with 'spread' the group and level of each row. With 'spread', each
** level of recursion is a row of its own; with 'by line', an edge has the calls
** of one line only.
*/
static int lcallgraph_sum (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  uint32_t groups = (uint32_t)luaL_checkinteger(L, 3);
  int spread = lua_toboolean(L, 4), byline = lua_toboolean(L, 5);
  uint32_t *group = callgraph_groups(L, nodes, 2, groups);
  int levels = 0, ok;
  Box *box;
  if (spread) {
    groups = callgraph_spread(L, nodes, group, groups);
    levels = lua_gettop(L);
  }
  box = box_new(L);
  ok = byline
     ? callgraph_bylines(&box->graph, &box->memory, nodes, group, groups)
     : callgraph_make(&box->graph, &box->memory, nodes, group, groups);
  if (!ok) return lnomemory(L);
  callgraph_push(L, &box->graph);
  callgraph_free(&box->graph);
  if (!spread) return 2;
  lua_pushvalue(L, levels);
  return 3;
}


/*
** nodes, { function -> is it a zone? }, { function -> key, or 0 } ->
** { key, line, calls, ns, ns with overhead, ns of waiting, ... }: the calls
** made from each line. A tail call in a callee is not one of these.
*/
static int lcallgraph_sites (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  uint32_t functions, i, *key;
  uint8_t *zone;
  lua_Integer at = 0;
  Box *box;
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  functions = (uint32_t)lua_rawlen(L, 2);
  zone = lnodes_array(L, uint8_t, functions);
  key = lnodes_array(L, uint32_t, functions);
  box = box_new(L);
  for (i = 0; i < functions; i++) {
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    zone[i] = (uint8_t)lua_toboolean(L, -1);
    lua_rawgeti(L, 3, (lua_Integer)i + 1);
    key[i] = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 2);
  }
  for (i = 0; i < nodes->count; i++)
    luaL_argcheck(L, nodes->list[i].func < functions, 2, "too short");
  if (!callgraph_sites(&box->graph, &box->memory, nodes, zone, key))
    return lnomemory(L);
  lua_createtable(L, (int)box->graph.edges.count * 6, 0);
  for (i = 1; i < box->graph.edges.count; i++) {
    const SumEdge *e = callgraph_edge(&box->graph, i);
    const SumRow *row = &box->graph.rows[i];
    lnodes_put(L, &at, e->caller);
    lnodes_put(L, &at, e->callee);
    lnodes_put(L, &at, row->calls - row->tails);
    lnodes_put(L, &at, row->total);
    lnodes_put(L, &at, row->rawtotal);
    lnodes_put(L, &at, row->waittotal);
  }
  callgraph_free(&box->graph);
  return 1;
}


/* {======================================================
** The time of functions on behalf of certain callers
** ======================================================= */

/*
** Pushes an array: for each node, its level of recursion within its group,
** from 1, by { function -> group } at 'arg'.
*/
static uint32_t *attribute_levels (lua_State *L, const Nodes *nodes,
                                   int arg) {
  uint32_t *level = lnodes_array(L, uint32_t, nodes->count);
  uint32_t *group = lnodes_array(L, uint32_t, nodes->count);
  uint32_t groups = 0, i;
  for (i = 0; i < nodes->count; i++) {
    lua_Integer g;
    lua_rawgeti(L, arg, (lua_Integer)nodes->list[i].func + 1);
    g = lua_tointeger(L, -1);
    lua_pop(L, 1);
    luaL_argcheck(L, g >= 0 && g < INT32_MAX, arg, "no such group");
    group[i] = (uint32_t)g;
    if (group[i] >= groups) groups = group[i] + 1;
  }
  if (!nodes_levels(nodes, lmemory(L), group, groups, level)) lnomemory(L);
  for (i = 0; i < nodes->count; i++) level[i]++;
  return level;
}


/*
** Pushes an array of flags: which nodes have a function of those at 'arg',
** { function -> boolean }, at the level of recursion at 'arg + 1' (0: any)?
*/
static uint8_t *attribute_flags (lua_State *L, const Nodes *nodes, int arg,
                                 const uint32_t *level) {
  lua_Integer wanted = luaL_checkinteger(L, arg + 1);
  uint8_t *flag = lnodes_array(L, uint8_t, nodes->count);
  uint32_t i;
  for (i = 0; i < nodes->count; i++) {
    lua_rawgeti(L, arg, (lua_Integer)nodes->list[i].func + 1);
    flag[i] = (uint8_t)(lua_toboolean(L, -1) &&
                        (wanted == 0 || level[i] == wanted));
    lua_pop(L, 1);
  }
  return flag;
}


/*
** nodes, { function -> is it one of these? }, level, { function -> is it one
** of the callers? }, level, { function -> group } -> sums. Levels of recursion
** are those of groups; 0: any.
*/
static int lcallgraph_attribute (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  const uint32_t *level;
  const uint8_t *is, *above;
  SumRow sum;
  int table;
  for (table = 2; table <= 6; table += 2)
    luaL_checktype(L, table, LUA_TTABLE);
  level = attribute_levels(L, nodes, 6);
  is = attribute_flags(L, nodes, 2, level);
  above = attribute_flags(L, nodes, 4, level);
  sum = callgraph_attribute(nodes, is, above,
                            lnodes_array(L, uint8_t, nodes->count));
  callgraph_pushrow(L, &sum);
  return 1;
}

/* }====================================================== */


/* {======================================================
** Sums of several profiles
** ======================================================= */

static int merge_gc (lua_State *L) {
  merge_free(cast(Merge *, luaL_checkudata(L, 1, MERGE)));
  return 0;
}


Merge *lcallgraph_newmerge (lua_State *L) {
  Merge *m = cast(Merge *, lnodes_room(L, 1, sizeof *m));
  luaL_setmetatable(L, MERGE);
  if (!merge_init(m, lmemory(L))) lnomemory(L);
  return m;
}


void lcallgraph_pushmerge (lua_State *L, Merge *m) {
  NodeMemory *memory = NULL;
  ProfileNode *list = lnodes_new(L, merge_count(m),
                                 m->allocated.count > 0 ? &memory : NULL);
  merge_copy(m, list, memory);
  nodes_total(list, merge_count(m));
  merge_free(m);
}


MergeFunction *lcallgraph_mapping (lua_State *L, const Nodes *nodes) {
  int shift = lua_gettop(L), map = shift - 1;
  lua_Integer n, i;
  MergeFunction *f;
  luaL_checktype(L, map, LUA_TTABLE);
  luaL_checktype(L, shift, LUA_TTABLE);
  n = (lua_Integer)lua_rawlen(L, map);
  f = lnodes_array(L, MergeFunction, (size_t)n);
  for (i = 0; i < n; i++) {
    lua_rawgeti(L, map, i + 1);
    f[i].func = (uint32_t)luaL_checkinteger(L, -1) - 1;
    lua_rawgeti(L, shift, i + 1);
    f[i].shift = lua_isinteger(L, -1) ? (int32_t)lua_tointeger(L, -1)
                                      : MERGE_ZONE;
    lua_pop(L, 2);
  }
  for (i = 0; i < nodes->count; i++)
    if (nodes->list[i].func >= n) luaL_error(L, "cprof: no such function");
  return f;
}


/*
** { nodes, ... }, { map, ... }, { shifts, ... } -> nodes; see
** 'lcallgraph_mapping' for maps and shifts
*/
static int lcallgraph_merge (lua_State *L) {
  lua_Integer n, i;
  Merge *m;
  int table;
  lua_settop(L, 3);
  for (table = 1; table <= 3; table++)
    luaL_checktype(L, table, LUA_TTABLE);
  n = (lua_Integer)lua_rawlen(L, 1);
  m = lcallgraph_newmerge(L);
  for (i = 1; i <= n; i++) {
    const Nodes *nodes;
    const MergeFunction *func;
    MergePlace *to;
    lua_rawgeti(L, 1, i);
    nodes = lnodes_check(L, -1);
    lua_rawgeti(L, 2, i);
    lua_rawgeti(L, 3, i);
    func = lcallgraph_mapping(L, nodes);
    to = lnodes_array(L, MergePlace, nodes->count);
    if (!merge_add(m, nodes, func, to)) return lnomemory(L);
    lua_settop(L, 4);
  }
  lcallgraph_pushmerge(L, m);
  return 1;
}


/*
** nodes, { function -> group }, number of groups, group or nil -> nodes of a
** tree in which groups take the place of functions, see fold.h
*/
static int lcallgraph_fold (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  uint32_t groups = (uint32_t)luaL_checkinteger(L, 3);
  lua_Integer base = luaL_optinteger(L, 4, 0);
  uint32_t *group, *to, *level;
  Merge *m;
  luaL_argcheck(L, base >= 0 && base <= groups, 4, "no such group");
  group = callgraph_groups(L, nodes, 2, groups);
  to = lnodes_array(L, uint32_t, nodes->count);
  level = lnodes_array(L, uint32_t, nodes->count);
  m = lcallgraph_newmerge(L);
  if (!fold_add(m, nodes, group, groups,
                base == 0 ? FOLD_ALL : (uint32_t)base - 1, to, level))
    return lnomemory(L);
  lcallgraph_pushmerge(L, m);
  return 1;
}

/* }====================================================== */


static const luaL_Reg lcallgraph_list[] = {
  {"sum", lcallgraph_sum},
  {"sites", lcallgraph_sites},
  {"attribute", lcallgraph_attribute},
  {"merge", lcallgraph_merge},
  {"fold", lcallgraph_fold},
  {NULL, NULL}
};


const luaL_Reg *lcallgraph_functions (void) {
  return lcallgraph_list;
}


void lcallgraph_open (lua_State *L) {
  luaL_newmetatable(L, CALLGRAPH);
  lua_pushcfunction(L, box_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newmetatable(L, MERGE);
  lua_pushcfunction(L, merge_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 2);
}

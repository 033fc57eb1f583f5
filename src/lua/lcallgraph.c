/*
** Sums over the nodes of a profile, as the Lua part asks for them.
*/

#include "lua/lmemory.h"
#include "lua/lnodes.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "profile/callgraph.h"


static void callgraph_pushrow (lua_State *L, const SumRow *row) {
  lua_createtable(L, 0, 11);
  ltable_setinteger(L, "calls", row->calls);
  ltable_setinteger(L, "self", row->self);
  ltable_setinteger(L, "self_raw", row->raw);
  ltable_setinteger(L, "total", row->total);
  ltable_setinteger(L, "total_raw", row->rawtotal);
  ltable_setinteger(L, "self_wait", row->wait);
  ltable_setinteger(L, "total_wait", row->waittotal);
  ltable_setinteger(L, "max_depth", row->depth);
  lnodes_pushways(L, row->ways);
  lua_setfield(L, -2, "metamethod");
}


static void callgraph_pushedge (lua_State *L, const SumEdge *e) {
  lua_createtable(L, 0, 16);
  ltable_setinteger(L, "caller", (lua_Integer)e->is.caller + 1);
  ltable_setinteger(L, "callee", (lua_Integer)e->is.callee + 1);
  ltable_setinteger(L, "calls", e->calls);
  ltable_setinteger(L, "self", e->self);
  ltable_setinteger(L, "total_in", e->total_in);
  ltable_setinteger(L, "total_out", e->total_out);
  ltable_setinteger(L, "self_raw", e->raw);
  ltable_setinteger(L, "total_in_raw", e->rawtotal_in);
  ltable_setinteger(L, "self_wait", e->wait);
  ltable_setinteger(L, "total_in_wait", e->waittotal_in);
  ltable_setinteger(L, "total_out_raw", e->rawtotal_out);
  ltable_setinteger(L, "line", e->is.line);
  ltable_setinteger(L, "calls_in", e->calls_in);
  lnodes_pushways(L, e->ways);
  lua_setfield(L, -2, "metamethod");
}


/*
** Makes each level of recursion of a group a group of its own. Pushes
** { group, level, ... } of the new groups, and returns their number.
*/
static uint32_t callgraph_spread (lua_State *L, const Nodes *nodes,
                                  uint32_t *group, uint32_t groups,
                                  const Memory *m) {
  const uint32_t *level = nodes_levels(nodes, m, group, groups);
  uint32_t count = 0, i;
  lua_newtable(L);  /* group and level of new groups, in turn */
  lua_newtable(L);  /* group and level -> new group */
  for (i = 0; i < nodes->count; i++) {
    lua_Integer key = (lua_Integer)group[i] << 32 | level[i];
    if (lua_rawgeti(L, -1, key) == LUA_TNIL) {
      lua_Integer at = (lua_Integer)count * 2;
      lua_pushinteger(L, count);
      lua_rawseti(L, -3, key);
      lua_pushvalue(L, -3);
      ltable_put(L, &at, (lua_Integer)group[i] + 1);
      ltable_put(L, &at, (lua_Integer)level[i] + 1);
      lua_pop(L, 1);
      group[i] = count++;
    }
    else
      group[i] = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
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
  uint32_t groups = (uint32_t)luaL_checkinteger(L, 3), *group;
  int spread = lua_toboolean(L, 4), byline = lua_toboolean(L, 5);
  Callgraph g;
  Arena *a;
  lua_settop(L, 5);
  a = lmemory_arena(L);
  group = lnodes_groups(L, 2, nodes, groups, &a->memory);
  if (spread) groups = callgraph_spread(L, nodes, group, groups, &a->memory);
  callgraph_make(&g, &a->memory, nodes, group, groups, byline);
  callgraph_push(L, &g);
  arena_free(a);
  if (!spread) return 2;
  lua_pushvalue(L, 7);
  return 3;
}


/*
** nodes, { function -> is it a zone? }, { function -> key, or 0 } ->
** { key, line, calls, ns, ns with overhead, ns of waiting, ... }: the calls
** made from each line. A tail call in a callee is not one of these.
*/
static int lcallgraph_sites (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  size_t functions = lnodes_functions(nodes);
  lua_Integer at = 0;
  uint32_t i;
  Callgraph g;
  Arena *a;
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  a = lmemory_arena(L);
  callgraph_sites(&g, &a->memory, nodes,
                  lmemory_integers(L, 2, functions, &a->memory),
                  lmemory_integers(L, 3, functions, &a->memory));
  lua_createtable(L, (int)g.edges.count * 6, 0);
  for (i = 1; i < g.edges.count; i++) {
    const SumEdge *e = callgraph_edge(&g, i);
    const SumRow *row = &g.rows[i];
    ltable_put(L, &at, e->is.caller);
    ltable_put(L, &at, e->is.callee);
    ltable_put(L, &at, row->calls - row->tails);
    ltable_put(L, &at, row->total);
    ltable_put(L, &at, row->rawtotal);
    ltable_put(L, &at, row->waittotal);
  }
  arena_free(a);
  return 1;
}


/*
** nodes, { function -> is it a zone? }, { function -> is it of C? },
** { function -> key, or 0 } -> { key, line, function of C, ns, ... }: what C
** functions took that a line has called, or C functions that it has called
*/
static int lcallgraph_c (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  size_t functions = lnodes_functions(nodes);
  const uint32_t *of[3];
  lua_Integer at = 0;
  uint32_t i;
  Callgraph g;
  Arena *a;
  for (i = 0; i < 3; i++) luaL_checktype(L, (int)i + 2, LUA_TTABLE);
  a = lmemory_arena(L);
  for (i = 0; i < 3; i++)
    of[i] = lmemory_integers(L, (int)i + 2, functions, &a->memory);
  callgraph_c(&g, &a->memory, nodes, of[0], of[1], of[2]);
  lua_createtable(L, (int)g.edges.count * 4, 0);
  for (i = 1; i < g.edges.count; i++) {
    const SumEdge *e = callgraph_edge(&g, i);
    ltable_put(L, &at, e->is.caller);
    ltable_put(L, &at, e->is.line);
    ltable_put(L, &at, (lua_Integer)e->is.callee + 1);
    ltable_put(L, &at, e->self);
  }
  arena_free(a);
  return 1;
}


/*
** Flags: which nodes have a function of those at 'arg', { function ->
** boolean }, at the level of recursion at 'arg + 1' (0: any)? 'level' begins
** with 0.
*/
static uint32_t *attribute_flags (lua_State *L, const Nodes *nodes, int arg,
                                  const uint32_t *level, const Memory *m) {
  lua_Integer wanted = luaL_checkinteger(L, arg + 1);
  const uint32_t *is = lmemory_integers(L, arg, lnodes_functions(nodes), m);
  uint32_t *flag = memory_new(m, uint32_t, nodes->count), i;
  luaL_argcheck(L, is != NULL, arg, "no functions");
  for (i = 0; i < nodes->count; i++)
    flag[i] = is[nodes->list[i].func] &&
              (wanted == 0 || level[i] + 1 == wanted);
  return flag;
}


/*
** nodes, { function -> is it one of these? }, level, { function -> is it one
** of the callers? }, level, { function -> group } -> sums: the time of
** functions on behalf of certain callers. Levels of recursion are those of
** groups; 0: any.
*/
static int lcallgraph_attribute (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  uint32_t groups = lnodes_functions(nodes);
  const uint32_t *level, *is, *above;
  SumRow sum;
  Arena *a;
  lua_settop(L, 6);
  a = lmemory_arena(L);
  level = nodes_levels(nodes, &a->memory,
                       lnodes_groups(L, 6, nodes, groups, &a->memory),
                       groups);
  is = attribute_flags(L, nodes, 2, level, &a->memory);
  above = attribute_flags(L, nodes, 4, level, &a->memory);
  sum = callgraph_attribute(nodes, is, above, &a->memory);
  arena_free(a);
  callgraph_pushrow(L, &sum);
  return 1;
}


static const luaL_Reg lcallgraph_list[] = {
  {"sum", lcallgraph_sum},
  {"sites", lcallgraph_sites},
  {"in_c", lcallgraph_c},
  {"attribute", lcallgraph_attribute},
  {NULL, NULL}
};


void lcallgraph_open (lua_State *L) {
  luaL_setfuncs(L, lcallgraph_list, 0);
}

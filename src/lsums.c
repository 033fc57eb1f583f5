/*
** See lsums.h
*/

#include "lsums.h"

#include <string.h>

#include <lauxlib.h>

#include "lnodes.h"
#include "lown.h"
#include "recording.h"


#define SUMS	"cprof.sums"


void lsums_pushrow (lua_State *L, const SumRow *row) {
  lua_createtable(L, 0, 8);
  lnodes_set(L, "calls", row->calls);
  lnodes_set(L, "self_ns", row->self);
  lnodes_set(L, "self_raw_ns", row->raw);
  lnodes_set(L, "total_ns", row->total);
  lnodes_set(L, "max_depth", row->depth);
}


static void profile_pushedge (lua_State *L, const SumEdge *e) {
  lua_createtable(L, 0, 8);
  lnodes_set(L, "caller", e->caller + 1);
  lnodes_set(L, "callee", e->callee + 1);
  lnodes_set(L, "calls", e->calls);
  lnodes_set(L, "self_ns", e->self);
  lnodes_set(L, "total_in_ns", e->total_in);
  lnodes_set(L, "total_out_ns", e->total_out);
  lnodes_set(L, "line", e->line);
  lnodes_set(L, "calls_in", e->calls_in);
}


/* sums that are freed also when an error is raised half-way */
typedef struct Box {
  Sums sums;
  Memory memory;
} Box;


static int box_gc (lua_State *L) {
  Box *box = cast(Box *, luaL_checkudata(L, 1, SUMS));
  sums_free(&box->sums, &box->memory);
  return 0;
}


static Box *box_new (lua_State *L) {
  Box *box = cast(Box *, lua_newuserdatauv(L, sizeof *box, 0));
  memset(box, 0, sizeof *box);
  box->memory = recording_get(L)->memory;
  luaL_setmetatable(L, SUMS);
  return box;
}


/* { function -> group } at 2 as the group of each node, which is pushed */
static uint32_t *profile_groups (lua_State *L, const Nodes *nodes,
                                 uint32_t groups) {
  uint32_t *group = lnodes_array(L, uint32_t, nodes->count);
  uint32_t i;
  for (i = 0; i < nodes->count; i++) {
    lua_Integer g;
    lua_rawgeti(L, 2, (lua_Integer)nodes->list[i].func + 1);
    g = lua_tointeger(L, -1);
    lua_pop(L, 1);
    luaL_argcheck(L, g >= 1 && g <= groups, 2, "no such group");
    group[i] = (uint32_t)g - 1;
  }
  return group;
}


/*
** Makes each level of recursion of a group a group of its own, and pushes
** { group, level, ... } of these; gives how many there are.
*/
static uint32_t profile_spread (lua_State *L, const Nodes *nodes,
                                uint32_t *group, uint32_t groups) {
  const Memory *m = &recording_get(L)->memory;
  uint32_t *level = lnodes_array(L, uint32_t, nodes->count);
  uint32_t count = 0, i;
  if (!nodes_levels(nodes, m, group, groups, level))
    luaL_error(L, "cprof: out of memory");
  lua_newtable(L);  /* pairs of group and level -> new group */
  lua_newtable(L);  /* the pairs, in turn */
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


/*
** nodes, { function -> group }, number of groups, spread, by line ->
** rows, edges, and, where levels of recursion are spread, the group and
** level of rows. By line, an edge has the calls of one line only.
*/
static int profile_sum (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  uint32_t groups = (uint32_t)luaL_checkinteger(L, 3), i;
  int spread = lua_toboolean(L, 4), levels = 0, ok;
  int byline = lua_toboolean(L, 5);
  uint32_t *group = profile_groups(L, nodes, groups);
  Box *box;
  Sums *s;
  if (spread) {
    groups = profile_spread(L, nodes, group, groups);
    levels = lua_gettop(L);
  }
  box = box_new(L);
  s = &box->sums;
  ok = byline ? sums_calls(s, &box->memory, nodes, group, groups)
              : sums_make(s, &box->memory, nodes, group, groups);
  if (!ok)
    return luaL_error(L, "cprof: out of memory");
  lua_createtable(L, (int)s->groups, 0);
  for (i = 0; i < s->groups; i++) {
    lsums_pushrow(L, &s->rows[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_createtable(L, (int)s->count, 0);
  for (i = 0; i < s->count; i++) {
    profile_pushedge(L, &s->edges[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  sums_free(s, &box->memory);
  if (!spread) return 2;
  lua_pushvalue(L, levels);
  return 3;
}


/* { function -> boolean } at 'arg' as flags, which are pushed */
static uint8_t *profile_flags (lua_State *L, int arg, uint32_t functions) {
  uint8_t *flag = lnodes_array(L, uint8_t, functions);
  uint32_t i;
  for (i = 0; i < functions; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    flag[i] = (uint8_t)lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  return flag;
}


static void profile_checkfuncs (lua_State *L, const Nodes *nodes,
                                uint32_t functions) {
  uint32_t i;
  for (i = 0; i < nodes->count; i++)
    luaL_argcheck(L, nodes->list[i].func < functions, 2, "too short");
}


/*
** nodes, { function -> is it a zone? }, { function -> key, or 0 } ->
** { key, line, calls, ns, ... }: the calls that lines have made
*/
static int profile_sites (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  uint32_t functions = (uint32_t)lua_rawlen(L, 2), i;
  const uint8_t *zone = profile_flags(L, 2, functions);
  uint32_t *key = lnodes_array(L, uint32_t, functions);
  Box *box = box_new(L);
  Sums *s = &box->sums;
  for (i = 0; i < functions; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i + 1);
    key[i] = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  profile_checkfuncs(L, nodes, functions);
  if (!sums_sites(s, &box->memory, nodes, zone, key))
    return luaL_error(L, "cprof: out of memory");
  lua_createtable(L, (int)s->count * 4, 0);
  for (i = 0; i < s->count; i++) {
    lua_Integer at = (lua_Integer)i * 4;
    lua_pushinteger(L, s->edges[i].caller);
    lua_rawseti(L, -2, at + 1);
    lua_pushinteger(L, s->edges[i].callee);
    lua_rawseti(L, -2, at + 2);
    lua_pushinteger(L, s->rows[i + 1].calls);
    lua_rawseti(L, -2, at + 3);
    lua_pushinteger(L, s->rows[i + 1].total);
    lua_rawseti(L, -2, at + 4);
  }
  sums_free(s, &box->memory);
  return 1;
}


/* nodes -> function that the profiler's own time is in, or nil */
static int profile_own (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  if (nodes->own == 0) return 0;
  lua_pushinteger(L, (lua_Integer)nodes->list[nodes->own].func + 1);
  return 1;
}


static const luaL_Reg sums_methods[] = {
  {"__gc", box_gc},
  {NULL, NULL}
};

static const luaL_Reg sums_functions[] = {
  {"sum", profile_sum},
  {"sites", profile_sites},
  {"own", profile_own},
  {NULL, NULL}
};


void lsums_open (lua_State *L) {
  luaL_newmetatable(L, SUMS);
  luaL_setfuncs(L, sums_methods, 0);
  lua_pop(L, 1);
  luaL_setfuncs(L, sums_functions, 0);
}


int lsums_own (lua_CFunction f) {
  return lown_has(sums_functions, f);
}

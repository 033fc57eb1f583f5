/*
** See lstates.h
*/

#include "lstates.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "lnodes.h"
#include "lown.h"
#include "lsums.h"
#include "recording.h"


#define CALLEES	"cprof.callees"


/* {======================================================
** Callees of a state
** ======================================================= */

/* where the callees of each node are; all nodes of a profile share it */
typedef struct Callees {
  uint32_t count;
  uint32_t *child;	/* the first one; 0: none */
  uint32_t *sibling;
} Callees;


/* nodes -> callees */
static int states_callees (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  size_t size = nodes->count * sizeof(uint32_t);
  Callees *c = cast(Callees *, lua_newuserdatauv(L, sizeof *c + 2 * size, 0));
  uint32_t i;
  c->count = nodes->count;
  c->child = cast(uint32_t *, (void *)(c + 1));
  c->sibling = c->child + c->count;
  memset(c->child, 0, 2 * size);
  for (i = c->count; i-- > 1; ) {
    uint32_t *first = &c->child[nodes->list[i].parent];
    c->sibling[i] = *first;
    *first = i;
  }
  luaL_setmetatable(L, CALLEES);
  return 1;
}


/* what the profiler took itself is not shown as a callee */
static int states_has (const Nodes *nodes, uint32_t id) {
  const ProfileNode *n = &nodes->list[id];
  return n->calls > 0 || (n->total > 0 && id != nodes->own);
}


static int states_more (const Nodes *nodes, const Callees *c, uint32_t id) {
  uint32_t i = c->child[id];
  while (i != 0 && !states_has(nodes, i)) i = c->sibling[i];
  return i != 0;
}


typedef struct Child {
  int64_t total;
  uint32_t id;
} Child;


/* by total time; of the same time, the one that was met first */
static int states_order (const void *a, const void *b) {
  const Child *x = cast(const Child *, a), *y = cast(const Child *, b);
  if (x->total != y->total) return x->total < y->total ? 1 : -1;
  return x->id < y->id ? -1 : x->id > y->id;
}


/* the callees of 'id' that have figures, which are pushed */
static Child *states_sorted (lua_State *L, const Nodes *nodes,
                             const Callees *c, uint32_t id, uint32_t *count) {
  uint32_t n = 0, i;
  Child *list;
  for (i = c->child[id]; i != 0; i = c->sibling[i])
    n += (uint32_t)states_has(nodes, i);
  list = cast(Child *, lua_newuserdatauv(L, (n + 1) * sizeof *list, 0));
  *count = n;
  n = 0;
  for (i = c->child[id]; i != 0; i = c->sibling[i]) {
    if (!states_has(nodes, i)) continue;
    list[n].total = nodes->list[i].total;
    list[n++].id = i;
  }
  qsort(list, n, sizeof *list, states_order);
  return list;
}


/*
** nodes, callees, id -> { id, function, line of the call, has it callees?,
** ... }: the callees of a state that were called or took time, by time
*/
static int states_children (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  const Callees *c = cast(const Callees *, luaL_checkudata(L, 2, CALLEES));
  lua_Integer id = luaL_checkinteger(L, 3), at = 0;
  uint32_t count, i;
  const Child *list;
  luaL_argcheck(L, c->count == nodes->count, 2, "of another profile");
  luaL_argcheck(L, id >= 1 && id <= nodes->count, 3, "no such node");
  list = states_sorted(L, nodes, c, (uint32_t)id - 1, &count);
  lua_createtable(L, (int)count * 4, 0);
  for (i = 0; i < count; i++) {
    const ProfileNode *n = &nodes->list[list[i].id];
    lua_pushinteger(L, (lua_Integer)list[i].id + 1);
    lua_rawseti(L, -2, ++at);
    lua_pushinteger(L, (lua_Integer)n->func + 1);
    lua_rawseti(L, -2, ++at);
    lua_pushinteger(L, n->call_line);
    lua_rawseti(L, -2, ++at);
    lua_pushboolean(L, states_more(nodes, c, list[i].id));
    lua_rawseti(L, -2, ++at);
  }
  return 1;
}

/* }====================================================== */


/* {======================================================
** Time on behalf of others
** ======================================================= */

/*
** { function -> group } at 'arg' as the level of recursion of each node,
** from 1, which is pushed
*/
static uint32_t *states_levels (lua_State *L, const Nodes *nodes, int arg) {
  uint32_t *level = cast(uint32_t *, lua_newuserdatauv(L,
    2 * nodes->count * sizeof *level, 0));
  uint32_t *group = level + nodes->count, groups = 0, i;
  for (i = 0; i < nodes->count; i++) {
    lua_rawgeti(L, arg, (lua_Integer)nodes->list[i].func + 1);
    group[i] = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
    if (group[i] >= groups) groups = group[i] + 1;
  }
  if (!nodes_levels(nodes, &recording_get(L)->memory, group, groups, level))
    luaL_error(L, "cprof: out of memory");
  for (i = 0; i < nodes->count; i++) level[i]++;
  return level;
}


/*
** nodes -> flags, which are pushed: is it of the group at 'arg' and, where
** 'level' is given, of that level? A group is { function -> boolean }, its
** level at 'arg + 1' is 0 for all.
*/
static uint8_t *states_flags (lua_State *L, const Nodes *nodes, int arg,
                              const uint32_t *level) {
  lua_Integer wanted = luaL_checkinteger(L, arg + 1);
  uint8_t *flag = cast(uint8_t *, lua_newuserdatauv(L, nodes->count, 0));
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
** nodes, { function -> is it? }, level, { function -> above? }, level,
** { function -> group } -> sums; levels of recursion are those of groups
*/
static int states_attribute (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  const uint32_t *level = states_levels(L, nodes, 6);
  const uint8_t *is = states_flags(L, nodes, 2, level);
  const uint8_t *above = states_flags(L, nodes, 4, level);
  uint8_t *room = cast(uint8_t *, lua_newuserdatauv(L, nodes->count, 0));
  SumRow sum = nodes_attribute(nodes, is, above, room);
  lsums_pushrow(L, &sum);
  return 1;
}

/* }====================================================== */


static const luaL_Reg states_functions[] = {
  {"callees", states_callees},
  {"children", states_children},
  {"attribute", states_attribute},
  {NULL, NULL}
};


void lstates_open (lua_State *L) {
  luaL_newmetatable(L, CALLEES);
  lua_pop(L, 1);
  luaL_setfuncs(L, states_functions, 0);
}


int lstates_own (lua_CFunction f) {
  return lown_has(states_functions, f);
}

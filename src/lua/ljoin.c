/*
** See ljoin.h
*/

#include "lua/ljoin.h"

#include "lua/lcallgraph.h"
#include "lua/lnodes.h"
#include "lua/lstate.h"
#include "profile/join.h"


#define JOIN	"cprof.profile.join"


static int ljoin_gc (lua_State *L) {
  join_free(cast(Join *, luaL_checkudata(L, 1, JOIN)));
  return 0;
}


typedef int (*JoinAdd) (Join *j, const Nodes *nodes,
                        const MergeFunction *function, MergePlace *to);

/* Adds the tree at 'arg', with the map and shifts at the next two. */
static void ljoin_add (lua_State *L, Join *j, int arg, JoinAdd add) {
  const Nodes *nodes = lnodes_check(L, arg);
  const MergeFunction *f;
  int top = lua_gettop(L);
  lua_pushvalue(L, arg + 1);
  lua_pushvalue(L, arg + 2);
  f = lcallgraph_mapping(L, nodes);
  if (!add(j, nodes, f, lnodes_array(L, MergePlace, nodes->count)))
    luaL_error(L, "not enough memory");
  lua_settop(L, top);
}


static void ljoin_move (lua_State *L, Join *j) {
  lua_Unsigned functions = lua_rawlen(L, 2) + lua_rawlen(L, 5);
  uint32_t count = merge_count(&j->sum) + 1, i;
  uint32_t *path = lnodes_array(L, uint32_t, count);
  for (i = 1; i < count; i++)
    if (merge_node(&j->sum, i)->func >= functions)
      luaL_error(L, "cprof: no such function");
  if (!join_paths(j, path)) luaL_error(L, "not enough memory");
  join_move(j, path, lnodes_array(L, JoinGroup, count),
            lnodes_array(L, JoinGroup, (size_t)functions));
}


static void ljoin_push (lua_State *L, const Join *j) {
  uint32_t *id = lnodes_array(L, uint32_t, merge_count(&j->sum) + 1);
  uint32_t count = join_number(j, id);
  ProfileNode *list = lnodes_new(L, count, NULL);
  join_copy(j, id, list);
  nodes_total(list, count);
}


/*
** nodes, map, shifts of a tree with calls; nodes, map, shifts of one with times
** -> nodes; ns that stayed in their call paths; ns that went to other nodes of
** their functions; ns for which there is no node. See 'core.merge' for maps and
** shifts.
*/
static int ljoin_join (lua_State *L) {
  Join *j;
  lua_settop(L, 6);
  j = cast(Join *, lnodes_room(L, 1, sizeof *j));
  luaL_setmetatable(L, JOIN);
  if (!join_init(j, &lstate_recorder(L)->recording.memory))
    return luaL_error(L, "not enough memory");
  ljoin_add(L, j, 1, join_calls);
  ljoin_add(L, j, 4, join_times);
  ljoin_move(L, j);
  ljoin_push(L, j);
  lua_pushinteger(L, j->shares.path);
  lua_pushinteger(L, j->shares.function);
  lua_pushinteger(L, j->shares.none);
  join_free(j);
  return 4;
}


static const luaL_Reg ljoin_list[] = {
  {"join", ljoin_join},
  {NULL, NULL}
};

const luaL_Reg *ljoin_functions (void) {
  return ljoin_list;
}


void ljoin_open (lua_State *L) {
  luaL_newmetatable(L, JOIN);
  lua_pushcfunction(L, ljoin_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}

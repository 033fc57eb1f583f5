/*
** See lnodes.h
*/

#include "lnodes.h"

#include <lauxlib.h>


#define NODES	"cprof.nodes"


Nodes *lnodes_check (lua_State *L, int arg) {
  return cast(Nodes *, luaL_checkudata(L, arg, NODES));
}


ProfileNode *lnodes_new (lua_State *L, uint32_t count) {
  size_t bytes = sizeof(Nodes) + count * sizeof(ProfileNode);
  Nodes *nodes = cast(Nodes *, lua_newuserdatauv(L, bytes, 0));
  ProfileNode *list = (ProfileNode *)(void *)(nodes + 1);
  nodes->list = list;
  nodes->count = count;
  nodes->own = nodes->fold = 0;
  luaL_setmetatable(L, NODES);
  return list;
}


static int nodes_len (lua_State *L) {
  lua_pushinteger(L, lnodes_check(L, 1)->count);
  return 1;
}


/*
** nodes[id], a table made for this occasion. Functions are those of the
** recording, that start from 0; the Lua part has ids that start from 1.
*/
static int nodes_index (lua_State *L) {
  const Nodes *nodes = lnodes_check(L, 1);
  const ProfileNode *n;
  int isint;
  lua_Integer id = lua_tointegerx(L, 2, &isint);
  if (!isint || id < 1 || id > nodes->count) return 0;
  n = &nodes->list[id - 1];
  lua_createtable(L, 0, 8);
  lua_pushinteger(L, id);
  lua_setfield(L, -2, "id");
  lua_pushinteger(L, id == 1 ? 0 : n->parent + 1);
  lua_setfield(L, -2, "parent");
  lua_pushinteger(L, n->func + 1);
  lua_setfield(L, -2, "func");
  lua_pushinteger(L, n->call_line);
  lua_setfield(L, -2, "call_line");
  lua_pushinteger(L, n->calls);
  lua_setfield(L, -2, "calls");
  lua_pushinteger(L, n->self);
  lua_setfield(L, -2, "self_ns");
  lua_pushinteger(L, n->raw);
  lua_setfield(L, -2, "self_raw_ns");
  lua_pushinteger(L, n->total);
  lua_setfield(L, -2, "total_ns");
  return 1;
}


void lnodes_set (lua_State *L, const char *name, lua_Integer n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, name);
}


void *lnodes_room (lua_State *L, size_t items, size_t size) {
  return lua_newuserdatauv(L, items * size + 1, 0);
}


static const luaL_Reg nodes_methods[] = {
  {"__len", nodes_len},
  {"__index", nodes_index},
  {NULL, NULL}
};


void lnodes_open (lua_State *L) {
  luaL_newmetatable(L, NODES);
  luaL_setfuncs(L, nodes_methods, 0);
  lua_pop(L, 1);
}

/*
** See collection.h
**
** A weak table has a value that nothing else has. Lua takes it out in each
** cycle of the collector, before it frees anything that this cycle found.
*/

#include "identity/collection.h"


/* address: key in the registry */
static const char COLLECTION = 0;


void collection_init (lua_State *L) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &COLLECTION);
}


/* -> */
static int collection_store (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &COLLECTION);
  lua_newtable(L);
  lua_rawseti(L, -2, 1);
  return 0;
}


int collection_none (lua_State *L) {
  int none = 0;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &COLLECTION) == LUA_TTABLE) {
    none = lua_rawgeti(L, -1, 1) == LUA_TTABLE;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  if (!none) {
    lua_pushcfunction(L, collection_store);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) lua_pop(L, 1);
  }
  return none;
}

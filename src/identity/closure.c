/*
** See closure.h
*/

#include "identity/closure.h"


/* address: key in the registry */
static const char CLOSURES = 0;


void closure_init (lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &CLOSURES);
}


uint32_t closure_get (lua_State *L) {
  lua_Integer id = 0;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &CLOSURES) == LUA_TTABLE) {
    lua_pushvalue(L, -2);
    lua_rawget(L, -2);
    id = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return (uint32_t)id;
}


/* closure, id -> */
static int closure_store (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &CLOSURES);
  lua_insert(L, 1);
  lua_rawset(L, 1);
  return 0;
}


/* Grows the stack first: a call that has to grow it may collect garbage. */
void closure_set (lua_State *L, uint32_t func) {
  if (!lua_checkstack(L, 3 + LUA_MINSTACK)) return;
  lua_pushcfunction(L, closure_store);
  lua_pushvalue(L, -2);
  lua_pushinteger(L, func);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) lua_pop(L, 1);
}

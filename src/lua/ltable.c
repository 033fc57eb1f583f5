/*
** See ltable.h
*/

#include "lua/ltable.h"

#include <string.h>


void ltable_setinteger (lua_State *L, const char *name, lua_Integer n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, name);
}


void ltable_setflag (lua_State *L, const char *name, int yes) {
  lua_pushboolean(L, yes);
  lua_setfield(L, -2, name);
}


void ltable_setstring (lua_State *L, const char *name, const char *s) {
  lua_pushstring(L, s);
  lua_setfield(L, -2, name);
}


void ltable_setbytes (lua_State *L, const char *name, const void *p,
                      size_t size) {
  lua_pushlstring(L, cast(const char *, p), size);
  lua_setfield(L, -2, name);
}


lua_Integer ltable_integer (lua_State *L, int arg, const char *name) {
  lua_Integer n;
  lua_getfield(L, arg, name);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}


uint64_t ltable_figure (lua_State *L, int arg, const char *name) {
  return (uint64_t)ltable_integer(L, arg, name);
}


int ltable_flag (lua_State *L, int arg, const char *name) {
  int yes;
  lua_getfield(L, arg, name);
  yes = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return yes;
}


void ltable_bytes (lua_State *L, int arg, const char *name, void *to,
                   size_t size) {
  size_t length;
  const char *s;
  lua_getfield(L, arg, name);
  s = lua_tolstring(L, -1, &length);
  if (s != NULL && length == size) memcpy(to, s, size);
  lua_pop(L, 1);
}


unsigned ltable_choice (lua_State *L, int arg, const char *name,
                        const char *const names[]) {
  const char *value;
  unsigned i = 0;
  lua_getfield(L, arg, name);
  value = luaL_optstring(L, -1, "");
  while (names[i] != NULL && strcmp(value, names[i]) != 0) i++;
  lua_pop(L, 1);
  return names[i] != NULL ? i : 0;
}


void ltable_put (lua_State *L, lua_Integer *at, lua_Integer n) {
  lua_pushinteger(L, n);
  lua_rawseti(L, -2, ++*at);
}


lua_Integer ltable_at (lua_State *L, int arg, lua_Integer i) {
  lua_Integer n;
  lua_rawgeti(L, arg, i);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}

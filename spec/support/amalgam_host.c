/*
** A small host, with cprof as 'make amalgamation' hands it out: runs a
** script and prints its report. Without Lua's libraries if there is a
** second argument.
*/

#include <stdio.h>

#ifdef __cplusplus
#include <lua.hpp>
#else
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#endif

#include "cprof.h"


/* script, without libraries? */
static int host_run (lua_State *L) {
  const char *script = (const char *)lua_touserdata(L, 1);
  if (lua_toboolean(L, 2)) luaL_requiref(L, "_G", luaopen_base, 1);
  else luaL_openlibs(L);
  luaL_requiref(L, "cprof", luaopen_cprof, 0);
  lua_getfield(L, -1, "start");
  lua_call(L, 0, 0);
  if (luaL_loadfile(L, script) != LUA_OK) return lua_error(L);
  lua_call(L, 0, 0);
  lua_getfield(L, -1, "stop");
  lua_call(L, 0, 0);
  lua_getfield(L, -1, "report");
  lua_call(L, 0, 1);
  (void)fputs(lua_tostring(L, -1), stdout);
  return 0;
}


int main (int argc, char **argv) {
  lua_State *L = luaL_newstate();
  int status;
  if (L == NULL || argc < 2) return 2;
  lua_pushcfunction(L, host_run);
  lua_pushlightuserdata(L, argv[1]);
  lua_pushboolean(L, argc > 2);
  status = lua_pcall(L, 2, 0, 0);
  if (status != LUA_OK) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  return status == LUA_OK ? 0 : 1;
}

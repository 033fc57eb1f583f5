/*
** Runs a script, and counts what Lua's lua_getstack costs, by the linker's
** --wrap: 'visited()' returns the levels that it has passed since the last
** call. The script's argument is the first one.
*/

#include <stdio.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "cprof.h"


int __real_lua_getstack (lua_State *L, int level, lua_Debug *ar);
int __wrap_lua_getstack (lua_State *L, int level, lua_Debug *ar);

static lua_Integer levels;

int __wrap_lua_getstack (lua_State *L, int level, lua_Debug *ar) {
  levels += level + 1;
  return __real_lua_getstack(L, level, ar);
}


static int visited (lua_State *L) {
  lua_pushinteger(L, levels);
  levels = 0;
  return 1;
}


int main (int count, char **words) {
  lua_State *L = luaL_newstate();
  int failed;
  if (L == NULL || count < 2) return 1;
  luaL_openlibs(L);
  cprof_open(L);
  lua_register(L, "visited", visited);
  lua_pushstring(L, words[2]);
  lua_setglobal(L, "argument");
  failed = luaL_dofile(L, words[1]);
  if (failed) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  lua_close(L);
  return failed;
}

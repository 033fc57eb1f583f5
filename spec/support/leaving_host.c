/*
** Early exits out of zones, where no Lua function runs. Prints the zones,
** each with the one around it. With OTHER_COMPILER, cprof.h does not know
** that this is GCC or Clang, and in C zones need CPROF_LEAVE.
*/

#include <stdint.h>
#include <stdio.h>

#if defined(OTHER_COMPILER)
#undef __GNUC__
#endif

#include "cprof.h"

#ifdef __cplusplus
#include <lua.hpp>
#else
#include <lauxlib.h>
#include <lualib.h>
#endif

#if defined(__cplusplus) || defined(__GNUC__)
#define LEAVE(L)	((void)0)
#else
#define LEAVE(L)	CPROF_LEAVE(L)
#endif


CPROF_STATIC(outer);


static int by_return (lua_State *L, int early) {
  CPROF_REGION(L, outer) {
    if (early) { LEAVE(L); return 1; }
  } CPROF_END(L)
  CPROF_BEGIN(L, returned) {
    if (early) return 1;
  } CPROF_END(L)
  return 0;
}


static int by_goto (lua_State *L, int early) {
  CPROF_BEGIN(L, goes) {
    if (early) { CPROF_LEAVE(L); goto out; }
  } CPROF_END(L)
  return 0;
 out:
  CPROF_BEGIN(L, gone) {
    CPROF_LEAVE(L);
  } CPROF_END(L)
  return 1;
}


static int by_break (lua_State *L, int turns) {
  int i;
  for (i = 0; i < turns; i++) {
    CPROF_NAMED(L, i % 2 ? "odd" : "even") {
      if (i == 1) { LEAVE(L); continue; }
      if (i == 4) { LEAVE(L); break; }
    } CPROF_END(L)
  }
  return i;
}


static const char shown[] =
  "local p = require 'cprof'.snapshot()\n"
  "for id, node in ipairs(p.nodes) do\n"
  "  local f = p.functions[node.func]\n"
  "  if f.kind == 'zone' then\n"
  "    local above = p.functions[p.nodes[node.parent].func]\n"
  "    print(f.name .. ' ' .. node.calls .. ' in ' .. above.name)\n"
  "  end\n"
  "end\n";


int main (void) {
  lua_State *L = luaL_newstate();
  int i;
  if (L == NULL) return 1;
  luaL_openlibs(L);
  if (cprof_open(L) != LUA_OK || cprof_start(L, NULL) != LUA_OK) return 1;
  for (i = 0; i < 3; i++) {
    if (by_return(L, 1) != 1 || by_return(L, 0) != 0) return 1;
    if (by_goto(L, 1) != 1 || by_goto(L, 0) != 0) return 1;
    if (by_break(L, 6) != 4) return 1;
  }
  cprof_stop(L);
  if (luaL_dostring(L, shown)) printf("%s\n", lua_tostring(L, -1));
  lua_close(L);
  return 0;
}

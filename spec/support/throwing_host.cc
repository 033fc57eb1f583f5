/*
** Exceptions of C++ and errors of Lua that leave zones. Prints the tree of
** what ran; "bare" as argument: without Lua's libraries.
*/

#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "cprof.h"

#include <lua.hpp>


CPROF_DEFINE(outer);


static int throws (lua_State *L) {
  CPROF_REGION(L, outer) {
    try {
      CPROF_BEGIN(L, thrown) {
        CPROF_BEGIN(L, deeper) {
          throw std::runtime_error("no");
        } CPROF_END(L)
      } CPROF_END(L)
    }
    catch (const std::runtime_error &) {
    }
    CPROF_BEGIN(L, after) {
    } CPROF_END(L)
  } CPROF_END(L)
  return 0;
}


static void scoped (lua_State *L, int depth) {
  CPROF_SCOPE(L, scope);
  if (depth > 1) scoped(L, depth - 1);
  else throw std::runtime_error("no");
}


/* scopes are left, one by one, by the exception */
static int scopes (lua_State *L) {
  try { scoped(L, 3); }
  catch (const std::runtime_error &) { }
  CPROF_SCOPE(L, after);
  return 0;
}


/* an error of Lua leaves a zone and a function below it */
static int fails (lua_State *L) {
  CPROF_BEGIN(L, failing) {
    luaL_error(L, "no");
  } CPROF_END(L)
  return 0;
}


static int run (lua_State *L) {
  static const char script[] =
    "throws() scopes() pcall(fails) throws() pcall(pcall, fails)"
    "coroutine.wrap(function() throws() pcall(fails) scopes() end)()";
  if (lua_toboolean(L, 1)) luaL_requiref(L, "_G", luaopen_base, 1);
  else luaL_openlibs(L);
  luaL_requiref(L, "cprof", luaopen_cprof, 0);
  lua_register(L, "throws", throws);
  lua_register(L, "scopes", scopes);
  lua_register(L, "fails", fails);
  if (cprof_start(L, NULL) != LUA_OK) return lua_error(L);
  if (luaL_loadbufferx(L, script, sizeof script - 1, "=script", "t"))
    return lua_error(L);
  lua_call(L, 0, 0);
  cprof_stop(L);
  return 0;
}


static const char tree[] =
  "local p = require 'cprof'.snapshot()\n"
  "local depth, out = {}, {}\n"
  "for id, node in ipairs(p.nodes) do\n"
  "  local f = p.functions[node.func]\n"
  "  if depth[node.parent] then depth[id] = depth[node.parent] + 1\n"
  "  elseif f.kind == 'main' then depth[id] = 0 end\n"
  "  if depth[id] then\n"
  "    print((' '):rep(depth[id]) .. f.name .. ' ' .. node.calls)\n"
  "  end\n"
  "end\n"
  "print(p.meta.unmatched)\n";


int main (int argc, char **argv) {
  lua_State *L = luaL_newstate();
  (void)argv;
  lua_pushcfunction(L, run);
  lua_pushboolean(L, argc > 1);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK || luaL_dostring(L, tree)) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    lua_close(L);
    return 1;
  }
  lua_close(L);
  return 0;
}

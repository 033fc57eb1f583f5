/*
** Opens cprof in a host that has all of it compiled in. The text of the Lua
** part is in 'embedded.h', which 'embed.lua' writes.
*/

#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "cprof.h"
#include "embedded.h"
#include "base/platform.h"


static const char *embed_read (lua_State *L, void *ud, size_t *size) {
  const char *const **next = cast(const char *const **, ud);
  const char *piece = **next;
  (void)L;
  if (piece == NULL) return NULL;
  ++*next;
  *size = strlen(piece);
  return piece;
}


/*
** name, loader data, globals or nothing -> what the module's chunk returns
** Runs the chunk with these globals; without them, with the program's.
*/
static int embed_load (lua_State *L) {
  const Embedded *m = cast(const Embedded *,
                           lua_touserdata(L, lua_upvalueindex(1)));
  const char *const *next = m->piece;
  if (lua_load(L, embed_read, &next, m->chunk, "t") != LUA_OK)
    return lua_error(L);
  if (lua_istable(L, 3)) {
    lua_pushvalue(L, 3);
    lua_setupvalue(L, -2, 1);
  }
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}


static void embed_push (lua_State *L, const Embedded *m) {
  lua_pushlightuserdata(L, (void *)m);
  lua_pushcclosure(L, embed_load, 1);
}


/*
** Pushes package.preload. Raises an error if the library is not open, for
** then the modules could not find each other.
*/
static void embed_pushpreload (lua_State *L) {
  int open = lua_getglobal(L, "require") == LUA_TFUNCTION;
  lua_pop(L, 1);
  if (lua_getfield(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE) != LUA_TTABLE ||
      !open)
    luaL_error(L, "cprof needs Lua's library 'package': open it "
                  "(luaopen_package or luaL_openlibs) before cprof");
}


int luaopen_cprof (lua_State *L) {
  const Embedded *m;
  luaL_checkstack(L, 4, NULL);
  embed_pushpreload(L);
  lua_pushcfunction(L, luaopen_cprof_core);
  lua_setfield(L, -2, "cprof.core");
  for (m = embedded + 1; m->name != NULL; m++) {
    embed_push(L, m);
    lua_setfield(L, -2, m->name);
  }
  embed_push(L, embedded);
  lua_pushstring(L, embedded->name);
  lua_call(L, 1, 1);
  return 1;
}


static int embed_open (lua_State *L) {
  luaL_requiref(L, "cprof", luaopen_cprof, 0);
  return 0;
}


int cprof_open (lua_State *L) {
  lua_pushcfunction(L, embed_open);
  return lua_pcall(L, 0, 0, 0);
}

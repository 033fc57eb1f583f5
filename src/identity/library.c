/*
** See library.h
*/

#include "identity/library.h"

#include <string.h>

#include <lauxlib.h>
#include <lualib.h>


static lua_CFunction library_field (lua_State *L, const char *name) {
  lua_CFunction f;
  lua_getfield(L, -1, name);
  f = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  return f;
}


/*
** The function that closes a large buffer, from the metatable of the
** buffer's userdata. The buffer does not become a string: from Lua 5.5 on,
** that would collect garbage. It stays on the stack until the caller
** returns: popping it moves the stack, which Lua 5.4.3 and 5.4.4 do not
** expect.
*/
static lua_CFunction library_box (lua_State *L) {
  luaL_Buffer b;
  lua_CFunction f = NULL;
  luaL_buffinitsize(L, &b, 1 << 20);
  if (luaL_getmetatable(L, "_UBOX*") == LUA_TTABLE)
    f = library_field(L, "__close");
  lua_pop(L, 1);
  return f;
}


/* Library -> */
static int library_fill (lua_State *L) {
  Library *l = cast(Library *, lua_touserdata(L, 1));
  luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
  l->error = library_field(L, "error");
  l->xpcall = library_field(L, "xpcall");
  l->collect = library_field(L, "collectgarbage");
  luaL_requiref(L, LUA_COLIBNAME, luaopen_coroutine, 0);
  l->resume = library_field(L, "resume");
  l->yield = library_field(L, "yield");
  l->create = library_field(L, "create");
  l->makewrap = library_field(L, "wrap");
  l->close = library_field(L, "close");
  lua_getfield(L, -1, "wrap");
  lua_pushcfunction(L, library_fill);  /* not called: any function will do */
  lua_call(L, 1, 1);
  l->wrap = lua_tocfunction(L, -1);
  l->box = library_box(L);
  return 0;
}


int library_find (Library *l, const Memory *m) {
  lua_State *L = memory_state(m);
  int ok;
  memset(l, 0, sizeof *l);
  if (L == NULL) return 0;
  lua_pushcfunction(L, library_fill);
  lua_pushlightuserdata(L, l);
  ok = lua_pcall(L, 1, 0, 0) == LUA_OK;
  lua_close(L);
  return ok;
}

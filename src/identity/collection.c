/*
** See collection.h
**
** A weak table holds the only reference to a mark, a userdata. Each cycle
** of the collector removes the mark, before it frees anything it found
** dead. The mark's finalizer puts a new one there: allocating it in a hook
** could make Lua collect.
*/

#include "identity/collection.h"


#if !defined(CPROF_AMALGAMATION)
PLATFORM_THREAD int collection_marks;
#endif


/* address: key in the registry */
static const char COLLECTION = 0;


/* Puts a mark with the metatable at 'metatable' into the table on top. */
static void collection_mark (lua_State *L, int metatable) {
  uint64_t *mark =
    cast(uint64_t *, lua_newuserdatauv(L, sizeof *mark, 0));
  *mark = platform_ticks() | 1;
  lua_pushvalue(L, metatable);
  lua_setmetatable(L, -2);
  lua_rawseti(L, -2, 1);
}


/* old mark -> */
static int collection_renew (lua_State *L) {
  lua_settop(L, 1);
  if (!lua_getmetatable(L, 1) ||
      lua_rawgetp(L, LUA_REGISTRYINDEX, &COLLECTION) != LUA_TTABLE)
    return 0;
  /* another start has put its own mark there */
  if (lua_rawgeti(L, 3, 1) != LUA_TNIL) return 0;
  lua_pop(L, 1);
  collection_mark(L, 2);
  return 0;
}


/*
** Without memory or C stack, no mark is made: 'collection_now' returns 0
** until the next recording. Lua does not collect during finalizers, so no
** other finalizer runs here.
*/
static int collection_gc (lua_State *L) {
  collection_marks = COLLECTION_ALL;
  lua_settop(L, 1);
  lua_pushcfunction(L, collection_renew);
  lua_insert(L, 1);
  lua_pcall(L, 1, 0, 0);
  collection_marks = COLLECTION_NONE;
  return 0;
}


void collection_init (lua_State *L) {
  int top = lua_gettop(L);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, collection_gc);
  lua_setfield(L, -2, "__gc");
  lua_createtable(L, 1, 0);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  collection_marks = COLLECTION_USERDATA;
  collection_mark(L, top + 1);
  collection_marks = COLLECTION_NONE;
  lua_rawsetp(L, LUA_REGISTRYINDEX, &COLLECTION);
  lua_settop(L, top);
}


uint64_t collection_now (lua_State *L) {
  const uint64_t *mark = NULL;
  uint64_t now = 0;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &COLLECTION) == LUA_TTABLE) {
    lua_rawgeti(L, -1, 1);
    mark = cast(const uint64_t *, lua_touserdata(L, -1));
    if (mark != NULL) now = *mark;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return now;
}

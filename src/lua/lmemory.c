/*
** See lmemory.h
*/

#include "lua/lmemory.h"

#include <string.h>

#include "lua/lstate.h"
#include "system/system.h"


#define ARENA	"cprof.arena"


static void lmemory_fail (void *ud) {
  luaL_error(cast(lua_State *, ud), "cprof: out of memory");
}


static int lmemory_gc (lua_State *L) {
  arena_free(cast(Arena *, luaL_checkudata(L, 1, ARENA)));
  return 0;
}


Arena *lmemory_arena (lua_State *L) {
  const Memory *m = &lstate_recorder(L)->recording.memory;
  Arena *a = cast(Arena *, lua_newuserdatauv(L, sizeof *a, 0));
  arena_init(a, m, lmemory_fail, L);
  luaL_setmetatable(L, ARENA);
  return a;
}


void *lmemory_block (lua_State *L, size_t size) {
  return memset(lua_newuserdatauv(L, size, 0), 0, size);
}


uint32_t *lmemory_integers (lua_State *L, int arg, size_t count,
                            const Memory *m) {
  uint32_t *list;
  size_t i;
  if (lua_isnoneornil(L, arg)) return NULL;
  luaL_checktype(L, arg, LUA_TTABLE);
  list = memory_new(m, uint32_t, count);
  for (i = 0; i < count; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    list[i] = lua_isboolean(L, -1) ? (uint32_t)lua_toboolean(L, -1)
                                   : (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  return list;
}


void lmemory_open (lua_State *L) {
  system_class(L, ARENA, lmemory_gc);
}

/*
** The hooks that cprof is measured against: one that does nothing; the
** floor, which only reads the clock that cprof reads; and one that also
** asks who is called, as any profiler must.
*/

#include <lauxlib.h>
#include <lua.h>

#include "base/platform.h"


static PLATFORM_THREAD volatile uint64_t last;


static void hook_empty (lua_State *L, lua_Debug *ar) {
  (void)L; (void)ar;
}


static void hook_floor (lua_State *L, lua_Debug *ar) {
  (void)L; (void)ar;
  last = platform_ticks();
}


static void hook_asking (lua_State *L, lua_Debug *ar) {
  last = platform_ticks();
  if (ar->event == LUA_HOOKRET) return;
  lua_getinfo(L, "S", ar);
  if (*ar->what == 'C') lua_getinfo(L, "f", ar);
}


static int bench_set (lua_State *L) {
  static const char *const names[] = {
    "bare", "empty", "floor", "asking", "line floor", NULL
  };
  static const lua_Hook hooks[] = {
    NULL, hook_empty, hook_floor, hook_asking, hook_floor
  };
  const int calls = LUA_MASKCALL | LUA_MASKRET;
  const int masks[] = {0, calls, calls, calls, calls | LUA_MASKLINE};
  int i = luaL_checkoption(L, 1, "bare", names);
  lua_sethook(L, hooks[i], masks[i], 0);
  return 0;
}


static int bench_now (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)platform_monotonic());
  return 1;
}


/* Callgrind writes what it has counted whenever this is called. */
void bench_mark (void);
NOINLINE void bench_mark (void) {
  last = 0;
}


static int bench_part (lua_State *L) {
  (void)L;
  bench_mark();
  return 0;
}


int luaopen_bench_hooks (lua_State *L);
int luaopen_bench_hooks (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"set", bench_set}, {"now", bench_now}, {"part", bench_part},
    {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}

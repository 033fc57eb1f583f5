/*
** Takes the hook of a coroutine away while the profiler itself calls Lua,
** so that these calls are not recorded.
*/

#ifndef hookguard_h
#define hookguard_h

#include <lua.h>


typedef struct HookGuard {
  lua_Hook hook;
  int mask, count;
} HookGuard;


static inline HookGuard hookguard_begin (lua_State *L) {
  HookGuard g;
  g.hook = lua_gethook(L);
  g.mask = lua_gethookmask(L);
  g.count = lua_gethookcount(L);
  lua_sethook(L, NULL, 0, 0);
  return g;
}


static inline void hookguard_end (lua_State *L, HookGuard g) {
  lua_sethook(L, g.hook, g.mask, g.count);
}

#endif

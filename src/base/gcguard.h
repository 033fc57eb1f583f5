/*
** Holds the garbage collector off while the profiler itself calls Lua or
** allocates, so that no finalizer runs there. Afterwards the collector is
** where it was: the program's collections come when they would have come.
*/

#ifndef gcguard_h
#define gcguard_h

#include <lua.h>


#if LUA_VERSION_NUM == 504

/*
** LUA_GCRESTART lets a collection begin at the next allocation, whatever
** was left until then. LUA_GCSTEP adds KBytes to what is left, of either
** sign.
*/
#define GCGUARD_AHEAD	(1 << 20)

static inline int gcguard_begin (lua_State *L) {
  int running = lua_gc(L, LUA_GCISRUNNING);
  if (running) lua_gc(L, LUA_GCSTEP, -GCGUARD_AHEAD);
  return running;
}

static inline void gcguard_end (lua_State *L, int running) {
  if (running) lua_gc(L, LUA_GCSTEP, GCGUARD_AHEAD);
}

#else

static inline int gcguard_begin (lua_State *L) {
  int running = lua_gc(L, LUA_GCISRUNNING);
  lua_gc(L, LUA_GCSTOP);
  return running;
}

static inline void gcguard_end (lua_State *L, int running) {
  if (running) lua_gc(L, LUA_GCRESTART);
}

#endif

#endif

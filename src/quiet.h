/*
** Calling Lua from outside the hook without its being recorded.
*/

#ifndef quiet_h
#define quiet_h

#include <lua.h>


/* the hook that a coroutine had */
typedef struct Quiet {
  lua_Hook hook;
  int mask, count;
} Quiet;


static inline Quiet quiet_begin (lua_State *L) {
  Quiet q;
  q.hook = lua_gethook(L);
  q.mask = lua_gethookmask(L);
  q.count = lua_gethookcount(L);
  lua_sethook(L, NULL, 0, 0);
  return q;
}


static inline void quiet_end (lua_State *L, Quiet q) {
  lua_sethook(L, q.hook, q.mask, q.count);
}

#endif

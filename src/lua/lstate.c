/*
** See lstate.h
*/

#include "lua/lstate.h"

#include <string.h>


/* address: key in the registry */
static const char CORE = 0;


Core *lstate_get (lua_State *L) {
  Core *c;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &CORE) == LUA_TUSERDATA)
    c = cast(Core *, lua_touserdata(L, -1));
  else {
    recorder_make(L);
    c = cast(Core *, lua_newuserdatauv(L, sizeof *c, 0));
    memset(c, 0, sizeof *c);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &CORE);
    c->recorder = recorder_get(L);
    c->recorder->internal = c->internal;
  }
  lua_pop(L, 1);
  return c;
}


void lstate_internal (Core *c, lua_CFunction f) {
  Recorder *r = c->recorder;
  uint32_t i;
  for (i = 0; i < r->internals; i++)
    if (c->internal[i] == f) return;
  if (r->internals < INTERNALS_MAX) c->internal[r->internals++] = f;
}


void lstate_internals (Core *c, const luaL_Reg *list) {
  for (; list->name != NULL; list++) lstate_internal(c, list->func);
}

/*
** See lstate.h
*/

#include "lua/lstate.h"

#include <stdlib.h>

#include "heap/nogc.h"
#include "record/life.h"


/* its address: a key in the registry */
static const char MODULE = 0;


Core *lstate_get (lua_State *L) {
  Recorder *r = life_recorder(L);
  Core *c = cast(Core *, r->core);
  if (c != NULL) return c;
  r->core = c = cast(Core *, calloc(1, sizeof *c));
  if (c == NULL) luaL_error(L, "cprof: out of memory");
  r->internal = c->internal;
  return c;
}


Recorder *lstate_recorder (lua_State *L) {
  Recorder *r = recorder_get(L);
  if (r == NULL) luaL_error(L, "cprof: " RECORDER_CLOSED);
  return r;
}


void lstate_settle (const Recorder *r, lua_State *L) {
  if (r != NULL) nogc_settle(r->hot, L);
}


void lstate_setmodule (lua_State *L) {
  lua_rawsetp(L, LUA_REGISTRYINDEX, &MODULE);
}


int lstate_pushmodule (lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &MODULE) == LUA_TTABLE) return 1;
  lua_pop(L, 1);
  return 0;
}


void lstate_internal (lua_State *L, lua_CFunction f) {
  Core *c = lstate_get(L);
  Recorder *r = lstate_recorder(L);
  uint32_t i;
  for (i = 0; i < r->internals; i++)
    if (c->internal[i] == f) return;
  if (r->internals == INTERNALS_MAX)
    luaL_error(L, "more than %d functions of the profiler's own",
               INTERNALS_MAX);
  c->internal[r->internals++] = f;
}


void lstate_class (lua_State *L, const char *name, const luaL_Reg *methods) {
  luaL_newmetatable(L, name);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
  for (; methods->name != NULL; methods++) lstate_internal(L, methods->func);
}


int lstate_nogc (lua_State *L, lua_CFunction f, int arguments) {
  Recorder *r = lstate_recorder(L);
  int held = nogc_begin(r, L), status;
  int under = lua_gettop(L) - arguments;
  recorder_mute(r);
  lua_pushcfunction(L, f);
  lua_insert(L, under + 1);
  status = lua_pcall(L, arguments, LUA_MULTRET, 0);
  recorder_unmute(r);
  if (held) nogc_end(r, L);
  if (status != LUA_OK) lua_error(L);
  return lua_gettop(L) - under;
}

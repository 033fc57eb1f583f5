/*
** See parts.h: debug.sethook and debug.gethook
*/

#include "lua/parts.h"

#include <string.h>

#include <lauxlib.h>
#include <lualib.h>

#include "follow/attach.h"
#include "follow/threads.h"
#include "record/control.h"


/*
** Sets '*at' to the coroutine that the arguments mean. Returns the recorder if
** it may have a hook there; or NULL.
*/
static Recorder *lhook_recorder (lua_State *L, lua_State **at) {
  Recorder *r = recorder_get(L);
  *at = lua_isthread(L, 1) ? lua_tothread(L, 1) : L;
  return r != NULL && control_active(r, L) && r->state == STATE_RUNNING &&
         (attach_is(r, *at) || recorder_samples(r)) ? r : NULL;
}


/*
** Calls the library's function, the upvalue, which needs no upvalues itself:
** directly from C, so that the program's hook gets no events for it.
*/
static int lhook_call (lua_State *L) {
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}


/* 'lhook_call' while the program's hook is set in 'at', not ours. */
static int lhook_swap (lua_State *L, Recorder *r, lua_State *at) {
  Stack *s;
  int n;
  if (recorder_samples(r)) {
    hookswap_block(r->hookswap, at);
    n = lhook_call(L);
    hookswap_unblock(r->hookswap);
    return n;
  }
  attach_release(r, at);
  n = lhook_call(L);
  s = threads_stack(r, L, at);
  if (s == NULL) recorder_nomemory(r);
  else {
    if (at == r->hot->L) s->top = r->hot->top;
    attach_take(r, s);
  }
  return n;
}


/*
** Checks the arguments like the library does, as no error may be raised while
** the hooks are swapped.
*/
static int lhook_sethook (lua_State *L) {
  lua_State *at;
  Recorder *r = lhook_recorder(L, &at);
  int arg = lua_isthread(L, 1) ? 1 : 0;
  if (r == NULL) return lhook_call(L);
  if (!lua_isnoneornil(L, arg + 1)) {
    luaL_checkstring(L, arg + 2);
    luaL_checktype(L, arg + 1, LUA_TFUNCTION);
    luaL_optinteger(L, arg + 3, 0);
  }
  return lhook_swap(L, r, at);
}


static int lhook_gethook (lua_State *L) {
  lua_State *at;
  Recorder *r = lhook_recorder(L, &at);
  return r != NULL ? lhook_swap(L, r, at) : lhook_call(L);
}


typedef struct Replaced {
  const char *name;
  lua_CFunction ours;
} Replaced;

static const Replaced replaced[] = {
  {"sethook", lhook_sethook},
  {"gethook", lhook_gethook}
};

#define REPLACED	(sizeof replaced / sizeof *replaced)


/*
** The function that opens the library; NULL: the host does not have it compiled
** in.
*/
#if !CPROF_LUA_DEBUG
#define LHOOK_OPENER	((lua_CFunction)NULL)
#else
#define LHOOK_OPENER	luaopen_debug
#if defined(PLATFORM_WEAK)
LUAMOD_API int luaopen_debug (lua_State *L) PLATFORM_WEAK;
#endif
#endif


/* Pushes the table of the library 'debug'. 0: it is not open. */
static int lhook_library (lua_State *L) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE) != LUA_TTABLE)
    return 0;
  lua_pushstring(L, LUA_DBLIBNAME);
  return lua_rawget(L, -2) == LUA_TTABLE;
}


/* Pushes field 'name' of the table at 'table', as a C function. */
static lua_CFunction lhook_field (lua_State *L, int table,
                                  const char *name) {
  lua_pushstring(L, name);
  lua_rawget(L, table);
  return lua_tocfunction(L, -1);
}


/* Sets field 'name' of the table at 'table' to the value on top. */
static void lhook_set (lua_State *L, int table, const char *name) {
  lua_pushstring(L, name);
  lua_insert(L, -2);
  lua_rawset(L, table);
}


void lhook_replace (lua_State *L) {
  lua_CFunction opener = LHOOK_OPENER;
  int top = lua_gettop(L), library;
  size_t i;
  if (opener != NULL && lhook_library(L)) {
    library = lua_gettop(L);
    lua_pushcfunction(L, opener);  /* makes a new table, to compare */
    lua_call(L, 0, 1);
    for (i = 0; i < REPLACED; i++) {
      const char *name = replaced[i].name;
      lua_CFunction original = lhook_field(L, library + 1, name);
      if (original != NULL && lhook_field(L, library, name) == original) {
        lua_pushcclosure(L, replaced[i].ours, 1);
        lhook_set(L, library, name);
      }
      lua_settop(L, library + 1);
    }
  }
  lua_settop(L, top);
}


void lhook_putback (lua_State *L) {
  int top = lua_gettop(L), library;
  size_t i;
  if (lhook_library(L)) {
    library = lua_gettop(L);
    for (i = 0; i < REPLACED; i++) {
      if (lhook_field(L, library, replaced[i].name) == replaced[i].ours) {
        lua_getupvalue(L, -1, 1);
        lhook_set(L, library, replaced[i].name);
      }
      lua_settop(L, library);
    }
  }
  lua_settop(L, top);
}


/*
** Sets the field 'hooks' to { name = function } of the replacements, so that
** they can be shown under the library's names. These copies must not be called.
*/
void lhook_open (lua_State *L) {
  size_t i;
  lua_createtable(L, 0, REPLACED);
  for (i = 0; i < REPLACED; i++) {
    lua_pushcfunction(L, replaced[i].ours);
    lua_setfield(L, -2, replaced[i].name);
  }
  lua_setfield(L, -2, "hooks");
}

/*
** The module "cprof" of a build that only records. It uses Lua's C API alone,
** so it needs none of Lua's libraries.
*/

#include "cprof.h"

#include "file/copy.h"
#include "heap/nogc.h"
#include "host/onlyoptions.h"
#include "lua/entry.h"
#include "lua/lfile.h"
#include "lua/lpaths.h"
#include "lua/lstate.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "lua/texts.h"
#include "record/control.h"

#if !CPROF_WHOLE


/* address: key in the registry, of the strings that describe a recording */
static const char ONLY_META = 0;


/* {======================================================
** Files
** ======================================================= */

/* Pushes the size of the heap over time, as a file has it; nil: no points. */
static COLD void only_pushheap (lua_State *L, const Timeline *t) {
  uint32_t i;
  lua_pushnil(L);
  for (i = 0; i < t->count; i++) {
    const TimelinePoint *p = &t->point[i];
    lua_pushfstring(L, "%s%s%I %I", i > 0 ? lua_tostring(L, -1) : "",
                    i > 0 ? " " : "", (LUAI_UACINT)p->ns,
                    (LUAI_UACINT)p->bytes);
    lua_remove(L, -2);
  }
}


/* Sets what a file has of memory, besides counters, in the table on top. */
static COLD void only_setmemory (lua_State *L) {
  const Recording *x = &lstate_recorder(L)->recording;
  only_pushheap(L, &x->heap);
  lua_setfield(L, -2, "heap");
  if (x->garbage == 0) return;
  lua_pushfstring(L, "%I", (LUAI_UACINT)x->garbage);
  lua_setfield(L, -2, "garbage_bytes");
}


/* -> {}, { heap = }, paths: what a live file gets at its end, see lfile.c */
static int only_naming (lua_State *L) {
  const char *before;
  size_t size = 0;
  before = texts_get(L, TEXTS_PATHS, &size);
  lua_newtable(L);
  lua_newtable(L);
  only_setmemory(L);
  lpaths_push(L, before, size);
  return 3;
}


/* Writes the strings of the start, if there are any, others, and paths. */
static int only_describe (void *ud, Journal *j) {
  lua_State *L = cast(lua_State *, ud);
  size_t size;
  const char *paths = lua_tolstring(L, -1, &size);
  int ok;
  lua_pushvalue(L, -2);
  ok = lfile_meta(L, j);
  lua_pushvalue(L, -4);
  ok = ok && (!lua_istable(L, -1) || lfile_meta(L, j));
  lua_pop(L, 2);
  return ok && lfile_paths(j, paths, size);
}


/* path, path of a file aside -> true; or nil and a message */
static COLD int only_copy (lua_State *L) {
  Recorder *r = lstate_recorder(L);
  char why[MAPPED_MESSAGE];
  int ok;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &ONLY_META);
  lua_newtable(L);
  only_setmemory(L);
  ltable_setstring(L, "cprof_version", CPROF_VERSION);
  lpaths_push(L, NULL, 0);
  ok = copy_write(&r->recording, &lstate_get(L)->overhead,
                  lua_tostring(L, 1), lua_tostring(L, 2), only_describe, L,
                  why);
  lua_settop(L, 0);
  if (ok) lua_pushboolean(L, 1);
  else lua_pushnil(L);
  lua_pushstring(L, ok ? "" : why);
  return 2;
}


/* path -> true; or nil and a message */
static int only_savenow (lua_State *L) {
  Recorder *r = lstate_recorder(L);
  int n;
  control_check(r, L);
  if (!r->started)
    luaL_error(L, "save: nothing was recorded; call start first");
  /* two states of one process may save to one path */
  lua_pushfstring(L, "%s.%d-%p.tmp", lua_tostring(L, 1),
                  (int)platform_process(), (const void *)r);
  n = lstate_nogc(L, only_copy, 2);
  if (r->state == STATE_RUNNING && !r->callback) recorder_overhead(r);
  nogc_settle(r->hot, L);
  return n;
}


/* path -> true; or nil and a message */
static int only_save (lua_State *L) {
  if (lua_type(L, 1) != LUA_TSTRING)
    luaL_error(L, "save: the path must be a string, got a %s",
               luaL_typename(L, 1));
  lua_settop(L, 1);
  lua_pushcfunction(L, only_savenow);
  lua_insert(L, 1);
  if (entry_pcall(L, 1, 2) != LUA_OK) lua_error(L);
  return 2;
}

/* }====================================================== */


/* {======================================================
** The module
** ======================================================= */

/* options or nil -> ; the upvalue is 'start' of the core */
static int only_start (lua_State *L) {
  lua_settop(L, 1);
  lua_pushcfunction(L, onlyoptions_read);
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  lua_getfield(L, 1, "meta");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pushvalue(L, 1);
  lua_call(L, 1, 2);
  if (!lua_toboolean(L, -2))
    luaL_error(L, "start: %s", lua_tostring(L, -1));
  lua_settop(L, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &ONLY_META);
  return 0;
}


static int only_running (lua_State *L) {
  lua_pushboolean(L, cprof_running(L));
  return 1;
}


/* Stands for a function, whose name is the upvalue, that is not there. */
static int only_absent (lua_State *L) {
  return luaL_error(L, "cprof: '%s' " ONLY_HINT "; save the profile, and give "
                       "the file to the command: cprof report FILE",
                    lua_tostring(L, lua_upvalueindex(1)));
}


/* Adds functions of the core, which is below the table on top. */
static void only_addcore (lua_State *L) {
  static const char *const names[] = {
    "stop", "pause", "resume", "reset", "frame", "enter", "leave", "zone",
    "label", NULL
  };
  int i;
  for (i = 0; names[i] != NULL; i++) {
    lua_getfield(L, -2, names[i]);
    lua_setfield(L, -2, names[i]);
  }
  lua_getfield(L, -2, "start");
  lua_pushcclosure(L, only_start, 1);
  lua_setfield(L, -2, "start");
  lua_getfield(L, -2, "naming");
  lua_pushcfunction(L, only_naming);
  lua_call(L, 1, 0);
}


static void only_addabsent (lua_State *L) {
  static const char *const names[] = {
    "report", "annotate", "snapshot", "view", "load", "export", "listen",
    "calibrate", "dump_recent", "dump_on_error",
    "wrap", NULL
  };
  int i;
  for (i = 0; names[i] != NULL; i++) {
    lua_pushstring(L, names[i]);
    lua_pushcclosure(L, only_absent, 1);
    lua_setfield(L, -2, names[i]);
  }
}


int luaopen_cprof (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"running", only_running}, {"save", only_save}, {NULL, NULL}
  };
  luaL_checkstack(L, 8, NULL);
  lua_pushcfunction(L, luaopen_cprof_core);
  lua_call(L, 0, 1);
  lstate_internal(L, only_running);
  lstate_internal(L, only_save);
  lstate_internal(L, only_start);
  lstate_internal(L, only_absent);
  lua_newtable(L);
  luaL_setfuncs(L, functions, 0);
  only_addcore(L);
  only_addabsent(L);
  ltable_setstring(L, "_VERSION", CPROF_VERSION);
  lua_pushvalue(L, -1);
  lstate_setmodule(L);
  return 1;
}


static int only_open (lua_State *L) {
  luaL_requiref(L, "cprof", luaopen_cprof, 0);
  return 0;
}


int cprof_open (lua_State *L) {
  lua_pushcfunction(L, only_open);
  return lua_pcall(L, 0, 0, 0);
}

/* }====================================================== */

#endif

/*
** What Lua sees of the core: arguments in, results out. Options and names
** are checked by the Lua part (lua/cprof), the only user of these.
*/

#include "cprof.h"

#include <lauxlib.h>

#include "keep.h"
#include "lcommand.h"
#include "lcprof.h"
#include "lfile.h"
#include "looks.h"
#include "lown.h"
#include "lprofile.h"
#include "lsave.h"
#include "recorder.h"
#include "zone.h"


#define ZONE	"cprof.zone"

/* addresses: in the registry, functions that the options gave */
static const char FILTER = 0;
static const char LINES = 0;
static const char TITLE = 0;
static const char TRACE = 0;

/* {======================================================
** Start and stop
** ======================================================= */

typedef struct Wanted {
  const Functions *functions;
  const Function *function;
} Wanted;


/* function, Wanted -> is it wanted? */
static int core_ask (lua_State *L) {
  Wanted *w = cast(Wanted *, lua_touserdata(L, 2));
  lua_rawgetp(L, LUA_REGISTRYINDEX, &FILTER);
  lprofile_pushfunction(L, w->functions, w->function);
  lua_pushvalue(L, 1);
  lua_call(L, 2, 1);
  return 1;
}


/* runs within the hook: an error there is a yes */
static int core_wanted (void *ud, lua_State *L, const Function *f) {
  Wanted w;
  int wanted;
  w.functions = cast(const Functions *, ud);
  w.function = f;
  lua_pushcfunction(L, core_ask);
  lua_pushvalue(L, -2);
  lua_pushlightuserdata(L, &w);
  wanted = lua_pcall(L, 2, 1, 0) != LUA_OK || lua_toboolean(L, -1);
  lua_pop(L, 1);
  return wanted;
}


/* source -> are its lines wanted? */
static int core_asklines (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &LINES);
  lua_pushstring(L, cast(const char *, lua_touserdata(L, 1)));
  lua_call(L, 1, 1);
  return 1;
}


/* runs within the hook: an error there is a no */
static int core_wantlines (lua_State *L, const char *source) {
  int wanted;
  lua_pushcfunction(L, core_asklines);
  lua_pushlightuserdata(L, (void *)source);
  wanted = lua_pcall(L, 1, 1, 0) == LUA_OK && lua_toboolean(L, -1);
  lua_pop(L, 1);
  return wanted;
}


/* Wanted -> title; the function itself runs at level 1 */
static int core_asktitle (lua_State *L) {
  Wanted *w = cast(Wanted *, lua_touserdata(L, 1));
  lua_Debug ar;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &TITLE);
  lprofile_pushfunction(L, w->functions, w->function);
  if (lua_getstack(L, 1, &ar)) lua_getinfo(L, "f", &ar);
  else lua_pushnil(L);
  lua_call(L, 2, 1);
  luaL_checkstring(L, -1);
  return 1;
}


/* leaves the title on the stack; NULL: it leaves something else there */
static const char *core_title (void *ud, lua_State *L, const Function *f) {
  Wanted w;
  w.functions = cast(const Functions *, ud);
  w.function = f;
  lua_pushcfunction(L, core_asktitle);
  lua_pushlightuserdata(L, &w);
  return lua_pcall(L, 1, 1, 0) == LUA_OK ? lua_tostring(L, -1) : NULL;
}


/* TraceEvent */
static int core_tell (lua_State *L) {
  const TraceEvent *e = cast(const TraceEvent *, lua_touserdata(L, 1));
  lua_rawgetp(L, LUA_REGISTRYINDEX, &TRACE);
  lua_pushstring(L, e->enters ? "enter" : "leave");
  lua_pushinteger(L, e->depth);
  lua_pushstring(L, e->title);
  lua_pushinteger(L, (lua_Integer)e->since);
  if (e->enters) lua_pushnil(L);
  else lua_pushinteger(L, (lua_Integer)e->took);
  lua_call(L, 5, 0);
  return 0;
}


static const char *core_trace (lua_State *L, const TraceEvent *e) {
  const char *why;
  lua_pushcfunction(L, core_tell);
  lua_pushlightuserdata(L, (void *)e);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return NULL;
  why = lua_tostring(L, -1);
  return why ? why : "it raised an error that is no string";
}


static int core_flag (lua_State *L, const char *name) {
  int yes;
  lua_getfield(L, 1, name);
  yes = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return yes;
}


static void core_traceoptions (lua_State *L, Options *o) {
  o->title = core_title;
  lua_getfield(L, 1, "title");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &TITLE);
  lua_getfield(L, 1, "trace_call");
  o->trace_call = lua_isnil(L, -1) ? NULL : core_trace;
  lua_rawsetp(L, LUA_REGISTRYINDEX, &TRACE);
  lua_getfield(L, 1, "trace_path");
  o->trace_path = luaL_optstring(L, -1, NULL);
}


/* those options that decide what an event costs */
static void core_way (lua_State *L, Options *o) {
  o->cpu = core_flag(L, "cpu");
  o->callsites = core_flag(L, "callsites");
  o->fold = core_flag(L, "fold");
  o->lines = core_flag(L, "lines");
  o->wantlines = core_flag(L, "lines_of") ? core_wantlines : NULL;
  o->trace = core_flag(L, "trace");
  o->compensate = core_flag(L, "compensate");
}


/* options -> true, or nil and a message */
static int core_start (lua_State *L) {
  Recording *r = recording_get(L);
  Options o = ZEROS;
  luaL_checktype(L, 1, LUA_TTABLE);
  recording_forked(r);
  if (r->state != STATE_STOPPED) {
    lua_pushnil(L);
    lua_pushliteral(L, "already running");
    return 2;
  }
  lua_settop(L, 1);
  core_way(L, &o);
  o.foldc = core_flag(L, "foldc");
  lua_getfield(L, 1, "max_nodes");
  o.max_nodes = (uint32_t)luaL_checkinteger(L, -1);
  lua_getfield(L, 1, "history");
  o.history = (uint32_t)luaL_checkinteger(L, -1);
  o.full = core_flag(L, "full");
  lua_getfield(L, 1, "budget_ms");
  o.budget = luaL_checknumber(L, -1);
  lua_getfield(L, 1, "keep");
  o.slow = (uint32_t)luaL_checkinteger(L, -1);
  lua_getfield(L, 1, "hidden");
  o.hidden = luaL_checkstring(L, -1);
  lua_getfield(L, 1, "filter");
  o.wanted = lua_isnil(L, -1) ? NULL : core_wanted;
  lua_rawsetp(L, LUA_REGISTRYINDEX, &FILTER);
  lua_getfield(L, 1, "lines_of");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &LINES);
  core_traceoptions(L, &o);
  if (!lfile_create(L, 1, r, &o)) {  /* what was recorded is still there */
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  r->uncompensated = looks_costs(r, &o, 0, &r->costs);
  if (!recorder_start(r, L, &o)) {
    keep_abandon(r);
    lua_pushnil(L);
    lua_pushstring(L, r->ended);
    return 2;
  }
  lfile_begin(L, 1, r);
  lua_pushboolean(L, 1);
  return 1;
}


int lcprof_stop (Recording *r, lua_State *L) {
  if (!recorder_stop(r, L)) return 0;
  looks_again(r);
  keep_finish(r, L);
  return 1;
}


static int core_stop (lua_State *L) {
  lua_pushboolean(L, lcprof_stop(recording_get(L), L));
  return 1;
}


static int core_pause (lua_State *L) {
  lua_pushboolean(L, recorder_pause(recording_get(L), L));
  return 1;
}


static int core_resume (lua_State *L) {
  lua_pushboolean(L, recorder_resume(recording_get(L), L));
  return 1;
}


static int core_reset (lua_State *L) {
  lua_pushboolean(L, recorder_reset(recording_get(L)));
  return 1;
}


/* options -> costs, in ns, measured anew; or nil and why there are none */
static int core_calibrate (lua_State *L) {
  Recording *r = recording_get(L);
  Options o = ZEROS;
  Costs costs;
  const char *why;
  luaL_checktype(L, 1, LUA_TTABLE);
  core_way(L, &o);
  why = looks_costs(r, &o, 1, &costs);
  if (why == NULL) {
    lprofile_pushcosts(L, &costs);
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, why);
  return 2;
}


/* costs, in ns -> : they are these, for experiments */
static int core_costs (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  recording_get(L)->costs = lprofile_tocosts(L);
  recording_cleartolls(recording_get(L));
  return 0;
}


/* record -> true; false when nothing is being recorded */
static int core_frame (lua_State *L) {
  int record = lua_isnone(L, 1) || lua_toboolean(L, 1);
  lua_pushboolean(L, recorder_frame(recording_get(L), L, record));
  return 1;
}


/* -> "stopped", "running" or "paused" */
static int core_state (lua_State *L) {
  static const char *const names[] = {"stopped", "running", "paused"};
  Recording *r = recording_get(L);
  recording_forked(r);
  lua_pushstring(L, names[r->state]);
  return 1;
}

/* }====================================================== */


/* {======================================================
** Zones
** ======================================================= */

/*
** The name of a zone with what is added to it: name(a, b). Pushes it and
** gives the length of the name alone.
*/
static size_t core_zonename (lua_State *L) {
  int n = lua_gettop(L), i;
  size_t tag;
  luaL_Buffer b;
  luaL_checktype(L, 1, LUA_TSTRING);
  (void)lua_tolstring(L, 1, &tag);
  if (n == 1) {
    lua_pushvalue(L, 1);
    return tag;
  }
  luaL_buffinit(L, &b);
  lua_pushvalue(L, 1);
  luaL_addvalue(&b);
  luaL_addchar(&b, '(');
  for (i = 2; i <= n; i++) {
    if (i > 2) luaL_addstring(&b, ", ");
    luaL_tolstring(L, i, NULL);
    luaL_addvalue(&b);
  }
  luaL_addchar(&b, ')');
  luaL_pushresult(&b);
  return tag;
}


static uint32_t core_enterzone (lua_State *L) {
  uint32_t serial = 0;
  size_t length, tag = core_zonename(L);
  const char *name = lua_tolstring(L, -1, &length);
  zone_enter(recording_get(L), L, name, length, tag, &serial);
  return serial;
}


static int core_enter (lua_State *L) {
  core_enterzone(L);
  return 0;
}


static int core_leave (lua_State *L) {
  Recording *r = recording_get(L);
  const char *name;
  size_t length;
  uint32_t open = 0;
  core_zonename(L);
  name = lua_tolstring(L, -1, &length);
  switch (zone_leave(r, L, name, length, &open)) {
    case ZONE_NONE:
      return luaL_error(L, "leave '%s': the calling function has entered "
                           "no zone, or has left it already", name);
    case ZONE_OTHER:
      lprofile_pushtext(L, &r->functions.text, open);
      return luaL_error(L, "leave '%s': the zone entered last is '%s'",
                        name, lua_tostring(L, -1));
    default:
      return 0;
  }
}


static int core_zone (lua_State *L) {
  uint32_t serial = core_enterzone(L);
  uint32_t *z = cast(uint32_t *, lua_newuserdatauv(L, sizeof *z, 0));
  *z = serial;
  luaL_setmetatable(L, ZONE);
  return 1;
}


static int core_closezone (lua_State *L) {
  const uint32_t *z = cast(const uint32_t *, luaL_checkudata(L, 1, ZONE));
  zone_close(recording_get(L), L, *z);
  return 0;
}

/* }====================================================== */


/* open file, 1 if not given -> columns of the terminal it is, or nil */
static int core_columns (lua_State *L) {
  int columns = platform_columns((int)luaL_optinteger(L, 1, 1));
  if (columns == 0) return 0;
  lua_pushinteger(L, columns);
  return 1;
}


/* path -> is it something that a rename must not replace? */
static int core_special (lua_State *L) {
  lua_pushboolean(L, platform_special(luaL_checkstring(L, 1)));
  return 1;
}


static const luaL_Reg core[] = {
  {"start", core_start},
  {"stop", core_stop},
  {"pause", core_pause},
  {"resume", core_resume},
  {"reset", core_reset},
  {"state", core_state},
  {"frame", core_frame},
  {"calibrate", core_calibrate},
  {"costs", core_costs},
  {"enter", core_enter},
  {"leave", core_leave},
  {"zone", core_zone},
  {"columns", core_columns},
  {"special", core_special},
  {NULL, NULL}
};

static const luaL_Reg zone_methods[] = {
  {"__close", core_closezone},
  {NULL, NULL}
};

int lcprof_own (lua_CFunction f) {
  return lown_has(core, f) || f == core_closezone || lprofile_own(f) ||
         lfile_own(f) || lsave_own(f) || lcommand_own(f);
}


int luaopen_cprof_core (lua_State *L) {
  recording_make(L, lcprof_own);
  luaL_newmetatable(L, ZONE);
  luaL_setfuncs(L, zone_methods, 0);
  lua_pop(L, 1);
  luaL_newlib(L, core);
  lprofile_open(L);
  lfile_open(L);
  lsave_open(L);
  lcommand_open(L);
  lua_pushliteral(L, CPROF_VERSION);
  lua_setfield(L, -2, "version");
  return 1;
}

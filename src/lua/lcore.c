/*
** See parts.h: the functions of "cprof.core" themselves. They check all options
** and names.
*/

#include "cprof.h"

#include <string.h>

#include <lauxlib.h>

#include "base/release.h"
#include "cost/compensate.h"
#include "file/livefile.h"
#include "heap/collector.h"
#include "heap/nogc.h"
#include "lua/entry.h"
#include "lua/parts.h"
#include "lua/lfile.h"
#include "lua/lmeta.h"
#include "lua/lprofile.h"
#include "lua/lslow.h"
#include "lua/lstate.h"
#include "lua/ltable.h"
#include "record/calltrace.h"
#include "record/control.h"
#include "record/hostframe.h"
#include "record/zone.h"
#include "system/system.h"


#define ZONE	"cprof.zone"

/* addresses: keys in the registry */
static const char OPTIONS = 0;	/* those of the recording, with functions; nil:
				   none has begun, or it is complete */
static const char TITLES = 0;	/* results of the option 'title', by function
				   id */


/* {======================================================
** Lua functions of the options. All of them are called within the hook.
** ======================================================= */

/*
** Pushes an option of the recording. Its name exists as a string, so no memory
** is needed.
*/
static int core_pushoption (lua_State *L, const char *name) {
  int type = LUA_TNIL;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &OPTIONS) == LUA_TTABLE) {
    type = lua_getfield(L, -1, name);
    lua_remove(L, -2);
  }
  return type;
}


typedef struct Question {
  const Functions *functions;
  const Function *function;
} Question;


/* function, Question -> is it recorded? */
static int ask_include (lua_State *L) {
  Question *q = cast(Question *, lua_touserdata(L, 2));
  core_pushoption(L, "filter");
  lprofile_pushfunction(L, q->functions, q->function);
  lua_pushvalue(L, 1);
  lua_call(L, 2, 1);
  return 1;
}


/*
** Calls a filter with the 'arguments' above it. Returns its answer, or
** 'otherwise' if it raises an error.
*/
static int core_ask (lua_State *L, int arguments, int otherwise) {
  Recorder *r = recorder_get(L);
  lua_State *running = callback_filter(r, L);
  int yes = entry_ask(L, arguments, 1) == LUA_OK ? lua_toboolean(L, -1)
                                                 : otherwise;
  callback_end(r, running);
  lua_pop(L, 1);
  return yes;
}


/* Options.include: asks the filter. If that raises an error, it is yes. */
static int core_include (const void *functions, lua_State *L,
                         const Function *f) {
  Question q;
  if (!lua_checkstack(L, 5)) return 1;
  q.functions = cast(const Functions *, functions);
  q.function = f;
  lua_pushcfunction(L, ask_include);
  lua_pushvalue(L, -2);
  lua_pushlightuserdata(L, &q);
  return core_ask(L, 2, 1);
}


/* source -> are its lines recorded? */
static int ask_lines (lua_State *L) {
  core_pushoption(L, "lines_of");
  lua_pushstring(L, cast(const char *, lua_touserdata(L, 1)));
  lua_call(L, 1, 1);
  return 1;
}


/* Options.include_lines: asks for lines. If that raises an error, it is no. */
static int core_includelines (lua_State *L, const char *source) {
  if (!lua_checkstack(L, 4)) return 0;
  lua_pushcfunction(L, ask_lines);
  lua_pushlightuserdata(L, (void *)source);
  return core_ask(L, 1, 0);
}


typedef struct Tracing {
  const Functions *functions;
  const TraceEvent *event;
} Tracing;


/*
** Pushes the title of a function. The option is asked once for each function;
** if that has just been called, it runs at level 1.
*/
static void trace_pushtitle (lua_State *L, const Tracing *t) {
  const Function *f = functions_at(t->functions, t->event->func);
  lua_Debug ar;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &TITLES);
  if (lua_rawgeti(L, -1, f->id) != LUA_TNIL) return;
  lua_pop(L, 1);
  if (f->kind == FUNCTION_ZONE)
    lprofile_pushtext(L, &t->functions->text, f->name);
  else {
    core_pushoption(L, "title");
    lprofile_pushfunction(L, t->functions, f);
    if (lua_getstack(L, 1, &ar)) lua_getinfo(L, "f", &ar);
    else lua_pushnil(L);
    lua_call(L, 2, 1);
  }
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, f->id);
}


/* Tracing -> */
static int trace_report (lua_State *L) {
  const Tracing *t = cast(const Tracing *, lua_touserdata(L, 1));
  const TraceEvent *e = t->event;
  trace_pushtitle(L, t);
  core_pushoption(L, "tell");
  lua_pushstring(L, e->enters ? "enter" : "leave");
  lua_pushinteger(L, e->depth);
  lua_pushvalue(L, -4);
  lua_pushinteger(L, (lua_Integer)e->since);
  if (e->enters) lua_pushnil(L);
  else lua_pushinteger(L, (lua_Integer)e->took);
  lua_pushinteger(L, e->coroutine);
  lua_call(L, 6, 0);
  return 0;
}


static const char *core_trace (lua_State *L, const Functions *fs,
                               const TraceEvent *e) {
  Tracing t;
  const char *why;
  t.functions = fs;
  t.event = e;
  lua_pushcfunction(L, trace_report);
  lua_pushlightuserdata(L, &t);
  if (entry_ask(L, 1, 0) == LUA_OK) return NULL;
  why = lua_tostring(L, -1);
  return why ? why : "it raised an error that is not a string";
}

/* Options.elapsed: calls the option, which reports errors itself. */
static void core_elapsed (lua_State *L) {
  if (!lua_checkstack(L, LUA_MINSTACK)) return;
  core_pushoption(L, "elapsed");
  if (entry_ask(L, 0, 0) != LUA_OK) lua_pop(L, 1);
}

/* }====================================================== */


/* {======================================================
** Start and stop
** ======================================================= */

static lua_Integer core_integer (lua_State *L, const char *name) {
  lua_Integer n;
  lua_getfield(L, 1, name);
  n = luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return n;
}


static lua_Number core_number (lua_State *L, const char *name) {
  lua_Number n;
  lua_getfield(L, 1, name);
  n = luaL_optnumber(L, -1, 0);
  lua_pop(L, 1);
  return n;
}


/* Reads the options that decide what an event costs. */
static void core_modeoptions (lua_State *L, Options *o) {
  o->mode = ltable_flag(L, 1, "lines") ? MODE_LINE
          : ltable_flag(L, 1, "count") ? MODE_COUNT
          : ltable_flag(L, 1, "sample") ? MODE_SAMPLE
          : ltable_flag(L, 1, "trace") ? MODE_TRACE : MODE_CALL;
  o->cpu = ltable_flag(L, 1, "cpu");
  o->watched = ltable_flag(L, 1, "watched");
  o->counted = ltable_flag(L, 1, "counted");
  o->callsites = ltable_flag(L, 1, "callsites");
  o->distribution = ltable_flag(L, 1, "distribution");
  o->tasks = ltable_flag(L, 1, "tasks");
  o->foldat = (uint32_t)core_integer(L, "fold_at");
  if (ltable_flag(L, 1, "lines_of")) o->include_lines = core_includelines;
}


static void core_options (lua_State *L, Options *o) {
  core_modeoptions(L, o);
  if (o->mode == MODE_SAMPLE) o->rate = (uint32_t)core_integer(L, "rate");
  o->keep_last = core_number(L, "keep_last") * 1e9;
  o->memory = ltable_flag(L, 1, "memory");
  o->live = (uint64_t)core_integer(L, "live");
  o->memory_interval = (uint64_t)core_integer(L, "memory_interval");
  o->gc = ltable_flag(L, 1, "gc");
  o->creator = ltable_flag(L, 1, "creator");
  o->exclude_c = ltable_flag(L, 1, "exclude_c");
  o->max_nodes = (uint32_t)core_integer(L, "max_nodes");
  o->history = (uint32_t)core_integer(L, "history");
  o->full = ltable_flag(L, 1, "full");
  o->slow = (uint32_t)core_integer(L, "keep");
  o->budget = core_number(L, "budget_ms");
  o->every = (uint64_t)(core_number(L, "every") * 1e9);
  if (ltable_flag(L, 1, "filter")) o->include = core_include;
  if (ltable_flag(L, 1, "tell")) o->trace = core_trace;
  if (ltable_flag(L, 1, "elapsed")) o->elapsed = core_elapsed;
  if (o->mode == MODE_TRACE && o->trace == NULL) o->mode = MODE_CALL;
  lslow_options(L);
  lua_getfield(L, 1, "internal");
  o->internal = luaL_checkstring(L, -1);
  lua_pop(L, 1);
  lua_pushvalue(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &OPTIONS);
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &TITLES);
}


/* Why the overhead of a recording with these options cannot be known; NULL. */
static const char *core_unknown (const Recorder *r, const Options *o) {
  if (o->mode == MODE_TRACE) return "mode trace";
  if (o->mode == MODE_COUNT) return "mode count";
  if (o->mode == MODE_SAMPLE) return "mode sample";
  return !o->cpu && r->recording.clock.host != NULL
       ? "the host supplies the clock" : NULL;
}


/* Sets the known costs of events, for a recording with these options. */
static void core_overhead (lua_State *L, Core *c, const Recorder *r,
                           const Options *o) {
  Overhead *x = &c->overhead;
  memset(x, 0, sizeof *x);
  x->unknown = ltable_flag(L, 1, "compensate") ? core_unknown(r, o)
                                               : "compensate = false";
  if (x->unknown == NULL &&
      !calibrations_get(&c->calibrations, &r->recording.memory, o, &x->costs))
    x->unknown = "out of memory";
}


static int core_fail (lua_State *L) {
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}


/* Runs a deferred collection, in which a finalizer may do anything. */
static void core_settle (const Recorder *r, lua_State *L) {
  if (r != NULL) nogc_settle(r->hot, L);
}


/* Sets what events of a recording with these options cost. */
static void core_setcosts (Options *o, const Costs *c) {
  if (o->mode == MODE_LINE) return;
  o->mean_ns = costs_event(c);
  o->leaf_ns = (double)c->callee[COST_LUA] / COST_UNIT - o->mean_ns;
}


/* See 'core_start'. Nothing is being recorded. */
static int core_begin (lua_State *L) {
  Core *c = lstate_get(L);
  Recorder *r = recorder_get(L);
  Options o = ZEROS;
  core_options(L, &o);
  core_overhead(L, c, r, &o);
  o.timed = c->overhead.unknown == NULL;
  if (o.timed) core_setcosts(&o, &c->overhead.costs);
  o.store = lfile_create(L, 1, r, o.max_nodes, &c->overhead);
  if (o.store == NULL && !lua_isnil(L, -1)) return core_fail(L);
  lhook_replace(L);
  if (control_start(r, L, &o)) {
    lua_pushboolean(L, 1);
    return 1;
  }
  lhook_putback(L);
  if (r->store != NULL) r->store->abandon(r->store, r);
  lua_pushstring(L, r->recording.ended);
  return core_fail(L);
}


/* options -> true, or nil and a message */
static int core_start (lua_State *L) {
  Recorder *r = recorder_get(L);
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  if (r == NULL) lua_pushliteral(L, RECORDER_CLOSED);
  else if (r->callback == CALLBACK_TRACE)
    lua_pushliteral(L, "called from a trace function");
  else if (r->callback == CALLBACK_FILTER)
    lua_pushliteral(L, "called while a filter runs");
  else if (r->callback == CALLBACK_NAMES)
    lua_pushliteral(L, "called while names are written to the file");
  else if (control_active(r, L)) lua_pushliteral(L, "already running");
  else {
    int n = lprofile_nogc(L, core_begin, 1);
    recorder_skip(r);
    return n;
  }
  return core_fail(L);
}


/*
** Calls the option 'close', as the trace is complete, and forgets the options.
** Errors are ignored.
*/
static void core_closetrace (lua_State *L) {
  if (core_pushoption(L, "close") != LUA_TFUNCTION ||
      lua_pcall(L, 0, 0, 0) != LUA_OK)
    lua_pop(L, 1);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &OPTIONS);
}


/* Completes a recording that has stopped. */
static int core_finish (lua_State *L) {
  Core *c = lstate_get(L);
  Recorder *r = recorder_get(L);
  if (c->overhead.unknown == NULL) {
    calibrations_refresh(&c->calibrations, &r->recording.memory, &r->options,
                         &c->overhead.costs);
    livefile_costs(r->store, &c->overhead.costs);
  }
  if (r->store != NULL) r->store->finish(r->store, r, L);
  lhook_putback(L);
  core_closetrace(L);
  return 0;
}


static int core_finished (lua_State *L) {
  return lprofile_nogc(L, core_finish, 0);
}


/* 'core_finish' within an entry. May raise an error, if out of memory. */
static void core_complete (lua_State *L) {
  lua_pushcfunction(L, core_finished);
  if (entry_pcall(L, 0, 0) != LUA_OK) lua_error(L);
}


int lcore_stop (lua_State *L) {
  Recorder *r = recorder_get(L);
  int stopped = r != NULL && control_stop(r, L);
  if (stopped) core_complete(L);
  core_settle(r, L);
  return stopped;
}


static int core_stop (lua_State *L) {
  lua_pushboolean(L, lcore_stop(L));
  return 1;
}


/* Stops, because the state is being closed. */
static int core_close (lua_State *L) {
  Recorder *r = recorder_get(L);
  if (r != NULL && recorder_active(r) && !recorder_samples(r)) recorder_skip(r);
  return core_stop(L);
}


static int core_pause (lua_State *L) {
  Recorder *r = recorder_get(L);
  lua_pushboolean(L, r != NULL && control_pause(r, L, 0));
  return 1;
}


static int core_resume (lua_State *L) {
  Recorder *r = recorder_get(L);
  lua_pushboolean(L, r != NULL && control_resume(r, L));
  return 1;
}


static int core_reset (lua_State *L) {
  Recorder *r = recorder_get(L);
  lua_pushboolean(L, r != NULL && control_reset(r, L));
  return 1;
}


/* options -> costs, in ns, measured anew; or nil and why there are none */
static int core_calibrate (lua_State *L) {
  const Recorder *r = recorder_get(L);
  Options o = ZEROS;
  Costs costs;
  luaL_checktype(L, 1, LUA_TTABLE);
  core_modeoptions(L, &o);
  if (r == NULL) lua_pushliteral(L, RECORDER_CLOSED);
  else if (core_unknown(r, &o) != NULL) lua_pushstring(L, core_unknown(r, &o));
  else if (!calibrations_measure(&lstate_get(L)->calibrations,
                                 &r->recording.memory, &o, &costs))
    lua_pushliteral(L, "out of memory");
  else {
    lmeta_pushcosts(L, &costs);
    return 1;
  }
  return core_fail(L);
}


/* costs, in ns -> : sets them, for experiments; forgets timed events */
static int core_costs (lua_State *L) {
  Figures *f = lstate_recorder(L)->recording.figures;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lstate_get(L)->overhead.costs = lmeta_tocosts(L);
  if (f != NULL) memset(f->timing, 0, sizeof f->timing);
  return 0;
}


/*
** Sets the mean overhead of an event before frames 1, 2, 4, 8 and so on end.
** That takes time in proportion to all nodes, which is overhead; what came
** before it is not.
*/
static void core_rateevents (lua_State *L, Recorder *r) {
  const Overhead *x = &lstate_get(L)->overhead;
  uint64_t frames = r->frames.turns;
  if ((frames & (frames - 1)) != 0 || r->callback || recorder_samples(r))
    return;
  r->event_ns = 0;
  if (x->unknown != NULL) return;
  control_settle(r, L);
  if (r->state != STATE_RUNNING) return;
  r->event_ns =
    compensate_mean(&r->recording, &x->costs,
                    clock_rate(clock_scale(&r->recording.clock, 0)),
                    hot_events(r->hot));
  recorder_overhead(r);
}


int lcore_frame (lua_State *L, const char *name, int record) {
  Recorder *r = recorder_get(L);
  uint32_t loop;
  if (r != NULL) core_rateevents(L, r);
  if (r == NULL || !hostframe_end(r, L, name, record, &loop)) return 0;
  lslow_frame(L, name, loop);
  return 1;
}


/* The name of a frame at 'arg', or "". */
static const char *core_framename (lua_State *L, int arg) {
  size_t size;
  const char *name = lua_tolstring(L, arg, &size);
  if (size == 0 || size >= LOOP_NAME || strlen(name) != size)
    luaL_error(L, "frame: the name must have 1 to %d bytes, none of them 0, "
                  "got %d", LOOP_NAME - 1, (int)size);
  return name;
}


/* name or nothing, record -> true; false when no frames are being recorded */
static int core_frame (lua_State *L) {
  int named = lua_type(L, 1) == LUA_TSTRING, arg = named ? 2 : 1;
  const char *name = named ? core_framename(L, 1) : "";
  int record = lua_isnoneornil(L, arg) || lua_toboolean(L, arg);
  lua_pushboolean(L, lcore_frame(L, name, record));
  return 1;
}


/* -> "stopped", "running" or "paused" */
static int core_state (lua_State *L) {
  static const char *const names[] = {"stopped", "running", "paused"};
  Recorder *r = recorder_get(L);
  if (r != NULL) control_active(r, L);
  lua_pushstring(L, names[r != NULL ? r->state : STATE_STOPPED]);
  return 1;
}

/* }====================================================== */


/* {======================================================
** Zones
** ======================================================= */

/*
** Pushes the name of a zone with its arguments: name(a, b). Returns the
** length of the name alone.
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
    if (lua_isstring(L, i)) lua_pushvalue(L, i);  /* a number, too */
    else luaL_tolstring(L, i, NULL);
    luaL_addvalue(&b);
  }
  luaL_addchar(&b, ')');
  luaL_pushresult(&b);
  return tag;
}


static uint32_t core_enterzone (lua_State *L) {
  Recorder *r = recorder_get(L);
  uint32_t serial = 0;
  size_t length, tag = core_zonename(L);
  const char *name = lua_tolstring(L, -1, &length);
  zone_enter(r, L, name, length, tag, &serial);
  core_settle(r, L);
  return serial;
}


static int core_enter (lua_State *L) {
  core_enterzone(L);
  return 0;
}


static int core_leave (lua_State *L) {
  Recorder *r = recorder_get(L);
  const char *name;
  size_t length;
  uint32_t open = 0;
  ZoneResult result;
  core_zonename(L);
  name = lua_tolstring(L, -1, &length);
  result = zone_leave(r, L, name, length, &open);
  if (result == ZONE_OTHER)
    lprofile_pushtext(L, &r->recording.functions.text, open);
  core_settle(r, L);
  switch (result) {
    case ZONE_NONE:
      return luaL_error(L, "leave '%s': the calling function has entered "
                           "no zone, or has left it already", name);
    case ZONE_OTHER:
      return luaL_error(L, "leave '%s': the innermost open zone is '%s'",
                        name, lua_tostring(L, -1));
    default:
      return 0;
  }
}


/* a zone whose time somebody asks for; its user value is its name */
typedef struct TimedZone {
  uint32_t serial;	/* 0: it is in no call tree */
  SlowMark mark;
} TimedZone;


/* Pushes a zone with the name on top. */
static void core_timezone (lua_State *L) {
  TimedZone *z = cast(TimedZone *, lua_newuserdatauv(L, sizeof *z, 1));
  z->serial = 0;
  lua_pushvalue(L, -2);
  lua_setiuservalue(L, -2, 1);
  z->mark = lslow_begin(L);
}


static int core_zone (lua_State *L) {
  uint32_t serial = core_enterzone(L);
  if (lslow_wants(L)) core_timezone(L);
  else {
    uint32_t *z = cast(uint32_t *, lua_newuserdatauv(L, sizeof *z, 0));
    *z = serial;
  }
  luaL_setmetatable(L, ZONE);
  return 1;
}


static int core_closezone (lua_State *L) {
  const uint32_t *z = cast(const uint32_t *, luaL_checkudata(L, 1, ZONE));
  Recorder *r = recorder_get(L);
  if (lua_rawlen(L, 1) == sizeof(TimedZone)) {
    lua_getiuservalue(L, 1, 1);
    lslow_zone(L, &cast(const TimedZone *, lua_touserdata(L, 1))->mark,
               lua_gettop(L));
    return 0;
  }
  zone_close(r, L, *z);
  core_settle(r, L);
  return 0;
}

/* }====================================================== */


/* -> how the recorder reads Lua's structures: meta.internals of profiles */
static int core_internals (lua_State *L) {
  lua_pushstring(L, internals_name(internals_usable()));
  return 1;
}


/* -> two booleans: can the collector be driven? is a finalizer running? */
static int core_drives (lua_State *L) {
  lua_pushboolean(L, collector_usable(L));
  lua_pushboolean(L, lua_gc(L, LUA_GCCOUNT) < 0);
  return 2;
}


/* module -> : keeps it for the C API of hosts, which calls its functions */
static int core_opened (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lstate_setmodule(L);
  return 0;
}


static const luaL_Reg core_list[] = {
  {"opened", core_opened},
  {"drives", core_drives},
  {"start", core_start},
  {"stop", core_stop},
  {"close", core_close},
  {"pause", core_pause},
  {"resume", core_resume},
  {"reset", core_reset},
  {"state", core_state},
  {"frame", core_frame},
  {"calibrate", core_calibrate},
  {"costs", core_costs},
  {"internals", core_internals},
  {"enter", core_enter},
  {"leave", core_leave},
  {"zone", core_zone},
  {NULL, NULL}
};

static const luaL_Reg zone_methods[] = {
  {"__close", core_closezone},
  {NULL, NULL}
};


/* {======================================================
** Opening
** ======================================================= */

static void (*const core_parts[]) (lua_State *L) = {
  lmemory_open, laxis_open, lprofile_open, lnodes_open, lhistory_open,
  lcallgraph_open, lrebuild_open, lcallees_open, lfile_open, lsave_open,
  lhook_open, loan_open,
  entry_open, texts_open, lremote_open, lnative_open, loutside_open,
  system_open, folder_open
#if PLATFORM_SIGNALS
  , signals_open, listen_open, private_open, console_open, child_open
#endif
};

#define PARTS	(sizeof core_parts / sizeof *core_parts)


/* The functions in the table on top count as the profiler's own. */
static void core_internal (lua_State *L) {
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
    if (lua_iscfunction(L, -1)) lstate_internal(L, lua_tocfunction(L, -1));
}


/*
** Another minor version of Lua has even other pseudo-indices. So this check
** comes before all else.
*/
static void core_checkversion (lua_State *L) {
  int version = (int)lua_version(L);
  if (version != LUA_VERSION_NUM)
    luaL_error(L, "cprof was built for " LUA_VERSION ", and this is Lua "
               "%d.%d; build it for that", version / 100, version % 100);
}


/* A host that opens 'package' alone does not even have 'error'. */
static void core_checkbase (lua_State *L) {
  lua_pushglobaltable(L);
  lua_pushliteral(L, "next");
  if (lua_rawget(L, -2) != LUA_TFUNCTION)
    luaL_error(L, "cprof needs Lua's basic functions: open them "
               "(luaopen_base or luaL_openlibs); a program may remove them "
               "once cprof is loaded");
  lua_pop(L, 2);
}


int luaopen_cprof_core (lua_State *L) {
  size_t i, length;
  const char *release;
  core_checkversion(L);
  core_checkbase(L);
  (void)lstate_get(L);
  lstate_internal(L, core_begin);  /* recording begins within it */
  lstate_internal(L, system_say);
  lstate_internals(L, zone_methods);
  luaL_newmetatable(L, ZONE);
  luaL_setfuncs(L, zone_methods, 0);
  lua_pop(L, 1);
  luaL_newlib(L, core_list);
  for (i = 0; i < PARTS; i++) core_parts[i](L);
  core_internal(L);
  lua_pushliteral(L, CPROF_VERSION);
  lua_setfield(L, -2, "version");
  release = release_text(&length);
  lua_pushlstring(L, release, length);
  lua_setfield(L, -2, "release");
  lua_pushboolean(L, PLATFORM_SIGNALS);
  lua_setfield(L, -2, "signals");
  return 1;
}

/* }====================================================== */

/*
** See parts.h: starts and stops recordings, and ends frames.
*/

#include <string.h>

#include "base/modules.h"
#include "cost/compensate.h"
#include "file/livefile.h"
#include "heap/collector.h"
#include "lua/entry.h"
#include "lua/parts.h"
#include "lua/lfile.h"
#include "lua/lmeta.h"
#include "lua/loptions.h"
#include "lua/lslow.h"
#include "lua/lstate.h"
#include "lua/ltable.h"
#include "record/control.h"
#include "record/hostframe.h"


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


/* Sets what events of a recording with these options cost. */
static void core_setcosts (Options *o, const Costs *c) {
  if (o->mode == MODE_LINE) return;
  o->mean_ns = costs_event(c);
  o->leaf_ns = (double)c->callee[COST_LUA] / COST_UNIT - o->mean_ns;
}


/* See 'core_start'. Nothing is being recorded. */
static COLD int core_begin (lua_State *L) {
  Core *c = lstate_get(L);
  Recorder *r = recorder_get(L);
  Options o = ZEROS;
  loptions_read(L, &o);
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
  static const char *const during[] = {  /* see Callback */
    NULL, "called while a filter runs", "called from a trace function",
    "called while names are written to the file"
  };
  Recorder *r = recorder_get(L);
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  if (r == NULL) lua_pushliteral(L, RECORDER_CLOSED);
  else if (r->callback) lua_pushstring(L, during[r->callback]);
  else if (control_active(r, L)) lua_pushliteral(L, "already running");
  else {
    int n = lstate_nogc(L, core_begin, 1);
    recorder_skip(r);
    return n;
  }
  return core_fail(L);
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
  loptions_close(L);
  return 0;
}


static int core_finished (lua_State *L) {
  return lstate_nogc(L, core_finish, 0);
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
  lstate_settle(r, L);
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


#if CPROF_WHOLE

/* options -> costs, in ns, measured anew; or nil and why there are none */
static int core_calibrate (lua_State *L) {
  const Recorder *r = recorder_get(L);
  Options o = ZEROS;
  Costs costs;
  luaL_checktype(L, 1, LUA_TTABLE);
  loptions_mode(L, &o);
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


/* longest id of a build */
#define BUILD_ID	128

/* The id of the build of the file that has this code. 0: not known. */
static int core_build (const Modules *m, uintptr_t code, char to[BUILD_ID]) {
  const ModuleCode *c = modules_find(m, code);
  const char *s, *end;
  size_t length;
  if (c == NULL) return 0;
  s = text_get(m->texts, c->text, &length);
  end = cast(const char *, memchr(s, ' ', length));
  if (end == NULL || *s == '-' || end - s >= BUILD_ID) return 0;
  memcpy(to, s, (size_t)(end - s));
  to[end - s] = '\0';
  return 1;
}


/* The ids of this cprof and this Lua. 0: not known. */
static int core_builds (const Memory *memory, char own[BUILD_ID],
                        char lua[BUILD_ID]) {
  ChunkSet set;
  Text texts;
  Modules m = ZEROS;
  int known;
  chunkset_init(&set, memory, NULL);
  if (!text_init(&texts, &set)) return 0;
  modules_begin(&m, memory, &texts);
  known = modules_refresh(&m) &&
          core_build(&m, (uintptr_t)core_builds, own) &&
          core_build(&m, (uintptr_t)lua_newstate, lua);
  modules_free(&m);
  chunkset_free(&set);
  return known;
}


/* -> a line of text for the builds of cprof and Lua; nil: not known */
static int core_buildsline (lua_State *L) {
  const Recorder *r = recorder_get(L);
  char own[BUILD_ID], lua[BUILD_ID];
  if (r == NULL || !core_builds(&r->recording.memory, own, lua)) return 0;
  lua_pushfstring(L, "%s %s %s\n", own, lua,
                  internals_name(internals_usable()));
  return 1;
}


/*
** options -> a number for those that the costs of a recording depend on; nil:
** no costs are needed
*/
static int core_costskey (lua_State *L) {
  const Recorder *r = recorder_get(L);
  Options o = ZEROS;
  luaL_checktype(L, 1, LUA_TTABLE);
  loptions_mode(L, &o);
  if (r == NULL || !ltable_flag(L, 1, "compensate") ||
      core_unknown(r, &o) != NULL)
    return 0;
  lua_pushinteger(L, (lua_Integer)calibrations_key(&o));
  return 1;
}


/*
** options, costs that an earlier process has kept or nil -> costs to keep, if
** they were measured now
*/
static int core_settlecosts (lua_State *L) {
  const Recorder *r = recorder_get(L);
  Options o = ZEROS;
  Costs kept, costs;
  size_t size;
  const char *text = luaL_optlstring(L, 2, "", &size);
  luaL_checktype(L, 1, LUA_TTABLE);
  loptions_mode(L, &o);
  if (size == sizeof kept) memcpy(&kept, text, size);
  if (r == NULL ||
      !calibrations_settle(&lstate_get(L)->calibrations, &r->recording.memory,
                           &o, size == sizeof kept ? &kept : NULL, &costs))
    return 0;
  lua_pushlstring(L, cast(const char *, &costs), sizeof costs);
  return 1;
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

#endif


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


void lcore_open (lua_State *L) {
  static const luaL_Reg functions[] = {
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
#if CPROF_WHOLE
    {"calibrate", core_calibrate},
    {"costs", core_costs},
    {"builds", core_buildsline},
    {"costs_key", core_costskey},
    {"settle_costs", core_settlecosts},
#endif
    {"internals", core_internals},
    {NULL, NULL}
  };
  lstate_internal(L, core_begin);  /* recording begins within it */
  luaL_setfuncs(L, functions, 0);
}

/*
** What Lua sees of the core: arguments in, results out. Options and names
** are checked by the Lua part (lua/cprof), the only user of these.
*/

#include "cprof.h"

#include <string.h>

#include <lauxlib.h>

#include "hook.h"
#include "recorder.h"
#include "snapshot.h"
#include "zone.h"


#define NODES	"cprof.nodes"
#define ZONE	"cprof.zone"
#define SUMS	"cprof.sums"

/* address: in the registry, the function that says what is wanted */
static const char FILTER = 0;

static int core_own (lua_CFunction f);


static Recording *core_recording (lua_State *L) {
  return recording_make(L, core_own);
}


/* {======================================================
** Start and stop
** ======================================================= */

static void core_pushtext (lua_State *L, const Text *t, uint32_t id) {
  size_t length;
  const char *s = text_get(t, id, &length);
  lua_pushlstring(L, s, length);
}


static const char *core_kind (const Function *f) {
  switch (f->kind) {
    case FUNCTION_ROOT: return "root";
    case FUNCTION_MAIN: return "main";
    case FUNCTION_LUA: return "Lua";
    case FUNCTION_C: return "C";
    default: return "zone";
  }
}


/* pushes what is known of a function but its figures */
static void core_pushfunction (lua_State *L, const Functions *fs,
                               const Function *f) {
  lua_createtable(L, 0, 16);
  lua_pushstring(L, core_kind(f));
  lua_setfield(L, -2, "kind");
  if (f->kind == FUNCTION_C)
    lua_pushliteral(L, "=[C]");
  else
    core_pushtext(L, &fs->text, f->source);
  lua_setfield(L, -2, "source");
  lua_pushinteger(L, f->line);
  lua_setfield(L, -2, "line");
  lua_pushinteger(L, f->last);
  lua_setfield(L, -2, "last_line");
  core_pushtext(L, &fs->text, f->name);
  lua_setfield(L, -2, "called");
  core_pushtext(L, &fs->text, f->how);
  lua_setfield(L, -2, "how");
}


typedef struct Wanted {
  const Functions *functions;
  const Function *function;
} Wanted;


/* function, Wanted -> is it wanted? */
static int core_ask (lua_State *L) {
  Wanted *w = lua_touserdata(L, 2);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &FILTER);
  core_pushfunction(L, w->functions, w->function);
  lua_pushvalue(L, 1);
  lua_call(L, 2, 1);
  return 1;
}


/* runs within the hook: an error there is a yes */
static int core_wanted (void *ud, lua_State *L, const Function *f) {
  Wanted w;
  int wanted;
  w.functions = ud;
  w.function = f;
  lua_pushcfunction(L, core_ask);
  lua_pushvalue(L, -2);
  lua_pushlightuserdata(L, &w);
  wanted = lua_pcall(L, 2, 1, 0) != LUA_OK || lua_toboolean(L, -1);
  lua_pop(L, 1);
  return wanted;
}


static int core_flag (lua_State *L, const char *name) {
  int yes;
  lua_getfield(L, 1, name);
  yes = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return yes;
}


/* options -> true, or nil and a message */
static int core_start (lua_State *L) {
  Recording *r = core_recording(L);
  Options o;
  luaL_checktype(L, 1, LUA_TTABLE);
  recording_forked(r);
  if (r->state != STATE_STOPPED) {
    lua_pushnil(L);
    lua_pushliteral(L, "already running");
    return 2;
  }
  o.cpu = core_flag(L, "cpu");
  o.callsites = core_flag(L, "callsites");
  o.fold = core_flag(L, "fold");
  o.foldc = core_flag(L, "foldc");
  lua_getfield(L, 1, "max_nodes");
  o.max_nodes = (uint32_t)luaL_checkinteger(L, -1);
  lua_getfield(L, 1, "hidden");
  o.hidden = luaL_checkstring(L, -1);
  lua_getfield(L, 1, "filter");
  o.wanted = lua_isnil(L, -1) ? NULL : core_wanted;
  lua_rawsetp(L, LUA_REGISTRYINDEX, &FILTER);
  if (!recorder_start(r, L, &o)) {
    lua_pushnil(L);
    lua_pushstring(L, r->ended);
    return 2;
  }
  lua_pushboolean(L, 1);
  return 1;
}


static int core_stop (lua_State *L) {
  lua_pushboolean(L, recorder_stop(core_recording(L), L));
  return 1;
}


static int core_pause (lua_State *L) {
  lua_pushboolean(L, recorder_pause(core_recording(L), L));
  return 1;
}


static int core_resume (lua_State *L) {
  lua_pushboolean(L, recorder_resume(core_recording(L), L));
  return 1;
}


static int core_reset (lua_State *L) {
  lua_pushboolean(L, recorder_reset(core_recording(L)));
  return 1;
}


/* -> "stopped", "running" or "paused" */
static int core_state (lua_State *L) {
  static const char *const names[] = {"stopped", "running", "paused"};
  Recording *r = core_recording(L);
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
      core_pushtext(L, &r->functions.text, open);
      return luaL_error(L, "leave '%s': the zone entered last is '%s'",
                        name, lua_tostring(L, -1));
    default:
      return 0;
  }
}


static int core_zone (lua_State *L) {
  uint32_t serial = core_enterzone(L);
  uint32_t *z = lua_newuserdatauv(L, sizeof *z, 0);
  *z = serial;
  luaL_setmetatable(L, ZONE);
  return 1;
}


static int core_closezone (lua_State *L) {
  const uint32_t *z = luaL_checkudata(L, 1, ZONE);
  zone_close(recording_get(L), L, *z);
  return 0;
}

/* }====================================================== */


/* {======================================================
** Profiles
** ======================================================= */

static Nodes *core_checknodes (lua_State *L, int arg) {
  return luaL_checkudata(L, arg, NODES);
}


/* pushes room for 'count' nodes, to be filled in */
static ProfileNode *core_newnodes (lua_State *L, uint32_t count) {
  size_t bytes = sizeof(Nodes) + count * sizeof(ProfileNode);
  Nodes *nodes = lua_newuserdatauv(L, bytes, 0);
  ProfileNode *list = (ProfileNode *)(void *)(nodes + 1);
  nodes->list = list;
  nodes->count = count;
  luaL_setmetatable(L, NODES);
  return list;
}


static int nodes_len (lua_State *L) {
  lua_pushinteger(L, core_checknodes(L, 1)->count);
  return 1;
}


/*
** nodes[id], a table made for this occasion. Functions are those of the
** recording, that start from 0; the Lua part has ids that start from 1.
*/
static int nodes_index (lua_State *L) {
  const Nodes *nodes = core_checknodes(L, 1);
  const ProfileNode *n;
  int isint;
  lua_Integer id = lua_tointegerx(L, 2, &isint);
  if (!isint || id < 1 || id > nodes->count) return 0;
  n = &nodes->list[id - 1];
  lua_createtable(L, 0, 8);
  lua_pushinteger(L, id);
  lua_setfield(L, -2, "id");
  lua_pushinteger(L, id == 1 ? 0 : n->parent + 1);
  lua_setfield(L, -2, "parent");
  lua_pushinteger(L, n->func + 1);
  lua_setfield(L, -2, "func");
  lua_pushinteger(L, n->call_line);
  lua_setfield(L, -2, "call_line");
  lua_pushinteger(L, n->calls);
  lua_setfield(L, -2, "calls");
  lua_pushinteger(L, n->self);
  lua_setfield(L, -2, "self_ns");
  lua_pushinteger(L, n->total);
  lua_setfield(L, -2, "total_ns");
  return 1;
}


static void core_setinteger (lua_State *L, const char *name, lua_Integer n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, name);
}


static void core_pushmeta (lua_State *L, const Recording *r,
                           const Snapshot *s) {
  lua_createtable(L, 0, 16);
  lua_pushliteral(L, "call");
  lua_setfield(L, -2, "mode");
  lua_pushstring(L, clock_name(&r->clock));
  lua_setfield(L, -2, "clock");
  core_setinteger(L, "wall_ns", s->wall);
  core_setinteger(L, "paused_ns", s->paused);
  core_setinteger(L, "started_at", r->started_at);
  if (r->hot->recording != NULL) {  /* a fork wipes it */
    core_setinteger(L, "events", (lua_Integer)r->hot->events);
    core_setinteger(L, "clock_backwards", (lua_Integer)r->hot->backwards);
  }
  core_setinteger(L, "unmatched", (lua_Integer)r->unmatched);
  core_setinteger(L, "truncated", (lua_Integer)r->truncated);
  lua_pushliteral(L, CPROF_VERSION);
  lua_setfield(L, -2, "cprof_version");
  lua_pushboolean(L, r->lost);
  lua_setfield(L, -2, "hook_lost");
  lua_pushstring(L, r->ended);
  lua_setfield(L, -2, "ended");
}


static void core_pushfunctions (lua_State *L, const Recording *r,
                                const Snapshot *s) {
  const Functions *fs = &r->functions;
  uint32_t i;
  lua_createtable(L, (int)s->functions, 0);
  for (i = 0; i < fs->list.count; i++) {
    const Function *f = functions_at(fs, i);
    if (s->func[i] == 0) continue;
    core_pushfunction(L, fs, f);
    core_setinteger(L, "id", s->func[i]);
    core_setinteger(L, "key", f->id);
    lua_rawseti(L, -2, s->func[i]);
  }
}


/* -> columns of the terminal, or nil */
static int core_columns (lua_State *L) {
  int columns = platform_columns();
  if (columns == 0) return 0;
  lua_pushinteger(L, columns);
  return 1;
}


/* -> nodes, functions, meta; nil when nothing was ever recorded */
static int core_snapshot (lua_State *L) {
  Recording *r = core_recording(L);
  Snapshot s;
  recorder_settle(r, L);
  if (!r->started) return 0;
  s.list = core_newnodes(L, snapshot_count(r));
  s.func = lua_newuserdatauv(L, r->functions.list.count * sizeof *s.func, 0);
  snapshot_fill(r, &s);
  lua_insert(L, -2);
  core_pushfunctions(L, r, &s);
  core_pushmeta(L, r, &s);
  if (r->state == STATE_RUNNING) recording_owntime(r);
  return 3;
}


/* function -> where its C function lies; nil: it is none */
static int core_address (lua_State *L) {
  lua_CFunction f = lua_tocfunction(L, 1);
  if (f == NULL) return 0;
  lua_pushinteger(L, (lua_Integer)(uintptr_t)f);
  return 1;
}


/* function -> the key that it has in a snapshot's functions, or nil */
static int core_key (lua_State *L) {
  Recording *r = core_recording(L);
  const Function *f;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  f = r->started ? functions_met(&r->functions, L) : NULL;
  if (f == NULL) return 0;
  lua_pushinteger(L, f->id);
  return 1;
}


static void core_pushrow (lua_State *L, const SumRow *row) {
  lua_createtable(L, 0, 4);
  core_setinteger(L, "calls", row->calls);
  core_setinteger(L, "self_ns", row->self);
  core_setinteger(L, "total_ns", row->total);
  core_setinteger(L, "max_depth", row->depth);
}


static void core_pushedge (lua_State *L, const SumEdge *e) {
  lua_createtable(L, 0, 6);
  core_setinteger(L, "caller", e->caller + 1);
  core_setinteger(L, "callee", e->callee + 1);
  core_setinteger(L, "calls", e->calls);
  core_setinteger(L, "self_ns", e->self);
  core_setinteger(L, "total_in_ns", e->total_in);
  core_setinteger(L, "total_out_ns", e->total_out);
}


/* { function -> group }, functions -> as C has it, which is pushed */
static uint32_t *core_groups (lua_State *L, uint32_t functions,
                              uint32_t groups) {
  uint32_t *group = lua_newuserdatauv(L, functions * sizeof *group, 0);
  uint32_t i;
  for (i = 0; i < functions; i++) {
    lua_Integer g;
    lua_rawgeti(L, 2, (lua_Integer)i + 1);
    g = lua_tointeger(L, -1);
    lua_pop(L, 1);
    luaL_argcheck(L, g >= 1 && g <= groups, 2, "no such group");
    group[i] = (uint32_t)g - 1;
  }
  return group;
}


/* sums that are freed also when an error is raised half-way */
typedef struct Box {
  Sums sums;
  Memory memory;
} Box;


static int box_gc (lua_State *L) {
  Box *box = luaL_checkudata(L, 1, SUMS);
  sums_free(&box->sums, &box->memory);
  return 0;
}


/* nodes, { function -> group }, number of groups -> rows, edges */
static int core_sum (lua_State *L) {
  const Nodes *nodes = core_checknodes(L, 1);
  uint32_t groups = (uint32_t)luaL_checkinteger(L, 3), i;
  uint32_t functions = (uint32_t)lua_rawlen(L, 2);
  const uint32_t *group = core_groups(L, functions, groups);
  Box *box = lua_newuserdatauv(L, sizeof *box, 0);
  Sums *s = &box->sums;
  memset(box, 0, sizeof *box);
  box->memory = core_recording(L)->memory;
  luaL_setmetatable(L, SUMS);
  for (i = 0; i < nodes->count; i++)
    luaL_argcheck(L, nodes->list[i].func < functions, 2, "too short");
  if (!sums_make(s, &box->memory, nodes, group, groups))
    return luaL_error(L, "cprof: out of memory");
  lua_createtable(L, (int)s->groups, 0);
  for (i = 0; i < s->groups; i++) {
    core_pushrow(L, &s->rows[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_createtable(L, (int)s->count, 0);
  for (i = 0; i < s->count; i++) {
    core_pushedge(L, &s->edges[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  sums_free(s, &box->memory);
  return 2;
}

/* }====================================================== */


static const luaL_Reg core[] = {
  {"start", core_start},
  {"stop", core_stop},
  {"pause", core_pause},
  {"resume", core_resume},
  {"reset", core_reset},
  {"state", core_state},
  {"enter", core_enter},
  {"leave", core_leave},
  {"zone", core_zone},
  {"snapshot", core_snapshot},
  {"key", core_key},
  {"address", core_address},
  {"sum", core_sum},
  {"columns", core_columns},
  {NULL, NULL}
};

static const luaL_Reg zone_methods[] = {
  {"__close", core_closezone},
  {NULL, NULL}
};

static const luaL_Reg nodes_methods[] = {
  {"__len", nodes_len},
  {"__index", nodes_index},
  {NULL, NULL}
};


static const luaL_Reg sums_methods[] = {
  {"__gc", box_gc},
  {NULL, NULL}
};


static int core_own (lua_CFunction f) {
  const luaL_Reg *l;
  for (l = core; l->name != NULL; l++)
    if (l->func == f) return 1;
  return f == core_closezone;
}


static void core_metatable (lua_State *L, const char *name,
                            const luaL_Reg *methods) {
  luaL_newmetatable(L, name);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 1);
}


int luaopen_cprof_core (lua_State *L) {
  core_metatable(L, ZONE, zone_methods);
  core_metatable(L, NODES, nodes_methods);
  core_metatable(L, SUMS, sums_methods);
  luaL_newlib(L, core);
  lua_pushliteral(L, CPROF_VERSION);
  lua_setfield(L, -2, "version");
  return 1;
}


int cprof_setalloc (lua_State *L, lua_Alloc alloc, void *ud) {
  Recording *r = core_recording(L);
  recording_forked(r);
  if (r->state != STATE_STOPPED) return 0;
  recording_setalloc(r, alloc, ud);
  return 1;
}

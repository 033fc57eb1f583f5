/*
** See lprofile.h
*/

#include "lprofile.h"

#include <stddef.h>
#include <string.h>

#include <lauxlib.h>

#include "cprof.h"
#include "lhistory.h"
#include "lnodes.h"
#include "lown.h"
#include "lstates.h"
#include "lsums.h"
#include "lwalk.h"
#include "recorder.h"
#include "snapshot.h"


void lprofile_pushtext (lua_State *L, const Text *t, uint32_t id) {
  size_t length;
  const char *s = text_get(t, id, &length);
  lua_pushlstring(L, s, length);
}


static const char *profile_kind (const Function *f) {
  switch (f->kind) {
    case FUNCTION_ROOT: return "root";
    case FUNCTION_MAIN: return "main";
    case FUNCTION_LUA: return "Lua";
    case FUNCTION_C: return "C";
    default: return "zone";
  }
}


void lprofile_pushfunction (lua_State *L, const Functions *fs,
                            const Function *f) {
  lua_createtable(L, 0, 16);
  lua_pushstring(L, profile_kind(f));
  lua_setfield(L, -2, "kind");
  if (f->kind == FUNCTION_C)
    lua_pushliteral(L, "=[C]");
  else
    lprofile_pushtext(L, &fs->text, f->source);
  lua_setfield(L, -2, "source");
  lua_pushinteger(L, f->line);
  lua_setfield(L, -2, "line");
  lua_pushinteger(L, f->last);
  lua_setfield(L, -2, "last_line");
  lprofile_pushtext(L, &fs->text, f->name);
  lua_setfield(L, -2, "called");
  lprofile_pushtext(L, &fs->text, f->how);
  lua_setfield(L, -2, "how");
}


/* {======================================================
** Snapshots
** ======================================================= */

/* costs by the names that Lua sees */
typedef struct CostName {
  const char *name;
  size_t offset;
} CostName;

static const CostName costs_names[] = {
  {"lua_caller", offsetof(Costs, caller[COST_LUA])},
  {"lua_callee", offsetof(Costs, callee[COST_LUA])},
  {"c_caller", offsetof(Costs, caller[COST_C])},
  {"c_callee", offsetof(Costs, callee[COST_C])},
  {"unreturned", offsetof(Costs, unreturned)},
  {"tail_callee", offsetof(Costs, tail)},
  {"state", offsetof(Costs, state)},
  {"resume", offsetof(Costs, resume)},
  {"coroutine", offsetof(Costs, coroutine)},
  {"resumer", offsetof(Costs, resumer)},
  {"yielder", offsetof(Costs, yielder)},
  {"line", offsetof(Costs, line)},
  {"step", offsetof(Costs, step)},
  {"instruction", offsetof(Costs, instruction)},
  {"least", offsetof(Costs, least)}
};

#define COSTS	(sizeof costs_names / sizeof *costs_names)


void lprofile_pushcosts (lua_State *L, const Costs *c) {
  size_t i;
  lua_createtable(L, 0, COSTS);
  for (i = 0; i < COSTS; i++) {
    int64_t ps;
    memcpy(&ps, (const char *)c + costs_names[i].offset, sizeof ps);
    lua_pushnumber(L, (lua_Number)ps / COST_UNIT);
    lua_setfield(L, -2, costs_names[i].name);
  }
}


Costs lprofile_tocosts (lua_State *L) {
  Costs c = ZEROS;
  size_t i;
  for (i = 0; i < COSTS; i++) {
    int64_t ps;
    lua_Number ns;
    lua_getfield(L, -1, costs_names[i].name);
    ns = lua_tonumber(L, -1);
    if (!(ns > -COST_MAX && ns < COST_MAX)) ns = 0;
    ps = (int64_t)(ns * COST_UNIT + (ns < 0 ? -0.5 : 0.5));
    memcpy((char *)&c + costs_names[i].offset, &ps, sizeof ps);
    lua_pop(L, 1);
  }
  return c;
}


static void snapshot_pushcosts (lua_State *L, const Recording *r,
                                const Snapshot *s) {
  lnodes_set(L, "overhead_ns", s->overhead);
  lnodes_set(L, "clamped_ns", s->clamped);
  if (r->uncompensated != NULL) {
    lua_pushstring(L, r->uncompensated);
    lua_setfield(L, -2, "uncompensated");
    return;
  }
  lprofile_pushcosts(L, &s->costs);
  lua_setfield(L, -2, "costs_ns");
}


static void snapshot_pushmeta (lua_State *L, const Recording *r,
                               const Snapshot *s) {
  lua_createtable(L, 0, 16);
  lua_pushstring(L, r->options.trace ? "trace"
                                    : r->options.lines ? "line" : "call");
  lua_setfield(L, -2, "mode");
  lua_pushstring(L, clock_name(&r->clock));
  lua_setfield(L, -2, "clock");
  lnodes_set(L, "wall_ns", s->wall);
  lnodes_set(L, "paused_ns", s->paused);
  snapshot_pushcosts(L, r, s);
  lnodes_set(L, "started_at", r->started_at);
  lnodes_set(L, "pid", r->pid);
  if (r->hot->recording != NULL) {  /* a fork wipes it */
    lnodes_set(L, "events", (lua_Integer)r->hot->events);
  }
  lnodes_set(L, "unmatched", (lua_Integer)r->figures->unmatched);
  lnodes_set(L, "truncated", (lua_Integer)r->figures->truncated);
  lua_pushliteral(L, CPROF_VERSION);
  lua_setfield(L, -2, "cprof_version");
  lua_pushboolean(L, r->figures->lost != 0);
  lua_setfield(L, -2, "hook_lost");
  lua_pushstring(L, r->ended);
  lua_setfield(L, -2, "ended");
}


static void snapshot_pushfunctions (lua_State *L, const Recording *r,
                                    const Snapshot *s) {
  const Functions *fs = &r->functions;
  uint32_t i;
  lua_createtable(L, (int)s->functions, 0);
  for (i = 0; i < fs->list.count; i++) {
    const Function *f = functions_at(fs, i);
    if (s->func[i] == 0) continue;
    lprofile_pushfunction(L, fs, f);
    lnodes_set(L, "id", s->func[i]);
    lnodes_set(L, "key", f->id);
    lnodes_set(L, "marks", (f->marks & FUNCTION_COROUTINES) |
                           (lua_Integer)s->callcost[s->func[i] - 1] << 8);
    lua_rawseti(L, -2, s->func[i]);
  }
}


/* { function, line, hits, ns, ns as recorded, counts, code, ... } */
static void snapshot_pushlines (lua_State *L, const Snapshot *s) {
  uint32_t i;
  lua_createtable(L, (int)s->lines * 7, 0);
  for (i = 0; i < s->lines; i++) {
    const ProfileLine *l = &s->line[i];
    lua_Integer at = (lua_Integer)i * 7;
    lua_pushinteger(L, (lua_Integer)l->func + 1);
    lua_rawseti(L, -2, at + 1);
    lua_pushinteger(L, l->line);
    lua_rawseti(L, -2, at + 2);
    lua_pushinteger(L, l->hits);
    lua_rawseti(L, -2, at + 3);
    lua_pushinteger(L, l->self);
    lua_rawseti(L, -2, at + 4);
    lua_pushinteger(L, l->raw);
    lua_rawseti(L, -2, at + 5);
    lua_pushinteger(L, l->counts);
    lua_rawseti(L, -2, at + 6);
    lua_pushinteger(L, l->code.instructions << 8 | l->code.steps);
    lua_rawseti(L, -2, at + 7);
  }
}


/*
** { { source, active, text, changed, mixed }, ... }: of each source whose
** lines are counted; 'active' has a byte for each line that is 1 where
** there is code.
*/
static void snapshot_pushsources (lua_State *L, const Recording *r) {
  const Functions *fs = &r->functions;
  uint32_t i;
  lua_newtable(L);
  for (i = 1; i < fs->sources.count; i++) {
    const Source *s = functions_source(fs, i);
    const Definitions *d = &s->defines;
    if (s->lines <= 0) continue;
    lua_createtable(L, 0, 5);
    lprofile_pushtext(L, &fs->text, s->text);
    lua_setfield(L, -2, "source");
    lua_pushlstring(L, d->lines > 0 ? (const char *)d->active + 1 : "",
                    d->lines > 0 ? d->lines - 1 : 0);
    lua_setfield(L, -2, "active");
    if (s->content != NULL) {
      lua_pushlstring(L, s->content, s->size);
      lua_setfield(L, -2, "text");
    }
    lua_pushboolean(L, s->changed);
    lua_setfield(L, -2, "changed");
    lua_pushboolean(L, s->state == SOURCE_MIXED);
    lua_setfield(L, -2, "mixed");
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  }
}


void lprofile_push (lua_State *L, Recording *r) {
  uint32_t functions = r->functions.list.count;
  int nodes = lua_gettop(L) + 1;
  Nodes *header;
  Snapshot s = ZEROS;
  s.list = lnodes_new(L, snapshot_count(r));
  s.owner = lnodes_array(L, uint32_t, snapshot_count(r));
  s.func = lnodes_array(L, uint32_t, functions);
  s.zone = lnodes_array(L, uint8_t, functions);
  s.own = lnodes_array(L, int64_t, functions);
  s.ownraw = lnodes_array(L, int64_t, functions);
  s.callcost = lnodes_array(L, uint32_t, functions);
  s.linetax = lnodes_array(L, double, functions);
  s.tax = lnodes_array(L, double, snapshot_count(r));
  s.line = lnodes_array(L, ProfileLine, snapshot_lines(r));
  snapshot_fill(r, &s);
  header = lnodes_check(L, nodes);
  header->own = s.own_node;
  header->fold = (uint32_t)r->options.fold;
  lua_pushvalue(L, nodes);
  snapshot_pushfunctions(L, r, &s);
  snapshot_pushmeta(L, r, &s);
  snapshot_pushlines(L, &s);
  snapshot_pushsources(L, r);
  lhistory_push(L, r, &s);
}


/*
** -> nodes, functions, meta, lines, sources, history; or nothing, if there
** never was anything
*/
static int profile_snapshot (lua_State *L) {
  Recording *r = recording_get(L);
  recorder_settle(r, L);
  if (!r->started) return 0;
  lua_settop(L, 0);
  lprofile_push(L, r);
  if (r->state == STATE_RUNNING) recording_owntime(r);
  return 6;
}


/* -> functions, as 'snapshot' gives them, with their calls */
static int profile_functions (lua_State *L) {
  Recording *r = recording_get(L);
  uint32_t functions = r->functions.list.count, i;
  Snapshot s = ZEROS;
  lua_Integer *calls;
  if (!r->started) return 0;
  lua_settop(L, 0);
  s.func = lnodes_array(L, uint32_t, functions);
  calls = lnodes_array(L, lua_Integer, functions);
  memset(calls, 0, functions * sizeof *calls);
  s.callcost = lnodes_array(L, uint32_t, functions);
  memset(s.callcost, 0, functions * sizeof *s.callcost);
  snapshot_number(r, &s);
  for (i = 0; i < r->tree.nodes.count; i++) {
    const Node *n = tree_node(&r->tree, i);
    calls[n->func] += (lua_Integer)n->calls;
  }
  snapshot_pushfunctions(L, r, &s);
  for (i = 0; i < functions; i++) {
    if (s.func[i] == 0) continue;
    lua_rawgeti(L, -1, s.func[i]);
    lnodes_set(L, "calls", calls[i]);
    lua_pop(L, 1);
  }
  return 1;
}


/* function -> where its C function lies; nil: it is none */
static int profile_address (lua_State *L) {
  lua_CFunction f = lua_tocfunction(L, 1);
  if (f == NULL) return 0;
  lua_pushinteger(L, (lua_Integer)(uintptr_t)f);
  return 1;
}


/* function -> the key that it has in a snapshot's functions, or nil */
static int profile_key (lua_State *L) {
  Recording *r = recording_get(L);
  const Function *f;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  f = r->started ? functions_met(&r->functions, L) : NULL;
  if (f == NULL) return 0;
  lua_pushinteger(L, f->id);
  return 1;
}


/* }====================================================== */


static const luaL_Reg core_profile[] = {
  {"snapshot", profile_snapshot},
  {"functions", profile_functions},
  {"key", profile_key},
  {"address", profile_address},
  {NULL, NULL}
};


void lprofile_open (lua_State *L) {
  lnodes_open(L);
  lhistory_open(L);
  lwalk_open(L);
  luaL_setfuncs(L, core_profile, 0);
  lsums_open(L);
  lstates_open(L);
}


int lprofile_own (lua_CFunction f) {
  return lown_has(core_profile, f) || lhistory_own(f) || lsums_own(f) ||
         lstates_own(f) || lwalk_own(f);
}

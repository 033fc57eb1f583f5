/*
** See lprofile.h
*/

#include "lprofile.h"

#include <string.h>

#include <lauxlib.h>

#include "cprof.h"
#include "lhistory.h"
#include "lstates.h"
#include "lwalk.h"
#include "recorder.h"
#include "snapshot.h"


#define NODES	"cprof.nodes"
#define SUMS	"cprof.sums"


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


static void profile_setinteger (lua_State *L, const char *name,
                                lua_Integer n) {
  lua_pushinteger(L, n);
  lua_setfield(L, -2, name);
}


/* {======================================================
** Nodes
** ======================================================= */

Nodes *lprofile_checknodes (lua_State *L, int arg) {
  return cast(Nodes *, luaL_checkudata(L, arg, NODES));
}


ProfileNode *lprofile_newnodes (lua_State *L, uint32_t count) {
  size_t bytes = sizeof(Nodes) + count * sizeof(ProfileNode);
  Nodes *nodes = cast(Nodes *, lua_newuserdatauv(L, bytes, 0));
  ProfileNode *list = (ProfileNode *)(void *)(nodes + 1);
  nodes->list = list;
  nodes->count = count;
  luaL_setmetatable(L, NODES);
  return list;
}


static int nodes_len (lua_State *L) {
  lua_pushinteger(L, lprofile_checknodes(L, 1)->count);
  return 1;
}


/*
** nodes[id], a table made for this occasion. Functions are those of the
** recording, that start from 0; the Lua part has ids that start from 1.
*/
static int nodes_index (lua_State *L) {
  const Nodes *nodes = lprofile_checknodes(L, 1);
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


/* }====================================================== */


/* {======================================================
** Snapshots
** ======================================================= */

static void snapshot_pushmeta (lua_State *L, const Recording *r,
                               const Snapshot *s) {
  lua_createtable(L, 0, 16);
  lua_pushstring(L, r->options.trace ? "trace"
                                    : r->options.lines ? "line" : "call");
  lua_setfield(L, -2, "mode");
  lua_pushstring(L, clock_name(&r->clock));
  lua_setfield(L, -2, "clock");
  profile_setinteger(L, "wall_ns", s->wall);
  profile_setinteger(L, "paused_ns", s->paused);
  profile_setinteger(L, "started_at", r->started_at);
  profile_setinteger(L, "pid", r->pid);
  if (r->hot->recording != NULL) {  /* a fork wipes it */
    profile_setinteger(L, "events", (lua_Integer)r->hot->events);
    profile_setinteger(L, "clock_backwards", (lua_Integer)r->hot->backwards);
  }
  profile_setinteger(L, "unmatched", (lua_Integer)r->figures->unmatched);
  profile_setinteger(L, "truncated", (lua_Integer)r->figures->truncated);
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
    profile_setinteger(L, "id", s->func[i]);
    profile_setinteger(L, "key", f->id);
    lua_rawseti(L, -2, s->func[i]);
  }
}


/* { function, line, hits, ns, ... } */
static void snapshot_pushlines (lua_State *L, const Snapshot *s) {
  uint32_t i;
  lua_createtable(L, (int)s->lines * 4, 0);
  for (i = 0; i < s->lines; i++) {
    const ProfileLine *l = &s->line[i];
    lua_Integer at = (lua_Integer)i * 4;
    lua_pushinteger(L, (lua_Integer)l->func + 1);
    lua_rawseti(L, -2, at + 1);
    lua_pushinteger(L, l->line);
    lua_rawseti(L, -2, at + 2);
    lua_pushinteger(L, l->hits);
    lua_rawseti(L, -2, at + 3);
    lua_pushinteger(L, l->self);
    lua_rawseti(L, -2, at + 4);
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


/* pushes room that goes with the state's garbage */
static void *profile_room (lua_State *L, size_t items, size_t size) {
  return lua_newuserdatauv(L, items * size + 1, 0);
}

#define profile_array(L, t, n)	\
	cast(t *, profile_room(L, n, sizeof(t)))


void lprofile_push (lua_State *L, Recording *r) {
  uint32_t functions = r->functions.list.count;
  int nodes = lua_gettop(L) + 1;
  Snapshot s = ZEROS;
  s.list = lprofile_newnodes(L, snapshot_count(r));
  s.owner = profile_array(L, uint32_t, snapshot_count(r));
  s.func = profile_array(L, uint32_t, functions);
  s.zone = profile_array(L, uint8_t, functions);
  s.own = profile_array(L, int64_t, functions);
  s.line = profile_array(L, ProfileLine, snapshot_lines(r));
  snapshot_fill(r, &s);
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
  s.func = profile_array(L, uint32_t, functions);
  calls = profile_array(L, lua_Integer, functions);
  memset(calls, 0, functions * sizeof *calls);
  snapshot_number(r, &s);
  for (i = 0; i < r->tree.nodes.count; i++) {
    const Node *n = tree_node(&r->tree, i);
    calls[n->func] += (lua_Integer)n->calls;
  }
  snapshot_pushfunctions(L, r, &s);
  for (i = 0; i < functions; i++) {
    if (s.func[i] == 0) continue;
    lua_rawgeti(L, -1, s.func[i]);
    profile_setinteger(L, "calls", calls[i]);
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


/* {======================================================
** Sums
** ======================================================= */

void lprofile_pushrow (lua_State *L, const SumRow *row) {
  lua_createtable(L, 0, 4);
  profile_setinteger(L, "calls", row->calls);
  profile_setinteger(L, "self_ns", row->self);
  profile_setinteger(L, "total_ns", row->total);
  profile_setinteger(L, "max_depth", row->depth);
}


static void profile_pushedge (lua_State *L, const SumEdge *e) {
  lua_createtable(L, 0, 8);
  profile_setinteger(L, "caller", e->caller + 1);
  profile_setinteger(L, "callee", e->callee + 1);
  profile_setinteger(L, "calls", e->calls);
  profile_setinteger(L, "self_ns", e->self);
  profile_setinteger(L, "total_in_ns", e->total_in);
  profile_setinteger(L, "total_out_ns", e->total_out);
  profile_setinteger(L, "line", e->line);
  profile_setinteger(L, "calls_in", e->calls_in);
}


/* sums that are freed also when an error is raised half-way */
typedef struct Box {
  Sums sums;
  Memory memory;
} Box;


static int box_gc (lua_State *L) {
  Box *box = cast(Box *, luaL_checkudata(L, 1, SUMS));
  sums_free(&box->sums, &box->memory);
  return 0;
}


static Box *box_new (lua_State *L) {
  Box *box = cast(Box *, lua_newuserdatauv(L, sizeof *box, 0));
  memset(box, 0, sizeof *box);
  box->memory = recording_get(L)->memory;
  luaL_setmetatable(L, SUMS);
  return box;
}


/* { function -> group } at 2 as the group of each node, which is pushed */
static uint32_t *profile_groups (lua_State *L, const Nodes *nodes,
                                 uint32_t groups) {
  uint32_t *group = profile_array(L, uint32_t, nodes->count);
  uint32_t i;
  for (i = 0; i < nodes->count; i++) {
    lua_Integer g;
    lua_rawgeti(L, 2, (lua_Integer)nodes->list[i].func + 1);
    g = lua_tointeger(L, -1);
    lua_pop(L, 1);
    luaL_argcheck(L, g >= 1 && g <= groups, 2, "no such group");
    group[i] = (uint32_t)g - 1;
  }
  return group;
}


/*
** Makes each level of recursion of a group a group of its own, and pushes
** { group, level, ... } of these; gives how many there are.
*/
static uint32_t profile_spread (lua_State *L, const Nodes *nodes,
                                uint32_t *group, uint32_t groups) {
  const Memory *m = &recording_get(L)->memory;
  uint32_t *level = profile_array(L, uint32_t, nodes->count);
  uint32_t count = 0, i;
  if (!nodes_levels(nodes, m, group, groups, level))
    luaL_error(L, "cprof: out of memory");
  lua_newtable(L);  /* pairs of group and level -> new group */
  lua_newtable(L);  /* the pairs, in turn */
  for (i = 0; i < nodes->count; i++) {
    lua_Integer key = (lua_Integer)group[i] << 32 | level[i];
    if (lua_rawgeti(L, -2, key) == LUA_TNIL) {
      lua_pushinteger(L, count);
      lua_rawseti(L, -4, key);
      lua_pushinteger(L, (lua_Integer)group[i] + 1);
      lua_rawseti(L, -3, (lua_Integer)count * 2 + 1);
      lua_pushinteger(L, (lua_Integer)level[i] + 1);
      lua_rawseti(L, -3, (lua_Integer)count * 2 + 2);
      group[i] = count++;
    }
    else
      group[i] = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  return count;
}


/*
** nodes, { function -> group }, number of groups, spread, by line ->
** rows, edges, and, where levels of recursion are spread, the group and
** level of rows. By line, an edge has the calls of one line only.
*/
static int profile_sum (lua_State *L) {
  const Nodes *nodes = lprofile_checknodes(L, 1);
  uint32_t groups = (uint32_t)luaL_checkinteger(L, 3), i;
  int spread = lua_toboolean(L, 4), levels = 0, ok;
  int byline = lua_toboolean(L, 5);
  uint32_t *group = profile_groups(L, nodes, groups);
  Box *box;
  Sums *s;
  if (spread) {
    groups = profile_spread(L, nodes, group, groups);
    levels = lua_gettop(L);
  }
  box = box_new(L);
  s = &box->sums;
  ok = byline ? sums_calls(s, &box->memory, nodes, group, groups)
              : sums_make(s, &box->memory, nodes, group, groups);
  if (!ok)
    return luaL_error(L, "cprof: out of memory");
  lua_createtable(L, (int)s->groups, 0);
  for (i = 0; i < s->groups; i++) {
    lprofile_pushrow(L, &s->rows[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  lua_createtable(L, (int)s->count, 0);
  for (i = 0; i < s->count; i++) {
    profile_pushedge(L, &s->edges[i]);
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  sums_free(s, &box->memory);
  if (!spread) return 2;
  lua_pushvalue(L, levels);
  return 3;
}


/* { function -> boolean } at 'arg' as flags, which are pushed */
static uint8_t *profile_flags (lua_State *L, int arg, uint32_t functions) {
  uint8_t *flag = profile_array(L, uint8_t, functions);
  uint32_t i;
  for (i = 0; i < functions; i++) {
    lua_rawgeti(L, arg, (lua_Integer)i + 1);
    flag[i] = (uint8_t)lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  return flag;
}


static void profile_checkfuncs (lua_State *L, const Nodes *nodes,
                                uint32_t functions) {
  uint32_t i;
  for (i = 0; i < nodes->count; i++)
    luaL_argcheck(L, nodes->list[i].func < functions, 2, "too short");
}


/*
** nodes, { function -> is it a zone? }, { function -> key, or 0 } ->
** { key, line, calls, ns, ... }: the calls that lines have made
*/
static int profile_sites (lua_State *L) {
  const Nodes *nodes = lprofile_checknodes(L, 1);
  uint32_t functions = (uint32_t)lua_rawlen(L, 2), i;
  const uint8_t *zone = profile_flags(L, 2, functions);
  uint32_t *key = profile_array(L, uint32_t, functions);
  Box *box = box_new(L);
  Sums *s = &box->sums;
  for (i = 0; i < functions; i++) {
    lua_rawgeti(L, 3, (lua_Integer)i + 1);
    key[i] = (uint32_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  profile_checkfuncs(L, nodes, functions);
  if (!sums_sites(s, &box->memory, nodes, zone, key))
    return luaL_error(L, "cprof: out of memory");
  lua_createtable(L, (int)s->count * 4, 0);
  for (i = 0; i < s->count; i++) {
    lua_Integer at = (lua_Integer)i * 4;
    lua_pushinteger(L, s->edges[i].caller);
    lua_rawseti(L, -2, at + 1);
    lua_pushinteger(L, s->edges[i].callee);
    lua_rawseti(L, -2, at + 2);
    lua_pushinteger(L, s->rows[i + 1].calls);
    lua_rawseti(L, -2, at + 3);
    lua_pushinteger(L, s->rows[i + 1].total);
    lua_rawseti(L, -2, at + 4);
  }
  sums_free(s, &box->memory);
  return 1;
}

/* }====================================================== */


static const luaL_Reg nodes_methods[] = {
  {"__len", nodes_len},
  {"__index", nodes_index},
  {NULL, NULL}
};

static const luaL_Reg sums_methods[] = {
  {"__gc", box_gc},
  {NULL, NULL}
};

static const luaL_Reg core_profile[] = {
  {"snapshot", profile_snapshot},
  {"functions", profile_functions},
  {"key", profile_key},
  {"address", profile_address},
  {"sum", profile_sum},
  {"sites", profile_sites},
  {NULL, NULL}
};


void lprofile_open (lua_State *L) {
  luaL_newmetatable(L, NODES);
  luaL_setfuncs(L, nodes_methods, 0);
  luaL_newmetatable(L, SUMS);
  luaL_setfuncs(L, sums_methods, 0);
  lua_pop(L, 2);
  lhistory_open(L);
  lwalk_open(L);
  luaL_setfuncs(L, core_profile, 0);
  lstates_open(L);
}


int lprofile_own (lua_CFunction f) {
  const luaL_Reg *l;
  for (l = core_profile; l->name != NULL; l++)
    if (l->func == f) return 1;
  return lhistory_own(f) || lstates_own(f) || lwalk_own(f);
}

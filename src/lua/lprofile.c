/*
** See lprofile.h
*/

#include "lua/lprofile.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cprof.h"
#include "heap/nogc.h"
#include "lua/lhistory.h"
#include "lua/lnodes.h"
#include "lua/lstate.h"
#include "record/control.h"


const char *lprofile_kind (int kind) {
  static const char *const names[ALLOC_KINDS] = {
    "table", "string", "closure", "userdata", "thread", "other"
  };
  return names[kind];
}


void lprofile_pushtext (lua_State *L, const Text *t, uint32_t id) {
  size_t length;
  const char *s = text_get(t, id, &length);
  lua_pushlstring(L, s, length);
}


static const char *profile_kind (const Function *f) {
  switch (f->kind) {
    case FUNCTION_ROOT: return "root";
    case FUNCTION_INTERNAL: return "internal";
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
  lprofile_pushtext(L, &fs->text, f->source);
  if (f->kind == FUNCTION_C) {
    lua_setfield(L, -2, "code");
    lua_pushliteral(L, "=[C]");
  }
  lua_setfield(L, -2, "source");
  lnodes_set(L, "line", f->line);
  lnodes_set(L, "last_line", f->last);
  if (f->nth != 0) lnodes_set(L, "nth", f->nth);
  lprofile_pushtext(L, &fs->text, f->name);
  lua_setfield(L, -2, "called");
  lprofile_pushtext(L, &fs->text, f->how);
  lua_setfield(L, -2, "how");
}


/* {======================================================
** Costs
** ======================================================= */

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
  {"node", offsetof(Costs, node)},
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

/* }====================================================== */


/* {======================================================
** Snapshots
** ======================================================= */

static void snapshot_pushoverhead (lua_State *L, const Snapshot *s,
                                   const Overhead *o) {
  lnodes_set(L, "overhead_ns", s->overhead);
  lnodes_set(L, "clamped_ns", s->clamped);
  if (o->unknown != NULL) {
    lua_pushstring(L, o->unknown);
    lua_setfield(L, -2, "uncompensated");
    return;
  }
  lprofile_pushcosts(L, &s->costs);
  lua_setfield(L, -2, "costs_ns");
}


/* Calls that max_nodes left without node or function of their own. */
static lua_Integer snapshot_truncated (const Recording *r) {
  const Tree *t = &r->tree;
  lua_Integer calls = 0;
  uint32_t i;
  for (i = 0; i < t->nodes.count; i++) {
    NodePlace at = tree_whereis(t, i);
    uint32_t caller = tree_whereis(t, at.parent).func;
    if (functions_truncated(&r->functions, at.func) ||
        functions_truncated(&r->functions, caller))
      calls += (lua_Integer)tree_node(t, i)->calls;
  }
  return calls;
}


static void snapshot_pushmeta (lua_State *L, const Recording *r,
                               const Snapshot *s, const Overhead *o) {
  static const char *const modes[] = {"call", "line", "trace", "count",
                                      "sample"};
  const Figures *f = r->figures;
  lua_createtable(L, 0, 24);
  lua_pushstring(L, modes[r->mode]);
  lua_setfield(L, -2, "mode");
  lua_pushstring(L, clock_name(&r->clock));
  lua_setfield(L, -2, "clock");
  lua_pushstring(L, internals_name(r->direct));
  lua_setfield(L, -2, "internals");
  lnodes_set(L, "wall_ns", s->wall);
  lnodes_set(L, "paused_ns", s->paused);
  lnodes_set(L, "preempted_ns", s->preempted);
  if (f->divided != GAP_UNKNOWN)
    lnodes_set(L, "waiting_ns", s->node[0].waittotal);
  lua_pushboolean(L, f->divided == GAP_AWAY);
  lua_setfield(L, -2, "preempted_unknown");
  snapshot_pushoverhead(L, s, o);
  lnodes_set(L, "started_at", r->started_at);
  lnodes_set(L, "pid", r->pid);
  lnodes_set(L, "events", (lua_Integer)r->events);
  lnodes_set(L, "unmatched", (lua_Integer)f->unmatched);
  lua_pushboolean(L, r->tree.memory);
  lua_setfield(L, -2, "memory");
  if (r->memory_interval > 0) {
    lnodes_set(L, "memory_interval", (lua_Integer)r->memory_interval);
    lnodes_set(L, "memory_samples", (lua_Integer)f->alloc_samples);
  }
  if (r->live > 0) {
    lnodes_set(L, "live_interval", (lua_Integer)r->live);
    lnodes_set(L, "peak_bytes", (lua_Integer)f->live_peak);
  }
  lua_pushboolean(L, r->gc);
  lua_setfield(L, -2, "gc");
  if (r->gc) {
    lnodes_set(L, "gc_steps", (lua_Integer)f->gc_steps);
    lnodes_set(L, "gc_cycles", (lua_Integer)f->gc_cycles);
    lnodes_set(L, "gc_longest_ns",
               (lua_Integer)clock_ns(s->scale, f->gc_longest));
  }
  lua_pushboolean(L, r->allocator_lost);
  lua_setfield(L, -2, "allocator_lost");
  if (r->mode == MODE_SAMPLE)
    lnodes_set(L, "interrupted", (lua_Integer)f->interrupted);
  lnodes_set(L, "truncated", snapshot_truncated(r));
  lnodes_set(L, "fold_at", r->tree.foldat);
  lua_pushboolean(L, r->tree.nodes.count >= r->tree.foldat);
  lua_setfield(L, -2, "folded");
  lnodes_set(L, "clock_backwards", (lua_Integer)f->backwards);
  lnodes_set(L, "clock_backwards_ns",
             (lua_Integer)clock_ns(s->scale, f->backwards_ticks));
  lnodes_set(L, "clock_jumps", (lua_Integer)f->jumps);
  lnodes_set(L, "clock_jumps_ns", (lua_Integer)f->jumps_ns);
  lua_pushliteral(L, CPROF_VERSION);
  lua_setfield(L, -2, "cprof_version");
  lua_pushboolean(L, f->hooks_lost != 0);
  lua_setfield(L, -2, "hook_lost");
  lua_pushstring(L, r->ended);
  lua_setfield(L, -2, "ended");
}


/* Pushes the hash of a function's code, which does not depend on its lines. */
static void snapshot_pushcode (lua_State *L, const Function *f) {
  char hex[17] = "";
  if (f->shape != 0)
    snprintf(hex, sizeof hex, "%08lx%08lx", (unsigned long)(f->shape >> 32),
             (unsigned long)(f->shape & UINT32_MAX));
  lua_pushstring(L, hex);
  lua_setfield(L, -2, "fingerprint");
  lnodes_set(L, "layout", f->layout);
}


/*
** Pushes samples of instructions, in ns. The running sum is rounded, so that
** rounding errors do not add up. There is no luaL_Buffer, which would collect
** garbage from Lua 5.5 on.
*/
static void snapshot_pushsampled (lua_State *L, const Instructions *x,
                                  const Snapshot *s) {
  double weight = 0;
  uint64_t ns = 0;
  Instruction *list = cast(Instruction *,
    lua_newuserdatauv(L, x->count * sizeof *list, 0));
  uint32_t i;
  int k;
  for (i = 0; i < x->count; i++) {
    Instruction at = x->list[i];
    for (k = 0; k <= 2; k += 2) {
      weight += (double)at.next[k];
      at.next[k] = (uint64_t)(weight * s->weight + 0.5) - ns;
      ns += at.next[k];
    }
    list[i] = at;
  }
  lua_pushlstring(L, (const char *)list, x->count * sizeof *list);
  lua_remove(L, -2);
}


/* Sets counters of instructions as raw bytes: see instructions.lua. */
static void snapshot_pushinstructions (lua_State *L, const Recording *r,
                                       const Function *f,
                                       const Snapshot *s) {
  const Instructions *x = &f->instructions;
  if (x->list == NULL) return;
  if (r->mode == MODE_SAMPLE) snapshot_pushsampled(L, x, s);
  else
    lua_pushlstring(L, (const char *)x->list, x->count * sizeof *x->list);
  lua_setfield(L, -2, "counters");
  if (!x->memory) return;
  lua_pushlstring(L, (const char *)instructions_allocated(x, 0),
                  x->count * sizeof(InstructionAllocated));
  lua_setfield(L, -2, "allocated_at");
}


/* Pushes { [kind] = { allocs, bytes } } of the allocations of a function. */
static void snapshot_pushkinds (lua_State *L, const KindsAllocated *kinds) {
  int i;
  lua_createtable(L, 0, ALLOC_KINDS);
  for (i = 0; i < ALLOC_KINDS; i++) {
    const Allocated *a = &kinds->kind[i];
    if (a->count == 0) continue;
    lua_createtable(L, 0, 2);
    lnodes_set(L, "allocs", (lua_Integer)a->count);
    lnodes_set(L, "bytes", (lua_Integer)a->bytes);
    lua_setfield(L, -2, lprofile_kind(i));
  }
  lua_setfield(L, -2, "allocated");
}


static void snapshot_pushfunctions (lua_State *L, const Recording *r,
                                    const Snapshot *s) {
  const Functions *fs = &r->functions;
  uint32_t i;
  lua_createtable(L, (int)s->functions, 0);
  for (i = 0; i < s->funccapacity; i++) {
    const Function *f = functions_at(fs, i);
    if (s->func[i] == 0) continue;
    lprofile_pushfunction(L, fs, f);
    lnodes_set(L, "id", s->func[i]);
    lnodes_set(L, "key", f->id);
    lnodes_set(L, "marks", f->marks & FUNCTION_COROUTINES);
    snapshot_pushcode(L, f);
    snapshot_pushinstructions(L, r, f, s);
    if (r->tree.memory) snapshot_pushkinds(L, tree_kinds(&r->tree, i));
    lua_rawseti(L, -2, s->func[i]);
  }
}


/* { function, line, hits, ns, ns with overhead, allocations, bytes, bytes
** in use, ns of waiting, ... } */
static void snapshot_pushlines (lua_State *L, const Snapshot *s) {
  lua_Integer at = 0;
  uint32_t i;
  lua_createtable(L, (int)s->lines * 9, 0);
  for (i = 0; i < s->lines; i++) {
    const ProfileLine *l = &s->line[i];
    lnodes_put(L, &at, (lua_Integer)l->func + 1);
    lnodes_put(L, &at, l->line);
    lnodes_put(L, &at, l->hits);
    lnodes_put(L, &at, l->self);
    lnodes_put(L, &at, l->raw);
    lnodes_put(L, &at, l->allocs);
    lnodes_put(L, &at, l->bytes);
    lnodes_put(L, &at, l->live);
    lnodes_put(L, &at, l->wait);
  }
}


/*
** { { source, active, text, changed, mixed }, ... } of the sources whose
** lines are counted; 'active' has a byte for each line, 1: there is code
*/
static void snapshot_pushsources (lua_State *L, const Recording *r) {
  const Functions *fs = &r->functions;
  uint32_t i;
  lua_Integer n = 0;
  lua_newtable(L);
  for (i = 1; i < fs->sources.count; i++) {
    const Source *s = functions_source(fs, i);
    const Bytecode *b = &s->code;
    if (s->lines <= 0) continue;
    lua_createtable(L, 0, 5);
    lprofile_pushtext(L, &fs->text, s->text);
    lua_setfield(L, -2, "source");
    lua_pushlstring(L, b->lines > 0 ? (const char *)b->active + 1 : "",
                    b->lines > 0 ? b->lines - 1 : 0);
    lua_setfield(L, -2, "active");
    if (s->content != NULL) {
      lua_pushlstring(L, s->content, s->size);
      lua_setfield(L, -2, "text");
    }
    lua_pushboolean(L, s->changed);
    lua_setfield(L, -2, "changed");
    lua_pushboolean(L, s->state == SOURCE_MIXED);
    lua_setfield(L, -2, "mixed");
    lua_rawseti(L, -2, ++n);
  }
}


/* a snapshot that is freed also when an error is raised */
#define SNAPSHOT	"cprof.snapshot"

static int snapshot_gc (lua_State *L) {
  snapshot_free(cast(Snapshot *, luaL_checkudata(L, 1, SNAPSHOT)));
  return 0;
}


static Snapshot *snapshot_new (lua_State *L) {
  Snapshot *s = lnodes_array(L, Snapshot, 1);
  if (luaL_newmetatable(L, SNAPSHOT)) {
    lua_pushcfunction(L, snapshot_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  return s;
}


void lprofile_push (lua_State *L, Recording *r, const Overhead *o,
                    const Frames *frames) {
  Snapshot *s = snapshot_new(L);
  NodeMemory *memory = NULL;
  ProfileNode *node = lnodes_new(L, r->tree.nodes.count,
                                 r->tree.memory ? &memory : NULL);
  if (!snapshot_take(s, r, o, node, memory))
    luaL_error(L, "cprof: out of memory");
  snapshot_pushfunctions(L, r, s);
  snapshot_pushmeta(L, r, s, o);
  snapshot_pushlines(L, s);
  snapshot_pushsources(L, r);
  if (frames != NULL) lhistory_push(L, frames, s);
  else lua_pushnil(L);
  snapshot_free(s);
}


int lprofile_nogc (lua_State *L, lua_CFunction f, int arguments) {
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


static int profile_takesnapshot (lua_State *L) {
  Recorder *r = recorder_get(L);
  lprofile_push(L, &r->recording, &lstate_get(L)->overhead, &r->frames);
  return 6;
}


/*
** -> nodes, functions, meta, lines, sources, history; or nothing, if there
** is no recording
*/
static int profile_snapshot (lua_State *L) {
  Recorder *r = lstate_recorder(L);
  int results = 0;
  control_check(r, L);
  if (r->started) {
    results = lprofile_nogc(L, profile_takesnapshot, 0);
    if (r->state == STATE_RUNNING && !r->callback) recorder_overhead(r);
  }
  nogc_settle(r->hot, L);
  return results;
}


static int profile_takefunctions (lua_State *L) {
  const Recording *r = &recorder_get(L)->recording;
  Snapshot *s = snapshot_new(L);
  lua_Unsigned *calls = lnodes_array(L, lua_Unsigned,
                                     r->functions.list.count);
  uint32_t i;
  if (!snapshot_number(s, r)) luaL_error(L, "cprof: out of memory");
  for (i = 0; i < r->tree.nodes.count; i++) {
    NodePlace at = tree_whereis(&r->tree, i);
    /* samples are not calls: counts a node as one, unless a host called it */
    if (r->mode == MODE_SAMPLE) calls[at.func] += at.parent != 0;
    else calls[at.func] += tree_node(&r->tree, i)->calls;
  }
  snapshot_pushfunctions(L, r, s);
  for (i = 0; i < s->funccapacity; i++) {
    if (s->func[i] == 0) continue;
    lua_rawgeti(L, -1, s->func[i]);
    lnodes_set(L, "calls", (lua_Integer)calls[i]);
    lua_pop(L, 1);
  }
  snapshot_free(s);
  return 1;
}


/* -> functions, as 'snapshot' gives them, with their calls */
static int profile_functions (lua_State *L) {
  if (!lstate_recorder(L)->started) return 0;
  return lprofile_nogc(L, profile_takefunctions, 0);
}

/* }====================================================== */


/* function -> its address, if it is a C function; else nil */
static int profile_address (lua_State *L) {
  lua_CFunction f = lua_tocfunction(L, 1);
  if (f == NULL) return 0;
  lua_pushinteger(L, (lua_Integer)(uintptr_t)f);
  return 1;
}


/* function -> its key in the functions of a snapshot, or nil */
static int profile_key (lua_State *L) {
  Recorder *r = lstate_recorder(L);
  const Function *f;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  f = r->started ? functions_known(&r->recording.functions, L) : NULL;
  if (f == NULL) return 0;
  lua_pushinteger(L, f->id);
  return 1;
}


typedef struct Defined {
  Bytecode code;
  Memory memory;
} Defined;

#define DEFINED	"cprof.defined"

static int defined_gc (lua_State *L) {
  Defined *d = cast(Defined *, luaL_checkudata(L, 1, DEFINED));
  bytecode_free(&d->code, &d->memory);
  return 0;
}


/* chunk -> { line, last line, ... } of the functions that it defines */
static int profile_defined (lua_State *L) {
  Defined *d;
  uint32_t i;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  d = lnodes_array(L, Defined, 1);
  d->memory = lstate_recorder(L)->recording.memory;
  if (luaL_newmetatable(L, DEFINED)) {
    lua_pushcfunction(L, defined_gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_setmetatable(L, -2);
  lua_pushvalue(L, 1);
  if (!bytecode_read(&d->code, &d->memory, L))
    return luaL_error(L, "cprof: out of memory");
  lua_createtable(L, (int)d->code.count * 2, 0);
  for (i = 0; i < d->code.count; i++) {
    lua_pushinteger(L, d->code.list[i].line);
    lua_rawseti(L, -2, (lua_Integer)i * 2 + 1);
    lua_pushinteger(L, d->code.list[i].last);
    lua_rawseti(L, -2, (lua_Integer)i * 2 + 2);
  }
  bytecode_free(&d->code, &d->memory);
  return 1;
}


/* -> { ns, bytes, ... }: the size of the heap over time */
static int profile_heap (lua_State *L) {
  const Timeline *t = &lstate_recorder(L)->recording.heap;
  uint32_t i;
  lua_createtable(L, (int)t->count * 2, 0);
  for (i = 0; i < t->count; i++) {
    lua_pushinteger(L, (lua_Integer)t->point[i].ns);
    lua_rawseti(L, -2, (lua_Integer)i * 2 + 1);
    lua_pushinteger(L, (lua_Integer)t->point[i].bytes);
    lua_rawseti(L, -2, (lua_Integer)i * 2 + 2);
  }
  return 1;
}


static const luaL_Reg lprofile_list[] = {
  {"heap", profile_heap},
  {"snapshot", profile_snapshot},
  {"functions", profile_functions},
  {"key", profile_key},
  {"address", profile_address},
  {"defined", profile_defined},
  {NULL, NULL}
};


const luaL_Reg *lprofile_functions (void) {
  return lprofile_list;
}

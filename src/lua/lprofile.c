/*
** See lprofile.h
*/

#include "lua/lprofile.h"

#include <stdio.h>
#include <string.h>

#include "heap/nogc.h"
#include "lua/laxis.h"
#include "lua/lfunction.h"
#include "lua/lhistory.h"
#include "lua/lloops.h"
#include "lua/lmemory.h"
#include "lua/lmeta.h"
#include "lua/lnodes.h"
#include "lua/lstate.h"
#include "lua/ltable.h"
#include "lua/ltasks.h"
#include "lua/parts.h"
#include "profile/possible.h"
#include "record/control.h"


const char *const *lprofile_blocks (void) {
  static const char *const names[] = {
    "table", "string", "closure", "userdata", "thread", "other", NULL
  };
  return names;
}


/* {======================================================
** Snapshots
** ======================================================= */

/* Pushes the hash of a function's code, which does not depend on its lines. */
static void snapshot_pushcode (lua_State *L, const Function *f) {
  char hex[17] = "";
  if (f->shape != 0)
    snprintf(hex, sizeof hex, "%08lx%08lx", (unsigned long)(f->shape >> 32),
             (unsigned long)(f->shape & UINT32_MAX));
  ltable_setstring(L, "fingerprint", hex);
  ltable_setinteger(L, "layout", f->layout);
}


/*
** Sets samples of instructions, in ns. The running sum is rounded, so that
** rounding errors do not add up. There is no luaL_Buffer, which would collect
** garbage from Lua 5.5 on.
*/
static void snapshot_setsampled (lua_State *L, const Instructions *x,
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
  lua_setfield(L, -3, "counters");
  lua_pop(L, 1);
}


/* Sets counters of instructions as raw bytes: see instructions.lua. */
static void snapshot_setinstructions (lua_State *L, const Recording *r,
                                      const Function *f,
                                      const Snapshot *s) {
  const Instructions *x = &f->instructions;
  if (x->list == NULL) return;
  if (r->mode == MODE_SAMPLE) snapshot_setsampled(L, x, s);
  else
    ltable_setbytes(L, "counters", x->list, x->count * sizeof *x->list);
  if (!x->memory) return;
  ltable_setbytes(L, "allocated_at", instructions_allocated(x, 0),
                  x->count * sizeof(InstructionAllocated));
}


/* Pushes { [kind] = { allocs, bytes } } of the allocations of a function. */
static void snapshot_pushkinds (lua_State *L, const KindsAllocated *kinds) {
  int i;
  lua_createtable(L, 0, ALLOC_KINDS);
  for (i = 0; i < ALLOC_KINDS; i++) {
    const Allocated *a = &kinds->kind[i];
    if (a->count == 0) continue;
    lua_createtable(L, 0, 2);
    ltable_setinteger(L, "allocs", (lua_Integer)a->count);
    ltable_setinteger(L, "bytes", (lua_Integer)a->bytes);
    lua_setfield(L, -2, lprofile_blocks()[i]);
  }
  lua_setfield(L, -2, "allocated");
}


/*
** Sets how long calls of a function took, as raw bytes: see durations.lua.
** Nothing, if no call has ended.
*/
static void snapshot_pushdurations (lua_State *L, const Recording *r,
                                    const Function *f, const Snapshot *s) {
  Durations d = *tree_durations(&r->tree, f->id);
  uint64_t calls = 0;
  int i;
  for (i = 0; i < DURATIONS_COUNT; i++) calls += d.count[i];
  if (calls == 0) return;
  durations_tons(&d, s->scale);
  ltable_setbytes(L, "histogram", &d, sizeof d);
}


static void snapshot_pushfunctions (lua_State *L, const Recording *r,
                                    const Snapshot *s) {
  const Functions *fs = &r->functions;
  uint32_t i;
  lua_createtable(L, (int)s->functions, 0);
  for (i = 0; i < fs->list.count; i++) {
    const Function *f = functions_at(fs, i);
    if (s->func[i] == 0) continue;
    lfunction_push(L, fs, f);
    ltable_setinteger(L, "id", s->func[i]);
    ltable_setinteger(L, "key", f->id);
    ltable_setinteger(L, "marks", f->marks & FUNCTION_COROUTINES);
    snapshot_pushcode(L, f);
    snapshot_setinstructions(L, r, f, s);
    if (r->tree.distribution && s->scale.factor != 0)
      snapshot_pushdurations(L, r, f, s);
    if (r->tree.memory) snapshot_pushkinds(L, tree_kinds(&r->tree, i));
    lua_rawseti(L, -2, s->func[i]);
  }
}


static void snapshot_pushmodule (lua_State *L, const Text *t, const Spot *x) {
  if (spot_isinfile(x)) lfunction_pushtext(L, t, x->module);
  else if (x->module == SPOT_SYSTEM) lua_pushliteral(L, "=system");
  else if (x->module == SPOT_NOWHERE) lua_pushliteral(L, "=nowhere");
  else lua_pushliteral(L, "=more");
}


/*
** Sets the spots of functions: { file, address, ns, ... }. Functions are on
** top.
*/
static void snapshot_setspots (lua_State *L, const Recording *r,
                               const Snapshot *s) {
  const TallyCount *x;
  lua_Integer left = FIGURES_MOST;  /* a file may give them any weight */
  uint32_t i;
  for (i = 1; (x = tally_at(&r->spots, i)) != NULL; i++) {
    Spot spot = spot_of(x);
    double ns = (double)spot.weight * s->weight + 0.5;
    lua_Integer at, time = ns < (double)left ? (lua_Integer)ns : left;
    if (s->func[spot.func] == 0) continue;
    lua_rawgeti(L, -1, s->func[spot.func]);
    if (lua_getfield(L, -1, "spots") != LUA_TTABLE) {
      lua_pop(L, 1);
      lua_newtable(L);
      lua_pushvalue(L, -1);
      lua_setfield(L, -3, "spots");
    }
    at = (lua_Integer)lua_rawlen(L, -1);
    snapshot_pushmodule(L, &r->functions.text, &spot);
    lua_rawseti(L, -2, ++at);
    ltable_put(L, &at, (lua_Integer)spot.address);
    ltable_put(L, &at, time);
    left -= time;
    lua_pop(L, 2);
  }
}


void lprofile_pushlines (lua_State *L, const ProfileLine *line, size_t n) {
  lua_Integer at = 0;
  size_t i;
  lua_createtable(L, (int)n * LPROFILE_LINE, 0);
  for (i = 0; i < n; i++) {
    const ProfileLine *l = &line[i];
    ltable_put(L, &at, (lua_Integer)l->func + 1);
    ltable_put(L, &at, l->line);
    ltable_put(L, &at, l->hits);
    ltable_put(L, &at, l->self);
    ltable_put(L, &at, l->raw);
    ltable_put(L, &at, l->allocs);
    ltable_put(L, &at, l->bytes);
    ltable_put(L, &at, l->live);
    ltable_put(L, &at, l->wait);
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
    lfunction_pushtext(L, &fs->text, s->text);
    lua_setfield(L, -2, "source");
    ltable_setbytes(L, "active", b->lines > 0 ? b->active + 1 : NULL,
                    b->lines > 0 ? b->lines - 1 : 0);
    if (s->content != NULL) ltable_setbytes(L, "text", s->content, s->size);
    ltable_setflag(L, "changed", s->changed);
    ltable_setflag(L, "mixed", s->state == SOURCE_MIXED);
    lua_rawseti(L, -2, ++n);
  }
}


void lprofile_push (lua_State *L, Recording *r, const Overhead *o,
                    const Frames *frames) {
  Arena *a = lmemory_arena(L);
  NodeMemory *memory = NULL;
  ProfileNode *node = lnodes_new(L, r->tree.nodes.count,
                                 r->tree.memory ? &memory : NULL);
  Snapshot s;
  snapshot_take(&s, &a->memory, r, o, node, memory);
  snapshot_pushfunctions(L, r, &s);
  if (r->mode == MODE_SAMPLE) snapshot_setspots(L, r, &s);
  lmeta_push(L, r, &s, o);
  lprofile_pushlines(L, s.line, s.lines);
  snapshot_pushsources(L, r);
  if (frames != NULL) lhistory_push(L, &a->memory, frames, &s);
  else lua_pushnil(L);
  laxis_push(L, r, &s, &a->memory);
  ltasks_push(L, r, &s);
  lloops_push(L, r, &s);
  arena_free(a);
}


static int profile_takesnapshot (lua_State *L) {
  Recorder *r = recorder_get(L);
  lprofile_push(L, &r->recording, &lstate_get(L)->overhead, &r->frames);
  return 9;
}


/*
** -> nodes, functions, meta, lines, sources, history, axis, tasks, frames; or
** nothing, if there is no recording
*/
static int profile_snapshot (lua_State *L) {
  Recorder *r = lstate_recorder(L);
  int results = 0;
  control_check(r, L);
  if (r->started) {
    results = lstate_nogc(L, profile_takesnapshot, 0);
    if (r->state == STATE_RUNNING && !r->callback) recorder_overhead(r);
  }
  nogc_settle(r->hot, L);
  return results;
}


static int profile_takefunctions (lua_State *L) {
  const Recording *r = &recorder_get(L)->recording;
  Arena *a = lmemory_arena(L);
  uint64_t *calls = memory_newzeroed(&a->memory, uint64_t,
                                     r->functions.list.count);
  uint32_t i;
  Snapshot s;
  snapshot_number(&s, &a->memory, r);
  for (i = 0; i < r->tree.nodes.count; i++) {
    NodePlace at = tree_whereis(&r->tree, i);
    /* samples are not calls: counts a node as one, unless a host called it */
    if (r->mode == MODE_SAMPLE) calls[at.func] += at.parent != 0;
    else calls[at.func] += tree_node(&r->tree, i)->calls;
  }
  snapshot_pushfunctions(L, r, &s);
  for (i = 0; i < r->functions.list.count; i++) {
    if (s.func[i] == 0) continue;
    lua_rawgeti(L, -1, s.func[i]);
    ltable_setinteger(L, "calls", (lua_Integer)calls[i]);
    lua_pop(L, 1);
  }
  arena_free(a);
  return 1;
}


/* -> functions, as 'snapshot' gives them, with their calls */
static int profile_functions (lua_State *L) {
  if (!lstate_recorder(L)->started) return 0;
  return lstate_nogc(L, profile_takefunctions, 0);
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


/* chunk -> { line, last line, ... } of the functions that it defines */
static int profile_defined (lua_State *L) {
  Bytecode code = ZEROS;
  lua_Integer at = 0;
  uint32_t i;
  Arena *a;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  a = lmemory_arena(L);
  lua_pushvalue(L, 1);
  if (!bytecode_read(&code, &a->memory, L))
    luaL_error(L, "cprof: out of memory");
  lua_createtable(L, (int)code.count * 2, 0);
  for (i = 0; i < code.count; i++) {
    ltable_put(L, &at, code.list[i].line);
    ltable_put(L, &at, code.list[i].last);
  }
  arena_free(a);
  return 1;
}


/*
** -> { ns, bytes, ... }, the size of the heap over time; and the bytes of
** garbage in it that the collector has not found, or nil
*/
static int profile_heap (lua_State *L) {
  const Recording *x = &lstate_recorder(L)->recording;
  const Timeline *t = &x->heap;
  lua_Integer at = 0;
  uint32_t i;
  lua_createtable(L, (int)t->count * 2, 0);
  for (i = 0; i < t->count; i++) {
    ltable_put(L, &at, (lua_Integer)t->point[i].ns);
    ltable_put(L, &at, (lua_Integer)t->point[i].bytes);
  }
  if (x->garbage == 0) return 1;
  lua_pushinteger(L, (lua_Integer)x->garbage);
  return 2;
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


void lprofile_open (lua_State *L) {
  luaL_setfuncs(L, lprofile_list, 0);
}

/*
** See lmeta.h
*/

#include "lua/lmeta.h"

#include <string.h>

#include "cprof.h"
#include "internals/internals.h"
#include "lua/ltable.h"


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
  {"resume", offsetof(Costs, resume)},
  {"coroutine", offsetof(Costs, coroutine)},
  {"begin", offsetof(Costs, begin)},
  {"made", offsetof(Costs, made)},
  {"resumer", offsetof(Costs, resumer)},
  {"yielder", offsetof(Costs, yielder)},
  {"line", offsetof(Costs, line)},
  {"step", offsetof(Costs, step)},
  {"instruction", offsetof(Costs, instruction)},
  {"least", offsetof(Costs, least)}
};

#define COSTS	(sizeof costs_names / sizeof *costs_names)


void lmeta_pushcosts (lua_State *L, const Costs *c) {
  size_t i;
  lua_createtable(L, 0, COSTS);
  for (i = 0; i < COSTS; i++) {
    int64_t ps;
    memcpy(&ps, (const char *)c + costs_names[i].offset, sizeof ps);
    lua_pushnumber(L, (lua_Number)ps / COST_UNIT);
    lua_setfield(L, -2, costs_names[i].name);
  }
}


Costs lmeta_tocosts (lua_State *L) {
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
** Fields that are in the header as they are in 'meta'
** ======================================================= */

static const char *const meta_modes[] = {MODE_NAMES, NULL};
static const char *const meta_clocks[] = {
  "tsc", "monotonic", "cpu", "host", "instructions", NULL
};
static const char *const meta_internals[] = {"public", "direct", NULL};
static const char *const meta_tickers[] = {"", "wall", "cpu", "thread",
						 "task-clock", NULL};

typedef enum MetaKind {
  META_INTEGER, META_FLAG, META_TICKS, META_CHOICE
} MetaKind;

/* Which recordings have a field. */
typedef enum MetaIf {
  META_ALL, META_SAMPLED, META_TICKED, META_LIVE, META_GC, META_SIGNALS,
  META_IFS
} MetaIf;

typedef struct MetaField {
  const char *name;
  MetaIf has;
  MetaKind kind;
  const char *const *choice;	/* names of the values from 0 on, then NULL */
  size_t at, size;	/* place and size in the header */
} MetaField;

#define AT(f)	offsetof(FormatHeader, f), sizeof(((FormatHeader *)0)->f)

static const MetaField meta_fields[] = {
  {"mode", META_ALL, META_CHOICE, meta_modes, AT(mode)},
  {"clock", META_ALL, META_CHOICE, meta_clocks, AT(clock)},
  {"internals", META_ALL, META_CHOICE, meta_internals, AT(direct)},
  {"timer", META_TICKED, META_CHOICE, meta_tickers, AT(figures.ticker)},
  {"signals", META_SIGNALS, META_INTEGER, NULL, AT(figures.signals)},
  {"interrupted", META_SIGNALS, META_INTEGER, NULL, AT(figures.interrupted)},
  {"started_at", META_ALL, META_INTEGER, NULL, AT(started_at)},
  {"pid", META_ALL, META_INTEGER, NULL, AT(pid)},
  {"events", META_ALL, META_INTEGER, NULL, AT(events)},
  {"unmatched", META_ALL, META_INTEGER, NULL, AT(figures.unmatched)},
  {"fold_at", META_ALL, META_INTEGER, NULL, AT(foldat)},
  {"memory", META_ALL, META_FLAG, NULL, AT(memory)},
  {"distribution", META_ALL, META_FLAG, NULL, AT(distribution)},
  {"tasks", META_ALL, META_FLAG, NULL, AT(istasks)},
  {"memory_interval", META_SAMPLED, META_INTEGER, NULL, AT(memory_interval)},
  {"memory_samples", META_SAMPLED, META_INTEGER, NULL,
   AT(figures.alloc_samples)},
  {"live_interval", META_LIVE, META_INTEGER, NULL, AT(live)},
  {"peak_bytes", META_LIVE, META_INTEGER, NULL, AT(figures.live_peak)},
  {"gc", META_ALL, META_FLAG, NULL, AT(gc)},
  {"gc_steps", META_GC, META_INTEGER, NULL, AT(figures.gc_steps)},
  {"gc_cycles", META_GC, META_INTEGER, NULL, AT(figures.gc_cycles)},
  {"gc_longest_ns", META_GC, META_TICKS, NULL, AT(figures.gc_longest)},
  {"allocator_lost", META_ALL, META_FLAG, NULL, AT(allocator_lost)},
  {"hook_lost", META_ALL, META_FLAG, NULL, AT(figures.hooks_lost)},
  {"axis_lost", META_ALL, META_FLAG, NULL, AT(figures.slices.lost)},
  {"clock_backwards", META_ALL, META_INTEGER, NULL, AT(figures.backwards)},
  {"clock_backwards_ns", META_ALL, META_TICKS, NULL,
   AT(figures.backwards_ticks)},
  {"clock_jumps", META_ALL, META_INTEGER, NULL, AT(figures.jumps)},
  {"clock_jumps_ns", META_ALL, META_INTEGER, NULL, AT(figures.jumps_ns)}
};

#define FIELDS	(sizeof meta_fields / sizeof *meta_fields)


static void meta_pushfield (lua_State *L, const MetaField *f,
                            const FormatHeader *h, Scale scale) {
  uint64_t n = 0;
  uint32_t half;
  memcpy(&half, (const char *)h + f->at, sizeof half);
  if (f->size == sizeof n) memcpy(&n, (const char *)h + f->at, sizeof n);
  else n = half;
  switch (f->kind) {
    case META_FLAG: lua_pushboolean(L, n != 0); break;
    case META_TICKS: lua_pushinteger(L, (lua_Integer)clock_ns(scale, n)); break;
    case META_CHOICE: lua_pushstring(L, f->choice[n]); break;
    default: lua_pushinteger(L, (lua_Integer)n);
  }
}


/* The value of a field of the table at 'arg'. */
static uint64_t meta_value (lua_State *L, int arg, const MetaField *f) {
  switch (f->kind) {
    case META_FLAG: return (uint64_t)ltable_flag(L, arg, f->name);
    case META_CHOICE: return ltable_choice(L, arg, f->name, f->choice);
    default: return ltable_figure(L, arg, f->name);
  }
}

/* }====================================================== */


/* {======================================================
** All of it
** ======================================================= */

static void meta_pushoverhead (lua_State *L, const Snapshot *s,
                               const Overhead *o) {
  ltable_setinteger(L, "overhead_ns", s->overhead);
  ltable_setinteger(L, "clamped_ns", s->clamped);
  if (o->unknown != NULL) {
    ltable_setstring(L, "uncompensated", o->unknown);
    return;
  }
  lmeta_pushcosts(L, &s->costs);
  lua_setfield(L, -2, "costs_ns");
}


/* Calls that max_nodes left without node or function of their own. */
static lua_Integer meta_truncated (const Recording *r) {
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


/*
** Was recursion folded? If it folds only from some number of nodes on, a node
** that was re-entered shows it.
*/
static int meta_folded (const Tree *t) {
  uint32_t i;
  if (t->saved) return t->folded;
  if (t->foldat == 0) return 1;
  for (i = 0; i < t->nodes.count && t->nodes.count >= t->foldat; i++)
    if (tree_node(t, i)->as.full.entered) return 1;
  return 0;
}


void lmeta_push (lua_State *L, const Recording *r, const Snapshot *s,
                 const Overhead *o) {
  const Figures *x = r->figures;
  int has[META_IFS];
  FormatHeader h;
  size_t i;
  format_fill(&h, r);
  h.figures = *x;
  has[META_ALL] = 1;
  has[META_SAMPLED] = r->memory_interval > 0;
  has[META_TICKED] = x->ticker != TICKER_UNKNOWN;
  has[META_LIVE] = r->live > 0;
  has[META_GC] = r->gc;
  has[META_SIGNALS] = r->mode == MODE_SAMPLE || has[META_TICKED];
  lua_createtable(L, 0, FIELDS);
  for (i = 0; i < FIELDS; i++) {
    if (!has[meta_fields[i].has]) continue;
    meta_pushfield(L, &meta_fields[i], &h, s->scale);
    lua_setfield(L, -2, meta_fields[i].name);
  }
  meta_pushoverhead(L, s, o);
  ltable_setinteger(L, "wall_ns", s->wall);
  ltable_setinteger(L, "paused_ns", s->paused);
  ltable_setinteger(L, "preempted_ns", s->preempted);
  if (x->divided != GAP_UNKNOWN)
    ltable_setinteger(L, "waiting_ns", s->node[0].waittotal);
  ltable_setflag(L, "preempted_unknown", x->divided == GAP_AWAY);
  ltable_setinteger(L, "truncated", meta_truncated(r));
  ltable_setflag(L, "folded", meta_folded(&r->tree));
  ltable_setstring(L, "cprof_version", CPROF_VERSION);
  ltable_setstring(L, "ended", r->ended);
}


static void meta_copy (lua_State *L, int arg, const char *field, char *to,
                       size_t room) {
  lua_getfield(L, arg, field);
  strncpy(to, luaL_optstring(L, -1, ""), room - 1);
  lua_pop(L, 1);
}


void lmeta_write (lua_State *L, int arg, FormatHeader *h) {
  Figures *x = &h->figures;
  size_t i;
  for (i = 0; i < FIELDS; i++) {
    const MetaField *f = &meta_fields[i];
    uint64_t n = meta_value(L, arg, f);
    uint32_t half = (uint32_t)n;
    if (f->size == sizeof n) memcpy((char *)h + f->at, &n, sizeof n);
    else memcpy((char *)h + f->at, &half, sizeof half);
  }
  h->given = ltable_flag(L, arg, "folded") ? 2 : 1;
  h->scale = (uint64_t)1 << 31 | (uint64_t)31 << 32;
  h->clamped = ltable_integer(L, arg, "clamped_ns");
  x->live_peaks = 1;
  x->preempted = ltable_figure(L, arg, "preempted_ns");
  x->paused = ltable_figure(L, arg, "paused_ns") + x->preempted;
  x->waited = ltable_figure(L, arg, "waiting_ns");
  lua_getfield(L, arg, "events");
  h->counted = !lua_isnil(L, -1);
  lua_getfield(L, arg, "waiting_ns");
  x->divided = lua_isnil(L, -1) ? GAP_UNKNOWN
    : ltable_flag(L, arg, "preempted_unknown") ? GAP_AWAY : GAP_WAITED;
  lua_getfield(L, arg, "costs_ns");
  if (lua_istable(L, -1)) h->costs = lmeta_tocosts(L);
  lua_pop(L, 3);
  meta_copy(L, arg, "ended", h->ended, sizeof h->ended);
  meta_copy(L, arg, "uncompensated", h->uncompensated,
            sizeof h->uncompensated);
}

/* }====================================================== */

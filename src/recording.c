/*
** See recording.h
*/

#include "recording.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>

#include "keep.h"


/* addresses: in the registry, the recording, and L -> its thread (weak) */
static const char RECORDING = 0;
static const char THREADS = 0;


#if !defined(CPROF_AMALGAMATION)
const Hot recording_nobody = ZEROS;
PLATFORM_THREAD Hot *recording_hot = (Hot *)&recording_nobody;
#endif


static void *recording_alloc (void *ud, void *p, size_t from, size_t to) {
  (void)ud; (void)from;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}


void recording_free (Recording *r) {
  stacks_free(&r->stacks);
  if (r->history.memory != NULL) history_free(&r->history);
  tree_free(&r->tree);
  chunks_free(&r->tolls);
  functions_free(&r->functions);
  trace_close(&r->trace);
  journal_free(&r->journal);
  file_free(r->file);
  r->file = NULL;
  r->figures = &r->own_figures;
  memory_free(&r->memory, r->cache, sizeof *r->cache);
  r->cache = NULL;
  r->current = NULL;
  r->started = 0;
}


int recording_blank (Recording *r, const Memory *m) {
  r->memory = *m;
  r->figures = &r->own_figures;
  r->started = 1;
  tree_init(&r->tree, &r->memory);
  chunks_init(&r->tolls, &r->memory, sizeof(Toll), TOLLS_SHIFT);
  stacks_init(&r->stacks, &r->memory);
  return functions_blank(&r->functions, &r->memory);
}


Recording *recording_get (lua_State *L) {
  Recording *r = NULL;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &RECORDING) == LUA_TUSERDATA)
    r = *(Recording **)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return r;
}


/*
** No thread may be left with the address of a page that is gone: one
** that another thread may still know stays, empty.
*/
static void recording_freehot (Hot *h) {
  int mine = recording_hot == h;
  int known = h->shared || (h->thread != NULL && h->thread != &recording_hot);
  memset(h, 0, sizeof *h);
  if (known) return;
  if (mine) recording_hot = (Hot *)&recording_nobody;
  platform_freepage(h, sizeof *h);
}


/* nobody stopped it; its file is to be whole */
static void recording_close (Recording *r, lua_State *L) {
  if (r->file == NULL || recording_forked(r)) return;
  if (r->state != STATE_STOPPED) recording_settle(r);
  r->state = STATE_STOPPED;
  keep_finish(r, L);
}


/* the state is being closed */
static int recording_gc (lua_State *L) {
  Recording **box = cast(Recording **, lua_touserdata(L, 1));
  Recording *r = *box;
  if (r != NULL) {
    recording_close(r, L);
    *box = NULL;
    recording_free(r);
    if (r->hot != NULL) recording_freehot(r->hot);
    free(r);
  }
  return 0;
}


static void recording_open (lua_State *L) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &THREADS);
}


Recording *recording_make (lua_State *L, int (*own) (lua_CFunction f)) {
  Recording *r = recording_get(L), **box;
  if (r != NULL) return r;
  recording_open(L);
  box = cast(Recording **, lua_newuserdatauv(L, sizeof *box, 0));
  *box = NULL;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, recording_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  *box = r = cast(Recording *, calloc(1, sizeof *r));
  if (r == NULL) luaL_error(L, "cprof: out of memory");
  r->memory.alloc = recording_alloc;
  r->figures = &r->own_figures;
  r->own = own;
  r->hot = cast(Hot *, platform_newpage(sizeof *r->hot));
  if (r->hot == NULL) luaL_error(L, "cprof: out of memory");
  r->registry = lua_topointer(L, LUA_REGISTRYINDEX);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  r->main = lua_tothread(L, -1);
  lua_pop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &RECORDING);
  return r;
}


void recording_setalloc (Recording *r, lua_Alloc alloc, void *ud) {
  recording_free(r);
  r->memory.alloc = alloc;
  r->memory.ud = ud;
}


Fast recording_fast (const Hot *h) {
  int modes = (h->lines != 0) + (h->fold != 0) + (h->history != NULL);
  if (h->clock != CLOCK_TICKS || h->callsites || h->tiers || h->trace ||
      modes > 1)
    return FAST_NONE;
  if (h->lines) return FAST_LINES;
  if (h->fold) return FAST_FOLDED;
  return h->history ? FAST_PERIODS : FAST_CALLS;
}


int recording_touch (Recording *r, Stack *s) {
  const Frame *f;
  if (!r->history.on || s->period == r->history.number) return 1;
  s->period = r->history.number;
  for (f = s->base; f <= s->top; f++)
    if (f->node != NULL && !history_touch(&r->history, f->node)) return 0;
  return 1;
}


int recording_begin (Recording *r, lua_State *L, const Options *o) {
  Hot *h = r->hot;
  recording_free(r);
  r->options = *o;
  r->options.hidden = r->options.trace_path = NULL;
  r->ended = NULL;
  r->file = o->file;
  r->named = 0;
  r->pid = platform_process();
  h->L = NULL;
  h->history = NULL;
  r->period_func = 0;
  h->recording = r;
  h->callsites = o->callsites;
  h->lines = o->lines;
  h->tiers = o->wantlines != NULL;
  h->trace = o->trace;
  line_nowhere(&h->nowhere);
  h->fold = o->fold;
  tree_init(&r->tree, &r->memory);
  chunks_init(&r->tolls, &r->memory, sizeof(Toll), TOLLS_SHIFT);
  if (r->file != NULL) {
    r->tree.nodes.pages = &r->file->nodes;
    r->tolls.pages = &r->file->tolls;
  }
  stacks_init(&r->stacks, &r->memory);
  history_init(&r->history, &r->memory, &r->tree, o->history, o->full,
               o->slow);
  if (h->trace &&
      !trace_open(&r->trace, o->trace_path, o->trace_call, &r->memory)) {
    r->ended = r->trace.why;
    return 0;
  }
  if (!functions_init(&r->functions, &r->memory, L)) return 0;
  if (!functions_hide(&r->functions, o->hidden)) return 0;
  r->functions.own = r->own;
  r->functions.wanted = o->wanted;
  r->functions.ud = &r->functions;
  r->functions.foldc = o->foldc;
  r->functions.lines = o->lines;
  r->functions.wantlines = o->wantlines;
  r->functions.limit = o->max_nodes;
  r->tree.limit = o->max_nodes;
  r->tree.fold = o->fold;
  r->cache = memory_new(&r->memory, Cache, 1);
  if (r->cache == NULL) return 0;
  h->cache = r->cache;
  h->tree = &r->tree;
  clock_start(&r->clock, o->cpu, h->trace);
  h->clock = r->clock.kind;
  r->started = recording_clear(r) && (r->file == NULL || keep_begin(r));
  return r->started;
}


/*
** Zones in C are kept by thread and remember nodes by address. Together
** with such an address, which no two recordings have at a time, the
** moment is enough to tell what the address means.
*/
static uint64_t recording_epoch (uint64_t last) {
  uint64_t now = platform_ticks();
  return now > last ? now : last + 1;
}


int recording_clear (Recording *r) {
  r->started_at = (int64_t)time(NULL);
  keep_clear(r);
  memset(r->figures, 0, sizeof *r->figures);
  r->hot->events = r->hot->backwards = 0;
  r->hot->timed = r->uncompensated != NULL || r->hot->clock != CLOCK_TICKS
                ? 0 : toll_next(0, &r->hot->seed);
  r->hot->epoch = recording_epoch(r->hot->epoch);
  r->hot->history = NULL;
  r->hot->fast = recording_fast(r->hot);
  history_clear(&r->history);
  recording_forget(r);
  functions_clear(&r->functions);
  recording_cleartolls(r);
  line_nowhere(&r->hot->nowhere);
  return tree_reset(&r->tree);
}


void recording_end (Recording *r, const char *why) {
  r->state = STATE_STOPPED;
  r->ended = keep_end(r, why);
  r->hot->L = NULL;
}


int recording_forked (Recording *r) {
  if (r->state == STATE_STOPPED) return 0;
  if (r->hot->recording == NULL) {
    keep_abandon(r);
    recording_end(r, "the process forked");
    return 1;
  }
  if (!keep_lost(r)) return 0;
  recording_end(r, "out of memory");
  return 1;
}


void recording_settle (Recording *r) {
  Hot *h = r->hot;
  uint64_t now = recording_now(h);
  if (r->state == STATE_PAUSED) {
    r->figures->paused += now - r->paused_at;
    r->paused_at = now;
  }
  else
    recording_charge(h, now);
}


Toll *recording_toll (Recording *r, uint32_t func) {
  while (r->tolls.count <= func)
    if (chunks_add(&r->tolls) == NULL) return NULL;
  return cast(Toll *, chunks_at(&r->tolls, func));
}


void recording_cleartolls (Recording *r) {
  uint32_t i;
  memset(r->figures->tolls, 0, sizeof r->figures->tolls);
  for (i = 0; i < r->tolls.count; i++)
    memset(chunks_at(&r->tolls, i), 0, sizeof(Toll));
  chunks_clear(&r->tolls);
}


void recording_forget (Recording *r) {
  memset(r->cache, 0, sizeof *r->cache);
}


uint32_t recording_serial (Recording *r) {
  r->serial = (r->serial + 1) & (UINT32_MAX >> FRAME_SERIAL);
  return r->serial += r->serial == 0;
}


void recording_owntime (Recording *r) {
  Hot *h = r->hot;
  uint64_t now = recording_now(h);
  if (now <= h->last) return;
  r->tree.cprof->self += now - h->last;
  recording_settime(h, now);
}


/* {======================================================
** Coroutines
** ======================================================= */

int recording_alive (Recording *r, lua_State *running, const Stack *s) {
  int alive = s->L == r->main;
  if (alive) return 1;
  lua_rawgetp(running, LUA_REGISTRYINDEX, &THREADS);
  alive = lua_rawgetp(running, -1, s->L) == LUA_TTHREAD;
  lua_pop(running, 2);
  return alive;
}


static int threads_store (lua_State *L) {
  lua_State *thread = lua_tothread(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &THREADS);
  lua_pushvalue(L, 1);
  lua_rawsetp(L, -2, thread);
  return 0;
}


/*
** Where that fails (memory, C stack) the coroutine counts as dead as soon
** as it is left, and what runs in it is found out anew when it returns.
*/
static void threads_add (lua_State *running, lua_State *L) {
  if (L != running && !lua_checkstack(L, 1)) return;
  lua_pushcfunction(running, threads_store);
  lua_pushthread(L);
  if (L != running) lua_xmove(L, running, 1);
  if (lua_pcall(running, 1, 0, 0) != LUA_OK) lua_pop(running, 1);
}


typedef struct Sweep {
  Recording *recording;
  lua_State *running;
} Sweep;


static int recording_waits (const Recording *r, const Stack *s) {
  const Stack *x = r->current;
  while (x != NULL && x != s) x = x->resumer;
  return x != NULL;
}


static void sweep_one (void *ud, Stack *s) {
  Sweep *w = cast(Sweep *, ud);
  if (!recording_waits(w->recording, s) &&
      !recording_alive(w->recording, w->running, s))
    stacks_remove(&w->recording->stacks, s);
}


static void recording_sweep (Recording *r, lua_State *running) {
  Sweep w;
  w.recording = r;
  w.running = running;
  stacks_each(&r->stacks, sweep_one, &w);
  if (r->stacks.sweepat < r->stacks.count * 2)
    r->stacks.sweepat = r->stacks.count * 2;
}


Stack *recording_stack (Recording *r, lua_State *running, lua_State *L) {
  Stack *s = stacks_find(&r->stacks, L);
  if (s != NULL) return s;
  if (r->stacks.count >= r->stacks.sweepat) recording_sweep(r, running);
  threads_add(running, L);
  return stacks_add(&r->stacks, L);
}

/* }====================================================== */

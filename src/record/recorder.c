/*
** See recorder.h
*/

#include "record/recorder.h"

#include "cprof.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>

#include "base/release.h"
#include "identity/collection.h"
#include "record/allocations.h"
#include "record/interval.h"
#include "record/sample.h"


/* addresses: keys in the registry */
static const char RECORDER = 0;
static const char THREADS = 0;	/* weak table: L -> its thread */


volatile int cprof_recording_;


/* {======================================================
** One for each state
** ======================================================= */

static void *recorder_alloc (void *ud, void *p, size_t from, size_t to) {
  (void)ud; (void)from;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}


/* Frees what was recorded. */
static void recorder_free (Recorder *r) {
  Memory memory = r->recording.memory;
  Clock clock = r->recording.clock;
  sample_clear(r);
  stacks_free(&r->stacks);
  frames_free(&r->frames);
  recording_free(&r->recording);
  gap_end(&r->gap);
  if (r->store != NULL) r->store->free(r->store);
  memory_free(&memory, r->cache, sizeof *r->cache);
  memset(&r->stacks, 0, sizeof r->stacks);
  memset(&r->recording, 0, sizeof r->recording);
  r->recording.memory = memory;
  r->recording.clock = clock;
  r->store = NULL;
  r->cache = NULL;
  r->current = r->resumed = NULL;
  r->started = 0;
}


Recorder *recorder_get (lua_State *L) {
  Recorder *r = NULL;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &RECORDER) == LUA_TUSERDATA)
    r = *(Recorder **)lua_touserdata(L, -1);
  lua_pop(L, 1);
  return r;
}


/* The state is closed while it was recorded: completes the store. */
static void recorder_close (Recorder *r, lua_State *L) {
  if (r->store == NULL || !recorder_active(r)) return;
  if (!sample_on(r)) recorder_skip(r);
  recorder_settle(r);
  recorder_setstate(r, STATE_STOPPED);
  r->store->finish(r->store, r, L);
}


/* the __gc of the box */
static int recorder_gc (lua_State *L) {
  Recorder **box = cast(Recorder **, lua_touserdata(L, 1));
  Recorder *r = *box;
  if (r == NULL) return 0;
  recorder_close(r, L);
  allocations_end(r, L);
  *box = NULL;
  recorder_setstate(r, STATE_STOPPED);
  sample_free(r);
  recorder_free(r);
  if (r->hot != NULL) hot_free(r->hot);
  running_end(&r->following);
  free(r->core);
  free(r);
  return 0;
}


static void recorder_newthreads (lua_State *L) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &THREADS);
}


Recorder *recorder_make (lua_State *L) {
  Recorder *r = recorder_get(L), **box;
  if (r != NULL) return r;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &RECORDER) != LUA_TNIL)
    luaL_error(L, "cprof: " RECORDER_CLOSED);
  lua_pop(L, 1);
  recorder_newthreads(L);
  box = cast(Recorder **, lua_newuserdatauv(L, sizeof *box, 0));
  *box = NULL;
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, recorder_gc);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  *box = r = cast(Recorder *, calloc(1, sizeof *r));
  if (r == NULL) luaL_error(L, "cprof: out of memory");
  r->recording.memory.alloc = recorder_alloc;
  clock_open(&r->recording.clock);
  r->hot = hot_new();
  if (r->hot == NULL) luaL_error(L, "cprof: out of memory");
  r->registry = lua_topointer(L, LUA_REGISTRYINDEX);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  r->main = lua_tothread(L, -1);
  lua_pop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &RECORDER);
  return r;
}


void recorder_setalloc (Recorder *r, lua_Alloc alloc, void *ud) {
  recorder_free(r);
  r->recording.memory.alloc = alloc;
  r->recording.memory.ud = ud;
}

/* }====================================================== */


/* {======================================================
** Beginning
** ======================================================= */

void recorder_choose (Recorder *r) {
  Hot *h = r->hot;
  int how = (h->fold ? HOW_FOLD : 0) | (h->lines ? HOW_LINES : 0) |
            (h->frames ? HOW_FRAMES : 0) |
            (h->callsites ? HOW_CALLSITES : 0) |
            (h->counting.on ? HOW_COUNT : 0);
  int fast = how == 0 || how == HOW_FOLD || how == HOW_LINES ||
             how == HOW_FRAMES;
  if (h->direct) how |= HOW_DIRECT;
  h->how = fast && h->clock == CLOCK_TICKS && !h->somelines && !h->trace
         ? how : how | HOW_ANY;
}


int recorder_touch (Recorder *r, Stack *s) {
  const Frame *f;
  if (!r->frames.on || s->frame == r->frames.number) return 1;
  s->frame = r->frames.number;
  for (f = s->base; f <= s->top; f++)
    if (f->node != NULL && !frames_touch(&r->frames, f->node)) return 0;
  return 1;
}


/*
** In Lua 5.4.0 and 5.4.1, a hook that sets a hook makes Lua tell the line
** that runs once more: there, the first instruction of a line that is
** counted is not chosen at random.
*/
static void recorder_setlines (Hot *h, const Options *o) {
  int old = release_number() < 50402;
  h->lines = o->mode == MODE_LINE;
  h->crashes = h->lines && old;
  h->somelines = h->counting.on || h->crashes ||
                 (h->lines && o->include_lines != NULL);
  h->recounts = !old && (h->somelines || o->gc);
}


static void recorder_sethot (Recorder *r, const Options *o) {
  Hot *h = r->hot;
  h->L = NULL;
  h->recorder = r;
  h->frames = NULL;
  h->callsites = o->callsites;
  h->fold = o->foldat == 0;
  h->direct = r->recording.direct;
  h->counting.on = o->mode == MODE_COUNT;
  h->counting.ticks = 0;
  recorder_setlines(h, o);
  h->trace = o->mode == MODE_TRACE;
  h->callee = r->cache->callee;
  h->child = r->cache->child;
  h->tree = &r->recording.tree;
  h->clock = r->recording.clock.kind;
  h->timed = o->timed && h->clock == CLOCK_TICKS;
  h->running = r->store ? r->store->running : &h->unread;
  h->gap = GAP_NEVER;
}


/* where the counters of functions are to be */
static const Pages *recorder_pages (const Store *s, Mode mode) {
  return mode == MODE_COUNT || mode == MODE_SAMPLE ? s->instructions
                                                    : s->lines;
}


static int recorder_functions (Recorder *r, lua_State *L, const Options *o) {
  Functions *fs = &r->recording.functions;
  Policy p = ZEROS;
  p.exclude_c = o->exclude_c;
  p.instructions = o->mode == MODE_COUNT || o->mode == MODE_SAMPLE;
  p.lines = o->mode == MODE_LINE || p.instructions;
  p.memory = o->memory;
  p.limit = o->max_nodes;
  p.internal = r->internal;
  p.internals = r->internals;
  p.include = o->include;
  p.include_lines = o->include_lines;
  if (r->store != NULL) p.pages = recorder_pages(r->store, o->mode);
  if (!functions_init(fs, &r->recording.memory, L, &p)) return 0;
  if (r->nogc) r->nogc_cycle = collection_now(L);  /* marked anew */
  return o->internal == NULL || functions_hide(fs, o->internal);
}


/* The recording is this process's, and in the store. */
static void recorder_setstore (Recorder *r, const Options *o) {
  Recording *x = &r->recording;
  x->figures = r->store ? r->store->figures : &x->own_figures;
  x->pid = platform_process();
  r->generation = platform_generation();
  tree_init(&x->tree, &x->memory);
  waits_init(&x->waits, &x->memory, r->store ? r->store->waits : NULL);
  x->tree.limit = o->max_nodes;
  x->tree.foldat = o->foldat;
  x->tree.fold = o->foldat == 0;
  x->live = o->live;
  x->memory_interval = o->memory && o->mode == MODE_SAMPLE
                     ? o->memory_interval : 0;
  x->tree.memory = o->memory;
  if (r->store != NULL) {
    x->tree.nodes.pages = r->store->nodes;
    x->tree.allocated.pages = r->store->allocated;
    x->tree.kinds.pages = r->store->kinds;
  }
}


static int recorder_beginstore (Recorder *r) {
  Functions *fs = &r->recording.functions;
  fs->policy.told = r->store->told;
  fs->policy.ud = r->store;
  return r->store->begin(r->store, r);
}


static void recorder_startclock (Recorder *r) {
  Clock *c = &r->recording.clock;
  Mode mode = r->recording.mode;
  clock_start(c, r->options.cpu, mode == MODE_TRACE);
  if (mode == MODE_COUNT) clock_count(c, &r->hot->counting.ticks);
}


int recorder_begin (Recorder *r, lua_State *L, const Options *o) {
  Recording *x = &r->recording;
  recorder_free(r);
  r->options = *o;
  r->store = o->store;
  r->frame_func = 0;
  x->mode = o->mode;
  x->direct = o->mode == MODE_SAMPLE ? internals_states() != NULL
                                     : internals_usable();
  if (x->direct) r->shared = internals_state(L);
  recorder_setstore(r, o);
  frames_init(&r->frames, &x->memory, &x->tree, o->history, o->full,
              o->slow);
  r->cache = memory_new(&x->memory, Cache, 1);
  if (r->cache == NULL || !stacks_init(&r->stacks, &x->memory) ||
      !recorder_functions(r, L, o))
    return 0;
  recorder_startclock(r);
  recorder_sethot(r, o);
  interval_begin(r);
  if (!recorder_clear(r)) return 0;
  if (r->store != NULL && !recorder_beginstore(r)) return 0;
  return r->started = 1;
}


/*
** Zones in C live as long as their thread, and remember nodes by address.
** Such an address belongs to one recording at a time, so address and
** moment together tell whether it is valid.
*/
static uint64_t recorder_epoch (uint64_t last) {
  uint64_t now = platform_ticks();
  return now > last ? now : last + 1;
}


static void recorder_schedule (Hot *h) {
  h->scheduled = h->countdown = timing_gap(0, &h->seed);
}


int recorder_clear (Recorder *r) {
  Recording *x = &r->recording;
  Hot *h = r->hot;
  x->started_at = (int64_t)time(NULL);
  timeline_begin(&x->heap, platform_monotonic());
  if (r->store != NULL) r->store->clear(r->store, r);
  memset(x->figures, 0, sizeof *x->figures);
  x->figures->divided = gap_known(&r->gap);
  waits_clear(&x->waits);
  r->exact = 0;
  recorder_schedule(h);
  h->epoch = recorder_epoch(h->epoch);
  r->resuming = NULL;
  h->frames = NULL;
  memset(&h->nowhere, 0, sizeof h->nowhere);
  memset(&h->nowhere_allocated, 0, sizeof h->nowhere_allocated);
  h->nowhere_lines.list = &h->nowhere;
  h->nowhere_lines.count = 1;
  h->counting.ci = NULL;
  if (r->allocations != NULL) {
    r->allocations->node = NULL;
    live_clear(&r->allocations->live);
    heapsample_clear(&r->allocations->sample);
    r->allocations->until = 0;
  }
  recorder_choose(r);
  frames_clear(&r->frames);
  recorder_forget(r);
  functions_clear(&x->functions);
  if (!tree_reset(&x->tree)) return 0;
  if (r->store != NULL) r->store->cleared(r->store);
  return 1;
}


/* Frames note the index of their line, or go to that of the new counters. */
static void move_frames (Recorder *r, int moved) {
  Stack *s = NULL;
  while ((s = stacks_next(&r->stacks, s)) != NULL) {
    Frame *f;
    for (f = s->base + 1; f <= s->top; f++) {
      const Lines *l = f->line.of;
      if (moved) f->line.at = l->list + f->as.moving.line;
      else f->as.moving.line = (uint32_t)(f->line.at - l->list);
    }
  }
}


/* The counters of lines move to the store. */
static int recorder_movelines (Recorder *r) {
  Functions *fs = &r->recording.functions;
  uint32_t i;
  move_frames(r, 0);
  for (i = 0; i < fs->list.count; i++)
    if (!lines_move(&functions_at(fs, i)->lines, r->store->lines, i))
      return 0;
  move_frames(r, 1);
  return 1;
}


static int recorder_moveinstructions (Recorder *r) {
  Functions *fs = &r->recording.functions;
  uint32_t i;
  for (i = 0; i < fs->list.count; i++)
    if (!instructions_move(&functions_at(fs, i)->instructions,
                           r->store->instructions, i))
      return 0;
  return 1;
}


int recorder_move (Recorder *r, Store *to) {
  Recording *x = &r->recording;
  Functions *fs = &x->functions;
  Store *from = r->store;
  uint32_t i;
  int ok;
  r->store = to;
  r->options.store = to;
  r->hot->running = to->running;
  tree_free(&x->tree);
  waits_free(&x->waits);
  recorder_setstore(r, &r->options);
  fs->policy.pages = recorder_pages(to, x->mode);
  ok = fs->policy.instructions ? recorder_moveinstructions(r)
     : !r->hot->lines || recorder_movelines(r);
  from->free(from);
  recorder_startclock(r);
  if (!ok || !recorder_clear(r) || !recorder_beginstore(r)) return 0;
  for (i = 1; i < fs->sources.count; i++)
    if (functions_source(fs, i)->lines > 0 && !to->told(to, i)) return 0;
  return 1;
}


void recorder_forget (Recorder *r) {
  memset(r->cache, 0, sizeof *r->cache);
}


void recorder_forgetkeys (Recorder *r, unsigned keys) {
  Callee *c;
  for (c = r->cache->callee; c < r->cache->callee + CALLEE_SLOTS; c++)
    if (keys & 1u << c->key) memset(c, 0, sizeof *c);
}


void recorder_refresh (Recorder *r) {
  Functions *fs = &r->recording.functions;
  if (fs->stale) recorder_forget(r);
  else if (fs->reloaded)
    recorder_forgetkeys(r, 1u << KEY_CODE | 1u << KEY_CLOSURE);
  fs->stale = fs->reloaded = 0;
}


const Function *recorder_function (Recorder *r, lua_State *running,
                                   lua_State *at, lua_Debug *ar) {
  const Function *f;
  allocations_mute(r);
  f = functions_running(&r->recording.functions, running, at, ar);
  allocations_unmute(r);
  recorder_refresh(r);
  return f;
}


uint32_t recorder_serial (Recorder *r) {
  r->serial = (r->serial + 1) & (UINT32_MAX >> FRAME_SERIAL);
  return r->serial += r->serial == 0;
}

/* }====================================================== */


/* {======================================================
** Ending
** ======================================================= */

/* Can zones be entered? In mode "sample" there are none. */
static int recorder_haszones (const Recorder *r) {
  return r->state == STATE_RUNNING && !sample_on(r);
}


void recorder_setstate (Recorder *r, State state) {
  int had = recorder_haszones(r);
  r->state = state;
  platform_add(&cprof_recording_, recorder_haszones(r) - had);
}


void recorder_end (Recorder *r, const char *why) {
  if (r->store != NULL) why = r->store->end(r->store, why);
  sample_cease(r);
  allocations_cease(r);
  recorder_setstate(r, STATE_STOPPED);
  r->recording.stopped = 1;
  r->recording.events = hot_events(r->hot);
  r->recording.ended = why;
  r->hot->L = NULL;
}


/* What has ended it before, as a trace that failed, stays the reason. */
int recorder_nomemory (Recorder *r) {
  if (r->state != STATE_STOPPED || r->recording.ended == NULL)
    recorder_end(r, "out of memory");
  return 0;
}


int recorder_forked (const Recorder *r) {
  return r->state != STATE_STOPPED &&
         r->generation != platform_generation();
}


int recorder_active (Recorder *r) {
  if (r->state == STATE_STOPPED || recorder_forked(r)) return 0;
  if (r->store != NULL && r->store->lost(r->store))
    recorder_nomemory(r);  /* the store knows a better reason */
  return r->state != STATE_STOPPED;
}


int recorder_running (Recorder *r) {
  return recorder_active(r) && r->state == STATE_RUNNING;
}

/* }====================================================== */


/* {======================================================
** Time
** ======================================================= */

void recorder_paused (Recorder *r, uint64_t now) {
  Figures *f = r->recording.figures;
  if (now >= r->paused_at)
    *(r->own_pause ? &f->begun : &f->paused) += now - r->paused_at;
  else {
    f->backwards++;
    f->backwards_ticks += r->paused_at - now;
  }
  r->paused_at = now;
  hot_settime(r->hot, now);
}


int recorder_adds (const Recorder *r) {
  const Recording *x = &r->recording;
  const Figures *f = x->figures;
  uint64_t sum = f->begun + f->paused + hot_pending(r->hot);
  uint32_t i;
  if (!r->exact) return 1;
  if (x->mode == MODE_SAMPLE) sum += f->sampled + x->tree.overhead->self;
  else
    for (i = 0; i < x->tree.nodes.count; i++)
      sum += tree_node(&x->tree, i)->self;
  return sum == r->hot->last + f->backwards_ticks;
}


int64_t recorder_watch (Recorder *r) {
  int64_t ns = clock_jumped(&r->recording.clock);
  gap_refresh(&r->gap);
  if (ns != 0) {
    r->recording.figures->jumps++;
    r->recording.figures->jumps_ns += (uint64_t)(ns < 0 ? -ns : ns);
    if (ns > 0) r->recording.heap.begun += (uint64_t)ns;
  }
  return ns;
}


void recorder_settle (Recorder *r) {
  Recording *x = &r->recording;
  uint64_t now = hot_now(r->hot);
  x->events = hot_events(r->hot);
  if (r->gap.on) x->figures->divided = gap_known(&r->gap);
  if (r->state == STATE_PAUSED) recorder_paused(r, now);
  else if (sample_on(r)) sample_pass(r);
  else hot_charge(r->hot, now);
  recorder_watch(r);
}


void recorder_skip (Recorder *r) {
  Hot *h = r->hot;
  uint64_t now;
  if (r->state == STATE_STOPPED) return;
  gap_skip(&r->gap);
  now = hot_now(h);
  if (r->state == STATE_PAUSED) {
    r->recording.figures->begun += now - r->paused_at;
    r->paused_at = now;
  }
  else {
    h->top->node->self += hot_pending(h);
    r->recording.figures->begun += now - h->last;
  }
  hot_settime(h, now);
}


/* Charges the time since the last event to a node without lines. */
static void recorder_chargeto (Recorder *r, Node *n) {
  Hot *h = r->hot;
  uint64_t now = hot_owngap(h);
  n->self += now - h->last;
  h->top->node->self += hot_pending(h);
  hot_settime(h, now);
  if (h->frames != NULL && !frames_touch(h->frames, n)) recorder_nomemory(r);
}


void recorder_overhead (Recorder *r) {
  recorder_chargeto(r, r->recording.tree.overhead);
}


void recorder_unrecorded (Recorder *r) {
  Node *n = tree_unrecorded(&r->recording.tree);
  if (n == NULL) recorder_nomemory(r);
  else recorder_chargeto(r, n);
}

/* }====================================================== */


/* {======================================================
** Coroutines
** ======================================================= */

int recorder_alive (const Recorder *r, lua_State *running, const Stack *s) {
  int alive;
  if (s->L == r->main) return 1;
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
** When that fails (memory, C stack), the coroutine counts as dead as soon
** as it is left, and what runs in it is looked up when it returns. A call
** for which Lua's stack must grow may collect garbage.
*/
static void threads_add (lua_State *running, lua_State *L) {
  if (!lua_checkstack(running, 2 + LUA_MINSTACK)) return;
  if (L != running && !lua_checkstack(L, 1)) return;
  lua_pushcfunction(running, threads_store);
  lua_pushthread(L);
  if (L != running) lua_xmove(L, running, 1);
  if (lua_pcall(running, 1, 0, 0) != LUA_OK) lua_pop(running, 1);
}


/* Is 's' the current stack, or one that waits for it? */
static int recorder_waits (const Recorder *r, const Stack *s) {
  const Stack *x = r->current;
  while (x != NULL && x != s) x = x->resumer;
  return x != NULL;
}


static void recorder_sweep (Recorder *r, lua_State *running) {
  Stack *s = NULL;
  while ((s = stacks_next(&r->stacks, s)) != NULL)
    if (!recorder_waits(r, s) && !recorder_alive(r, running, s))
      stacks_remove(&r->stacks, s);
  if (r->stacks.sweepat < r->stacks.live * 2)
    r->stacks.sweepat = r->stacks.live * 2;
}


Stack *recorder_stack (Recorder *r, lua_State *running, lua_State *L) {
  Stack *s = stacks_find(&r->stacks, L);
  if (s != NULL) {
    if (recorder_waits(r, s) || recorder_alive(r, running, s)) return s;
    stacks_remove(&r->stacks, s);  /* that of a dead one at this address */
  }
  allocations_mute(r);
  if (r->stacks.live >= r->stacks.sweepat) recorder_sweep(r, running);
  threads_add(running, L);
  allocations_unmute(r);
  return stacks_add(&r->stacks, L);
}

/* }====================================================== */

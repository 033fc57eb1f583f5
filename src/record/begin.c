/*
** See begin.h
*/

#include "record/begin.h"

#include <string.h>
#include <time.h>

#include "base/release.h"
#include "count/slicing.h"
#include "heap/allocations.h"
#include "identity/collection.h"
#include "record/interval.h"
#include "sample/sample.h"


void begin_free (Recorder *r) {
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
  r->hot->ring = NULL;
  r->current = r->resumed = NULL;
  r->started = 0;
}


void begin_setalloc (Recorder *r, lua_Alloc alloc, void *ud) {
  begin_free(r);
  r->recording.memory.alloc = alloc;
  r->recording.memory.ud = ud;
}


/*
** In Lua 5.4.0 and 5.4.1, if a hook sets a hook, Lua reports the current line
** once more. There, 'recounts' must be 0, so that 'hook_count' sets no hook.
*/
static void begin_lines (Hot *h, const Options *o) {
  int old = release_number() < 50402;
  h->lines = o->mode == MODE_LINE;
  h->crashes = h->lines && old;
  h->somelines = h->counting.on || h->crashes ||
                 (h->lines && o->include_lines != NULL);
  h->recounts = !old && (h->somelines || o->gc);
}


static void begin_hot (Recorder *r, const Options *o) {
  Hot *h = r->hot;
  h->L = NULL;
  h->recorder = r;
  h->recording = &r->recording;
  h->look = &r->gap;
  h->frames = NULL;
  h->callsites = o->callsites;
  h->fold = o->foldat == 0;
  h->direct = r->recording.direct;
  h->counting.on = o->mode == MODE_COUNT;
  h->counting.ticks = 0;
  begin_lines(h, o);
  h->trace = o->mode == MODE_TRACE;
  h->ring = NULL;
  h->callee = r->cache->callee;
  h->child = r->cache->child;
  h->tree = &r->recording.tree;
  h->clock = r->recording.clock.kind;
  h->timed = o->timed && h->clock == CLOCK_TICKS;
  h->running = r->store ? r->store->running : &h->unread;
  h->gap = GAP_NEVER;
  h->slice = HOT_NOSLICES;
}


/* where the store keeps the counters of functions */
static const Pages *begin_pages (const Store *s, Mode mode) {
  return &s->pages[mode == MODE_COUNT || mode == MODE_SAMPLE
                   ? BLOCK_INSTRUCTIONS : BLOCK_LINES];
}


/* To be called once the clock runs. */
static void begin_distribution (Recorder *r, const Options *o) {
  Hot *h = r->hot;
  double rate;
  h->distribution = o->distribution;
  h->suspended = 0;
  memset(&h->away, 0, sizeof h->away);
  h->scale = clock_scale(&r->recording.clock, 0);
  rate = clock_rate(h->scale);
  h->eventcost = (uint64_t)(o->mean_ns / rate * (1 << CALLTIME_SHIFT));
  h->leafcost = (uint64_t)(int64_t)(o->leaf_ns / rate);
  h->budget = o->budget_call > 0 ? (uint64_t)(o->budget_call / rate)
                                 : UINT64_MAX;
}


/* To be called once the figures are clear. */
static void begin_slices (Recorder *r) {
  Mode mode = r->recording.mode;
  Hot *h = r->hot;
  if ((mode != MODE_CALL && mode != MODE_LINE) || h->ring != NULL) return;
  h->slice = slicing_begin(&r->recording, clock_rate(h->scale));
  h->sliced = hot_now(h);
}


static void begin_axis (Recorder *r) {
  if (r->recording.mode == MODE_SAMPLE)
    axis_pace(&r->recording.axis, 1e9 / r->options.rate,
              clock_rate(r->hot->scale), r->options.keep_last,
              r->options.keep_bytes);
}


/* 0: out of memory */
static int begin_ring (Recorder *r, const Options *o) {
  Ring *g = &r->recording.ring;
  if (!CPROF_WHOLE || o->mode != MODE_CALL || o->keep_last <= 0) return 1;
  r->hot->ring = g;
  return ring_begin(g, (uint64_t)(o->keep_last / clock_rate(r->hot->scale)),
                    o->keep_bytes);
}


static int begin_functions (Recorder *r, lua_State *L, const Options *o) {
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
  if (r->store != NULL) p.pages = begin_pages(r->store, o->mode);
  if (!functions_init(fs, &r->recording.memory, L, &p)) return 0;
  if (r->nogc) r->nogc_cycle = collection_now(L);  /* functions_init made a
                                                      new mark */
  return o->internal == NULL || functions_hide(fs, o->internal);
}


/* Sets up the counters, in the store if there is one, for this process. */
static void begin_counters (Recorder *r, const Options *o) {
  Recording *x = &r->recording;
  x->figures = r->store ? r->store->figures : &x->own_figures;
  x->pid = platform_process();
  r->generation = platform_generation();
  recording_counters(x, r->store ? r->store->pages : NULL);
  x->tasks.on = o->tasks;
  x->tree.limit = o->max_nodes;
  x->tree.foldat = o->foldat;
  x->tree.fold = o->foldat == 0;
  x->live = o->live;
  x->memory_interval = o->memory && o->mode == MODE_SAMPLE
                     ? o->memory_interval : 0;
  x->tree.memory = o->memory;
  x->tree.distribution = o->distribution;
}


static int begin_store (Recorder *r) {
  Functions *fs = &r->recording.functions;
  fs->policy.notify = r->store->notify;
  fs->policy.ud = r->store;
  return r->store->begin(r->store, r);
}


static void begin_clock (Recorder *r) {
  Clock *c = &r->recording.clock;
  Mode mode = r->recording.mode;
  clock_start(c, r->options.cpu, mode == MODE_TRACE);
  if (mode == MODE_COUNT) clock_count(c, &r->hot->counting.ticks);
}


int begin_recording (Recorder *r, lua_State *L, const Options *o) {
  Recording *x = &r->recording;
  begin_free(r);
  r->options = *o;
  r->store = o->store;
  r->frame_func = 0;
  x->mode = o->mode;
  x->direct = o->mode == MODE_SAMPLE ? internals_states() != NULL
                                     : internals_usable();
  x->direct = x->direct && recorder_notes(r, L);
  if (x->direct) r->shared = internals_state(L);
  begin_counters(r, o);
  frames_init(&r->frames, &x->tree, &x->loops, o->history, o->full, o->slow);
  r->cache = memory_new(&x->memory, Cache, 1);
  if (r->cache == NULL ||
      !stacks_init(&r->stacks, &x->memory, o->distribution) ||
      !begin_functions(r, L, o))
    return 0;
  begin_clock(r);
  begin_hot(r, o);
  begin_distribution(r, o);
  begin_axis(r);
  if (!begin_ring(r, o)) return 0;
  interval_begin(r);
  if (!begin_clear(r)) return 0;
  if (r->store != NULL && !begin_store(r)) return 0;
  return r->started = 1;
}


/*
** Zones in C outlive recordings, and remember nodes by address. Memory may be
** used again, but never by two recordings at a time. So an address is valid
** if the epoch is still the same.
*/
static uint64_t begin_epoch (uint64_t last) {
  uint64_t now = platform_ticks();
  return now > last ? now : last + 1;
}


static void begin_schedule (Hot *h) {
  h->scheduled = h->countdown = timing_gap(0, &h->seed);
  h->rehearsals = TIMING_REHEARSALS;
}


int begin_clear (Recorder *r) {
  Recording *x = &r->recording;
  Hot *h = r->hot;
  x->started_at = (int64_t)time(NULL);
  timeline_begin(&x->heap, platform_monotonic());
  x->garbage = 0;
  if (r->store != NULL) r->store->clear(r->store, r);
  memset(x->figures, 0, sizeof *x->figures);
  x->figures->divided = gap_known(&r->gap);
  axis_clear(&x->axis);
  ring_clear(&x->ring);
  chunkset_clear(&x->slices.set);
  chunkset_clear(&x->counters);
  begin_slices(r);
  x->loops.marked = 0;
  if (!tasks_begin(&x->tasks)) return 0;
  r->exact = 0;
  r->lates = 0;
  begin_schedule(h);
  h->epoch = begin_epoch(h->epoch);
  r->resuming = r->closing = NULL;
  r->tasked = 0;
  h->frames = NULL;
  memset(&h->nowhere, 0, sizeof h->nowhere);
  memset(&h->nowhere_allocated, 0, sizeof h->nowhere_allocated);
  h->nowhere_lines.list = &h->nowhere;
  h->nowhere_lines.count = 1;
  h->counting.ci = NULL;
  allocations_clear(r);
  recorder_choose(r);
  frames_clear(&r->frames);
  recorder_forget(r);
  functions_clear(&x->functions);
  if (!tree_begin(&x->tree)) return 0;
  if (r->store != NULL) r->store->cleared(r->store);
  return 1;
}


/*
** Before the counters of lines move, each frame saves the index of its line;
** when they have 'moved', it finds its line again by that.
*/
static void begin_moveframes (Recorder *r, int moved) {
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


/* Moves the counters of functions' lines and instructions to the store. */
static int begin_movecounters (Recorder *r) {
  Functions *fs = &r->recording.functions;
  const Pages *p = fs->policy.pages;
  uint32_t i;
  if (r->hot->lines) begin_moveframes(r, 0);
  for (i = 0; i < fs->list.count; i++) {
    Function *f = functions_at(fs, i);
    if (!lines_move(&f->lines, p, i) ||
        !instructions_move(&f->instructions, p, i))
      return 0;
  }
  if (r->hot->lines) begin_moveframes(r, 1);
  return 1;
}


int begin_move (Recorder *r, Store *to) {
  Recording *x = &r->recording;
  Functions *fs = &x->functions;
  Store *from = r->store;
  uint32_t i;
  int ok;
  r->store = to;
  r->options.store = to;
  r->hot->running = to->running;
  recording_freecounters(x);
  begin_counters(r, &r->options);
  fs->policy.pages = begin_pages(to, x->mode);
  ok = begin_movecounters(r);
  from->free(from);
  begin_clock(r);
  begin_axis(r);
  if (!ok || !begin_ring(r, &r->options) || !begin_clear(r) ||
      !begin_store(r))
    return 0;
  for (i = 1; i < fs->sources.count; i++)
    if (functions_source(fs, i)->lines > 0 && !to->notify(to, i)) return 0;
  return 1;
}

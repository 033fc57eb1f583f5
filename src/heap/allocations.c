/*
** See allocations.h
*/

#include "heap/allocations.h"

#include <stdlib.h>
#include <string.h>

#include "follow/instructions.h"
#include "identity/collection.h"


/* Does Lua free some blocks by the allocator that made them? */
#define ALLOCATIONS_STAY	(LUA_VERSION_NUM >= 505)

/* For a new object, Lua passes its type as the old size. */
#define TAGS	16

static const uint8_t allocations_kinds[TAGS] = {
  ALLOC_OTHER, ALLOC_OTHER, ALLOC_OTHER, ALLOC_OTHER, ALLOC_STRING,
  ALLOC_TABLE, ALLOC_CLOSURE, ALLOC_USERDATA, ALLOC_THREAD, ALLOC_OTHER,
  ALLOC_OTHER, ALLOC_OTHER, ALLOC_OTHER, ALLOC_OTHER, ALLOC_OTHER,
  ALLOC_OTHER
};


/*
** Is this request counted? After a fork, or in another thread, the first
** event has to find out what is recorded; until then, the node on top is
** not trusted.
*/
static INLINE int allocations_counted (Allocations *a) {
  if (unlikely(a->hot == NULL || a->muted)) {
    a->called = 1;
    return 0;
  }
  return a->hot->L != NULL && hot_current->recorder != NULL;
}


static AllocKind allocations_kind (const void *p, size_t tag) {
  if (p != NULL || tag >= TAGS) return ALLOC_OTHER;
  return (AllocKind)allocations_kinds[tag];
}


/*
** To be called when a cycle of the collector has ended. If the program called
** 'collectgarbage' for it, this one cycle has looked at all blocks, for which
** it otherwise takes two cycles: see 'live_ageof'.
*/
static COLD void allocations_cycle (Allocations *a) {
  if (!a->counts) return;
  a->live.cycle += a->hot->top->is.flags & FRAME_COLLECTS ? LIVE_AGES - 1 : 1;
}


/*
** Is it the profiler's own mark, see collection.h? Each new mark but the first
** is made when a cycle of the collector has ended.
*/
static INLINE int allocations_ismark (Allocations *a, const void *p,
                                      size_t tag) {
  if (likely(collection_marks == COLLECTION_NONE)) return 0;
  if (allocations_kind(p, tag) != ALLOC_USERDATA)
    return collection_marks == COLLECTION_ALL;
  if (collection_marks == COLLECTION_ALL) allocations_cycle(a);
  else collection_marks = COLLECTION_NONE;
  return 1;
}


/*
** Bytes in use; negative: not known, for Lua does not tell while it collects.
** Some hosts lock a state while it allocates, so lua_gc is called only where
** Lua's own count cannot be read.
*/
static int64_t allocations_inuse (const Allocations *a) {
  lua_State *L = a->hot->recorder->main;
  int kb, rest;
  if (a->debt != NULL) return internals_heap(a->debt);
  kb = lua_gc(L, LUA_GCCOUNT);
  rest = lua_gc(L, LUA_GCCOUNTB);
  return kb < 0 || rest < 0 ? -1 : (int64_t)kb * 1024 + rest;
}


/*
** Adds a point to the timeline of the heap. 'bytes' were granted just now,
** and Lua has not counted them yet.
*/
static COLD void allocations_heap (Allocations *a, size_t bytes) {
  Timeline *t = &a->hot->recorder->recording.heap;
  int64_t inuse = allocations_inuse(a);
  a->until = TIMELINE_BYTES;
  if (inuse >= 0)
    timeline_add(t, platform_monotonic(), (uint64_t)inuse + bytes);
}


static INLINE void allocations_count (Allocations *a, const void *p,
                                      size_t tag, size_t bytes) {
  const Hot *h = a->hot;
  const Node *n = h->top->node;
  AllocKind kind = allocations_kind(p, tag);
  InstructionAllocated *at;
  if (unlikely(a->node != n)) {
    uint32_t id = tree_id(h->tree, n);
    a->node = n;
    a->own = &tree_allocated(h->tree, id)->all;
    a->kinds = tree_kinds(h->tree, tree_place(h->tree, id)->func);
  }
  allocated_add(a->own, 1, bytes);
  allocated_add(&a->kinds->kind[kind], 1, bytes);
  a->until -= (int64_t)bytes;
  if (unlikely(a->until < 0)) allocations_heap(a, bytes);
  if (h->lines) allocated_add(&line_allocated(h->top->line)->all, 1, bytes);
  at = instructions_running(h);
  if (at != NULL) allocated_add(&at->other, 1, bytes);
}


/* {======================================================
** An interval that adapts. It grows when the samples in use are many. It also
** grows when many were taken, but only up to a length at which taking samples
** no longer costs much. In mode sample, where each sample costs an event, that
** length is greater.
** ======================================================= */

#define ADAPT_FIRST	256	/* bytes: the next interval after 1 */
#define ADAPT_BLOCKS	2048	/* most samples in use */
#define ADAPT_TAKEN	1024	/* most samples taken at one interval */
#define ADAPT_MOST	(1u << 17)	/* bytes: the limit of that growth */
#define ADAPT_EVENTS	512	/* ADAPT_TAKEN of mode sample */
#define ADAPT_FARTHEST	(1u << 19)	/* ADAPT_MOST of mode sample */

static COLD void allocations_farther (Allocations *a, Recorder *r,
                                      uint64_t interval) {
  Recording *x = &r->recording;
  interval = interval < ADAPT_FIRST ? ADAPT_FIRST : interval * 2;
  a->taken = 0;
  if (a->live.on) {
    x->live = interval;
    live_thin(&a->live, r, interval);
  }
  if (a->sample.on) {
    x->memory_interval = interval;
    gaps_change(&a->sample.gaps, interval);
  }
  if (r->store != NULL) r->store->changed(r->store, r);
}


/* To be called after each sample. */
static COLD void allocations_adapt (Allocations *a, Recorder *r) {
  int events = a->sample.on;
  const Gaps *g = events ? &a->sample.gaps : &a->live.gaps;
  if (!r->options.adapts || !(events || a->live.on)) return;
  a->taken++;
  if ((a->live.on && a->live.blocks > ADAPT_BLOCKS) ||
      (a->taken > (events ? ADAPT_EVENTS : ADAPT_TAKEN) &&
       g->interval < (events ? ADAPT_FARTHEST : ADAPT_MOST)))
    allocations_farther(a, r, g->interval);
}

/* }====================================================== */


static void allocations_live (Allocations *a, const void *p, size_t old,
                              const void *block, size_t to, int sampled) {
  Recorder *r = a->hot->recorder;
  if (!live_change(&a->live, r, p, old, block, to, sampled))
    recorder_nomemory(r);
}


/*
** Not in mode sample: handles a request that is counted if it is granted, or
** that may free or resize a live block.
*/
static NOINLINE void *allocations_exact (Allocations *a, void *p, size_t from,
                                         size_t to) {
  size_t old = p != NULL ? from : 0;
  void *block = a->alloc(a->ud, p, from, to);
  int counted;
  if (block == NULL && to != 0) return NULL;
  counted = to > old && allocations_counted(a) &&
            !allocations_ismark(a, p, from);
  if (counted) allocations_count(a, p, from, to - old);
  if (a->live.on && a->hot != NULL) {
    int sampled = counted && gaps_take(&a->live.gaps, to - old);
    if (sampled || (p != NULL && live_has(&a->live, p)))
      allocations_live(a, p, old, block, to, sampled);
    if (sampled) allocations_adapt(a, a->hot->recorder);
  }
  return block;
}


/* {======================================================
** Mode sample
** ======================================================= */

static int allocations_sampling (const Allocations *a) {
  return a->hot != NULL && !a->muted && hot_current->recorder != NULL &&
         a->hot->recorder->state == STATE_RUNNING;
}


/* Handles a request that is a sample, or that may concern a live block. */
static COLD void *allocations_sample (Allocations *a, void *p, size_t from,
                                      size_t to, int sampled) {
  size_t old = p != NULL ? from : 0;
  AllocKind kind = allocations_kind(p, from);
  void *block = a->alloc(a->ud, p, from, to);
  int counted = to > old && allocations_sampling(a) &&
                !allocations_ismark(a, p, from);
  Recorder *r;
  if ((block == NULL && to != 0) || a->hot == NULL) return block;
  r = a->hot->recorder;
  sampled = sampled && counted;
  if (sampled)
    heapsample_add(&a->sample, r->recording.figures, kind, to - old);
  if (a->live.on) allocations_live(a, p, old, block, to, sampled);
  if (sampled) {
    allocations_adapt(a, r);
    a->ask(r);
  }
  return block;
}


/* Has a cycle of the collector ended since the last look? */
static void allocations_look (Live *l, lua_State *L) {
  uint64_t mark = collection_now(L);
  if (mark == 0 || mark == l->mark) return;
  if (l->mark != 0) l->cycle++;
  l->mark = mark;
}


void allocations_settle (Recorder *r, lua_State *L, const Node *n,
                         InstructionAllocated *at, int before) {
  Allocations *a = r->allocations;
  if (a->live.on) allocations_look(&a->live, L);
  heapsample_settle(&a->sample, &a->live, r, n, at, before);
  allocations_heap(a, 0);
}

/* }====================================================== */


/* Handles a request for which a step of the collector is due. */
static NOINLINE void *allocations_due (Allocations *a, void *p, size_t from,
                                       size_t to) {
  collector_due(&a->collector, a->hot,
                (int64_t)(to - (p != NULL ? from : 0)));
  if (a->counts) return allocations_exact(a, p, from, to);
  return a->alloc(a->ud, p, from, to);
}


/* The wrapper. All rare cases are tail calls, so it saves no registers. */
static void *allocations_alloc (void *ud, void *p, size_t from, size_t to) {
  Allocations *a = cast(Allocations *, ud);
  size_t old = p != NULL ? from : 0;
  if (a->collector.on && collector_see(&a->collector, a->hot, p, from,
                                       (int64_t)to - (int64_t)old))
    return allocations_due(a, p, from, to);
  if (a->counts && (to > old || a->live.on))
    return allocations_exact(a, p, from, to);
  if (a->sample.on) {
    int sampled = to > old && gaps_take(&a->sample.gaps, to - old);
    if (unlikely(sampled) ||
        (a->live.on && p != NULL && live_has(&a->live, p)))
      return allocations_sample(a, p, from, to, sampled);
  }
  return a->alloc(a->ud, p, from, to);
}


/* Is our allocator the one that L's state calls, not wrapped in turn? */
static int allocations_ontop (const Allocations *a, lua_State *L) {
  void *ud;
  return lua_getallocf(L, &ud) == allocations_alloc && ud == a;
}


/*
** Do the state's requests still reach our allocator, directly or through
** another one? Tries it with a request for one byte.
*/
static COLD int allocations_reached (Allocations *a, lua_State *L) {
  void *ud, *block;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  int counts = a->counts;
  if (allocations_ontop(a, L)) return 1;
  a->counts = 1;
  a->muted++;
  a->called = 0;
  block = alloc(ud, NULL, 0, 1);
  if (block != NULL) alloc(ud, block, 1, 0);
  a->muted--;
  a->counts = counts;
  return a->called;
}


/* Stops counting. May be called at any moment. */
static void allocations_disarm (void *ud) {
  Allocations *a = cast(Allocations *, ud);
  a->counts = 0;
  a->live.on = 0;
  a->sample.on = 0;
}


/* Allocations are from calloc: they may outlive the recording's memory. */
int allocations_begin (Recorder *r, lua_State *L,
                       void (*ask) (Recorder *r)) {
  Allocations *a = r->allocations;
  if (!r->options.memory && !r->options.gc) return 1;
  if (a == NULL || !allocations_reached(a, L)) {
    if (a == NULL || !a->returned)
      a = cast(Allocations *, calloc(1, sizeof *a));
    if (a == NULL) return 0;
    a->alloc = lua_getallocf(L, &a->ud);
    a->returned = 0;
    a->part.disarm = allocations_disarm;
    a->part.ud = a;
    r->allocations = a;
    r->mutes = &a->muted;
    lua_setallocf(L, allocations_alloc, a);
  }
  recorder_addpart(r, &a->part);
  a->hot = r->hot;
  a->debt = internals_usable() ? internals_debt(L) : NULL;
  a->node = NULL;
  a->muted = r->muted;
  a->ask = ask;
  a->taken = 0;
  a->counts = r->options.memory && !recorder_samples(r);
  live_begin(&a->live, &r->recording.memory, r->options.live,
             r->options.adapts, recorder_samples(r));
  if (r->options.memory && recorder_samples(r))
    heapsample_begin(&a->sample, r->options.memory_interval);
  else memset(&a->sample, 0, sizeof a->sample);
  return 1;
}


/* An Allocations that another allocator may still call is never freed. */
void allocations_end (Recorder *r, lua_State *L) {
  Allocations *a = r->allocations;
  if (a == NULL) return;
  collector_end(&a->collector);
  live_end(&a->live);
  allocations_disarm(a);
  recorder_removepart(r, &a->part);
  a->hot = NULL;
  if (!allocations_ontop(a, L)) return;
  lua_setallocf(L, a->alloc, a->ud);
  a->returned = 1;
  if (ALLOCATIONS_STAY) return;
  r->allocations = NULL;
  r->mutes = NULL;
  free(a);
}


void allocations_clear (const Recorder *r) {
  Allocations *a = r->allocations;
  if (a == NULL) return;
  a->node = NULL;
  live_clear(&a->live);
  heapsample_clear(&a->sample);
  a->until = 0;
}


void allocations_last (Recorder *r) {
  const Allocations *a = r->allocations;
  int64_t inuse = a != NULL && a->hot != NULL ? allocations_inuse(a) : -1;
  if (inuse >= 0)
    timeline_end(&r->recording.heap, platform_monotonic(), (uint64_t)inuse);
}


void allocations_finish (Recorder *r) {
  Allocations *a = r->allocations;
  const Timeline *t = &r->recording.heap;
  uint64_t most = 0;
  uint32_t i;
  if (a == NULL || t->count == 0) return;
  for (i = 0; i < t->count; i++)
    if (t->point[i].bytes > most) most = t->point[i].bytes;
  live_finish(&a->live, r, t->point[t->count - 1].bytes, most);
}


void allocations_check (Recorder *r, lua_State *L) {
  Allocations *a = r->allocations;
  if (a != NULL && a->hot != NULL && !allocations_reached(a, L))
    r->recording.allocator_lost = 1;
}

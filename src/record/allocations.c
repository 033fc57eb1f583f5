/*
** See allocations.h
*/

#include "record/allocations.h"

#include <stdlib.h>

#include "identity/collection.h"


/* Lua tells the kind of a new object in the place of its old size. */
#define TAGS	16

static const uint8_t allocations_kinds[TAGS] = {
  ALLOC_OTHER, ALLOC_OTHER, ALLOC_OTHER, ALLOC_OTHER, ALLOC_STRING,
  ALLOC_TABLE, ALLOC_CLOSURE, ALLOC_USERDATA, ALLOC_THREAD, ALLOC_OTHER,
  ALLOC_OTHER, ALLOC_OTHER, ALLOC_OTHER, ALLOC_OTHER, ALLOC_OTHER,
  ALLOC_OTHER
};


static INLINE void allocations_add (Allocated *a, size_t bytes) {
  a->count++;
  a->bytes += bytes;
}


/*
** After a fork, and in another thread, the first event has to find out
** what is recorded there: until then, no node is to be trusted.
*/
static INLINE int allocations_counted (Allocations *a) {
  if (unlikely(a->hot == NULL || a->muted)) {
    a->called = 1;
    return 0;
  }
  return a->hot->L != NULL && hot_current->recorder != NULL;
}


/* Not within the collector, which does not tell it. */
static NOINLINE void allocations_heap (Allocations *a) {
  Timeline *t = &a->hot->recorder->recording.heap;
  uint64_t now = platform_monotonic();
  int kb, rest;
  a->until = TIMELINE_BYTES;
  if (!timeline_due(t, now)) return;
  kb = lua_gc(a->hot->L, LUA_GCCOUNT);
  rest = lua_gc(a->hot->L, LUA_GCCOUNTB);
  if (kb >= 0 && rest >= 0)
    timeline_add(t, now, (uint64_t)kb * 1024 + (uint64_t)rest);
}


static INLINE void allocations_count (Allocations *a, const void *p,
                                      size_t tag, size_t bytes) {
  const Hot *h = a->hot;
  const Node *n = h->top->node;
  unsigned kind = p == NULL && tag < TAGS ? allocations_kinds[tag]
                                          : (unsigned)ALLOC_OTHER;
  if (unlikely(kind == ALLOC_USERDATA && collection_marks > 0)) {
    collection_marks = 0;
    return;
  }
  if (unlikely(a->node != n)) {
    a->node = n;
    a->own = &tree_allocated(h->tree, n->id)->all;
    a->kinds = tree_kinds(h->tree, n->func);
  }
  allocations_add(a->own, bytes);
  allocations_add(&a->kinds->kind[kind], bytes);
  a->until -= (int64_t)bytes;
  if (unlikely(a->until < 0)) allocations_heap(a);
  if (h->lines) allocations_add(&line_allocated(h->top->line)->all, bytes);
}


/* A request that is counted if it is granted, or that frees live blocks. */
static NOINLINE void *allocations_more (Allocations *a, void *p, size_t from,
                                        size_t to) {
  size_t old = p != NULL ? from : 0;
  void *block = a->alloc(a->ud, p, from, to);
  int counted;
  if (block == NULL && to != 0) return NULL;
  counted = to > old && allocations_counted(a);
  if (counted) allocations_count(a, p, from, to - old);
  if (a->live.on && (counted || p != NULL) && a->hot != NULL &&
      !live_change(&a->live, a->hot->recorder, p, old, block, to, counted))
    recorder_nomemory(a->hot->recorder);
  return block;
}


/* A step of the collector is due. */
static NOINLINE void *allocations_due (Allocations *a, void *p, size_t from,
                                       size_t to) {
  collector_due(&a->collector, a->hot,
                (int64_t)(to - (p != NULL ? from : 0)));
  if (a->counts) return allocations_more(a, p, from, to);
  return a->alloc(a->ud, p, from, to);
}


/* What is rare is called last, so that no register is saved. */
static void *allocations_alloc (void *ud, void *p, size_t from, size_t to) {
  Allocations *a = cast(Allocations *, ud);
  size_t old = p != NULL ? from : 0;
  if (a->collector.on && collector_see(&a->collector, a->hot, p, from,
                                       (int64_t)to - (int64_t)old))
    return allocations_due(a, p, from, to);
  if (a->counts && (to > old || a->live.on))
    return allocations_more(a, p, from, to);
  return a->alloc(a->ud, p, from, to);
}


static int allocations_ontop (const Allocations *a, lua_State *L) {
  void *ud;
  return lua_getallocf(L, &ud) == allocations_alloc && ud == a;
}


/* Do requests still come here, maybe through another allocator? */
static int allocations_used (Allocations *a, lua_State *L) {
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


/* It is not memory of the recording, which is freed earlier. */
int allocations_begin (Recorder *r, lua_State *L) {
  Allocations *a = r->allocations;
  if (!r->options.memory && !r->options.gc) return 1;
  if (a == NULL || !allocations_used(a, L)) {
    a = cast(Allocations *, calloc(1, sizeof *a));
    if (a == NULL) return 0;
    a->alloc = lua_getallocf(L, &a->ud);
    r->allocations = a;
    lua_setallocf(L, allocations_alloc, a);
  }
  a->hot = r->hot;
  a->node = NULL;
  a->muted = r->muted;
  a->counts = r->options.memory;
  live_begin(&a->live, &r->recording.memory, r->options.live);
  return 1;
}


/* One that another allocator may still call is never freed. */
void allocations_end (Recorder *r, lua_State *L) {
  Allocations *a = r->allocations;
  if (a == NULL) return;
  collector_end(&a->collector);
  live_end(&a->live);
  a->hot = NULL;
  if (!allocations_ontop(a, L)) return;
  lua_setallocf(L, a->alloc, a->ud);
  r->allocations = NULL;
  free(a);
}


void allocations_check (Recorder *r, lua_State *L) {
  Allocations *a = r->allocations;
  if (a != NULL && a->hot != NULL && !allocations_used(a, L))
    r->recording.allocator_lost = 1;
}

/*
** See allocations.h
*/

#include "record/allocations.h"

#include <stdlib.h>

#include "identity/collection.h"


/* Lua tells the kind of a new object in the place of its old size. */
static AllocKind allocations_kind (size_t tag) {
  switch (tag) {
    case LUA_TTABLE: return ALLOC_TABLE;
    case LUA_TSTRING: return ALLOC_STRING;
    case LUA_TFUNCTION: return ALLOC_CLOSURE;
    case LUA_TUSERDATA: return ALLOC_USERDATA;
    case LUA_TTHREAD: return ALLOC_THREAD;
    default: return ALLOC_OTHER;
  }
}


static INLINE void allocations_add (Allocated *a, size_t bytes) {
  a->count++;
  a->bytes += bytes;
}


/*
** After a fork, and in another thread, the first event has to find out
** what is recorded there: until then, no node is to be trusted.
*/
static INLINE int allocations_counted (Allocations *a) {
  if (a->hot == NULL || a->muted) {
    a->called = 1;
    return 0;
  }
  return a->counts && a->hot->L != NULL && hot_current->recorder != NULL;
}


static void allocations_count (const Allocations *a, const void *p,
                               size_t tag, size_t bytes) {
  const Hot *h = a->hot;
  AllocKind kind = p != NULL ? ALLOC_OTHER : allocations_kind(tag);
  if (kind == ALLOC_USERDATA && collection_marks > 0) {
    collection_marks = 0;
    return;
  }
  allocations_add(tree_allocated(h->tree, h->top->node->id), bytes);
  allocations_add(&tree_kinds(h->tree, h->top->node->func)->kind[kind],
                  bytes);
  if (h->lines) allocations_add(line_allocated(h->top->line), bytes);
}


static void *allocations_alloc (void *ud, void *p, size_t from, size_t to) {
  Allocations *a = cast(Allocations *, ud);
  size_t old = p != NULL ? from : 0;
  void *block;
  if (a->collector.on) collector_look(&a->collector);
  block = a->alloc(a->ud, p, from, to);
  if (to > old && block != NULL && allocations_counted(a))
    allocations_count(a, p, from, to - old);
  if (a->collector.on)
    collector_see(&a->collector, a->hot, p, from, block != NULL || to == 0
                  ? (int64_t)to - (int64_t)old : 0);
  return block;
}


static int allocations_ontop (const Allocations *a, lua_State *L) {
  void *ud;
  return lua_getallocf(L, &ud) == allocations_alloc && ud == a;
}


/* Do requests still come here, maybe through another allocator? */
static int allocations_used (Allocations *a, lua_State *L) {
  void *ud, *block;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  if (allocations_ontop(a, L)) return 1;
  a->muted++;
  a->called = 0;
  block = alloc(ud, NULL, 0, 1);
  if (block != NULL) alloc(ud, block, 1, 0);
  a->muted--;
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
    if (r->allocations != NULL) a->muted = r->allocations->muted;
    r->allocations = a;
    lua_setallocf(L, allocations_alloc, a);
  }
  a->hot = r->hot;
  a->counts = r->options.memory;
  return 1;
}


/* One that another allocator may still call is never freed. */
void allocations_end (Recorder *r, lua_State *L) {
  Allocations *a = r->allocations;
  if (a == NULL) return;
  collector_end(&a->collector);
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

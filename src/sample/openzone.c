/*
** See openzone.h
*/

#include "sample/openzone.h"

#include <string.h>

#include "follow/threads.h"


int openzone_possible (const Recorder *r) {
  return r->zones != NULL && r->recording.direct &&
         internals_states()->zoned != 0;
}


/* Has the call of 'ci' opened a zone? */
static int openzone_ismarked (CallAddress ci) {
  return internals_ismarked(ci, internals_states()->zoned);
}


/* Adds the zone 'f' to its sum, or removes it. */
static void openzone_count (Recorder *r, const Frame *f, int opens) {
  uint32_t slot = index_mix((uintptr_t)f->ci) % OPENZONE_SUMS;
  uint64_t hash = ((uint64_t)(uintptr_t)f->ci ^
                   (uint64_t)f->is.func << 32) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 29;
  hash = opens ? hash : 0 - hash;
  r->zones->sum[slot] = r->zones->sum[slot] + hash;
}


/*
** The function that 'ci' runs, to tell whether a tail call has replaced it;
** NULL: none runs, as it is the base.
*/
static const void *openzone_function (CallAddress ci) {
  return internals_isbase(ci) ? NULL : internals_closure(ci);
}


/* Does 'ci' run the call that has opened this zone? */
static int openzone_is (const Frame *f, CallAddress ci) {
  return f->ci == ci && f->as.function == openzone_function(ci);
}


/* Removes the zone 'f' of 's', and moves those after it. */
static void openzone_remove (Recorder *r, Stack *s, Frame *f) {
  openzone_count(r, f, 0);
  memmove(f, f + 1, (size_t)(s->top - f) * sizeof *f);
  s->top--;
}


/* Closes the zones of calls that had this CallInfo before. */
static void openzone_closeold (Recorder *r, Stack *s, CallAddress ci) {
  int marked = openzone_ismarked(ci);
  Frame *f;
  for (f = s->top; f > s->base; f--)
    if (f->ci == ci && !(marked && openzone_is(f, ci)))
      openzone_remove(r, s, f);
}


int openzone_open (Recorder *r, lua_State *L, CallAddress ci, uint32_t func,
                   uint32_t *serial) {
  Stack *s = threads_stack(r, L, L);
  Frame *f;
  if (s == NULL) return 0;
  openzone_closeold(r, s, ci);
  if (s->top == s->limit && !stack_grow(s, &r->recording.memory)) return 0;
  *serial = recorder_serial(r);
  f = ++s->top;
  memset(f, 0, sizeof *f);
  f->ci = ci;
  f->is.func = func;
  f->is.flags = FRAME_ZONE | *serial << FRAME_SERIAL;
  f->as.function = openzone_function(ci);
  openzone_count(r, f, 1);
  internals_mark(ci, internals_states()->zoned);
  return 1;
}


/* The zones of L; NULL: there were none. */
static const Stack *openzone_stack (const Recorder *r, const lua_State *L) {
  return r->zones != NULL ? stacks_find(&r->stacks, L) : NULL;
}


const Frame *openzone_next (const Recorder *r, const lua_State *L,
                            CallAddress ci, const Frame *f) {
  const Stack *s;
  if (!openzone_ismarked(ci)) return NULL;
  s = openzone_stack(r, L);
  if (s == NULL) return NULL;
  for (f = f == NULL ? s->base + 1 : f + 1; f <= s->top; f++)
    if (openzone_is(f, ci)) return f;
  return NULL;
}


Frame *openzone_last (const Recorder *r, const lua_State *L, CallAddress ci) {
  const Stack *s = openzone_stack(r, L);
  Frame *f;
  if (s == NULL || !openzone_ismarked(ci)) return NULL;
  for (f = s->top; f > s->base; f--)
    if (openzone_is(f, ci)) return f;
  return NULL;
}


Frame *openzone_serial (const Recorder *r, const lua_State *L,
                        uint32_t serial) {
  const Stack *s = openzone_stack(r, L);
  Frame *f = s != NULL ? s->top : NULL;
  if (f == NULL || serial == 0) return NULL;
  while (f > s->base && f->is.flags >> FRAME_SERIAL != serial) f--;
  return f > s->base ? f : NULL;
}


void openzone_close (Recorder *r, const lua_State *L, Frame *f) {
  Stack *s = stacks_find(&r->stacks, L);
  CallAddress ci = internals_running(L);
  Frame *at;
  if (f == NULL) return;
  /* a sample that has found this call does not look at its caller again */
  if (f->ci != ci && (f->ci != internals_caller(ci) ||
                      internals_ismarked(ci, internals_states()->seen)))
    r->zones->by_others++;
  for (at = s->top; at > f; at--)
    if (at->ci == f->ci) openzone_remove(r, s, at);
  openzone_remove(r, s, f);
}

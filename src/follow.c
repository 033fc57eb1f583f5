/*
** See follow.h
*/

#include "follow.h"

#include <string.h>

#include "quiet.h"


static const char *follow_title (Recording *r, lua_State *L,
                                 const Frame *f) {
  const char *title = trace_title(&r->trace, f->is.func);
  const Function *fn;
  size_t length;
  if (title != NULL) return title;
  fn = functions_at(&r->functions, f->is.func);
  if (fn->kind == FUNCTION_ZONE) {
    title = text_get(&r->functions.text, fn->name, &length);
    return trace_settitle(&r->trace, fn->id, title, length);
  }
  if (!lua_checkstack(L, 4)) return NULL;
  title = r->options.title(&r->functions, L, fn);
  if (title == NULL) title = "?";
  title = trace_settitle(&r->trace, fn->id, title, strlen(title));
  lua_pop(L, 1);
  return title;
}


static void follow_write (Recording *r, lua_State *L, TraceEvent *e,
                          const Frame *f) {
  Quiet q = quiet_begin(L);
  int ok;
  e->title = follow_title(r, L, f);
  ok = e->title != NULL && lua_checkstack(L, 8) &&
       trace_write(&r->trace, L, e);
  quiet_end(L, q);
  if (!ok)
    recording_end(r, *r->trace.why ? r->trace.why : "out of memory");
  else recording_owntime(r);
}


/* ns since recording began, without the profiler's own */
static uint64_t follow_now (const Recording *r) {
  return r->hot->last - r->begun - r->figures->paused - r->tree.cprof->self;
}


/* how deep the coroutines below are */
static uint32_t follow_below (const Stack *s) {
  uint32_t depth = 0;
  while ((s = s->resumer) != NULL) depth += s->depth;
  return depth;
}


static int follow_is (const Recording *r) {
  return r->hot->trace && r->state == STATE_RUNNING;
}


void follow_enter (Recording *r, lua_State *L, Frame *f) {
  Stack *s = r->current;
  TraceEvent e;
  if (!follow_is(r)) return;
  f->told.entered = 0;
  s->followed = (uint32_t)(f - s->base);
  if (f->is.flags & FRAME_FOLDED) return;
  e.enters = 1;
  e.depth = follow_below(s) + s->depth;
  e.since = follow_now(r);
  e.took = 0;
  e.coroutine = s->number;
  f->told.entered = e.since + 1;
  s->depth++;
  follow_write(r, L, &e, f);
}


void follow_leave (Recording *r, lua_State *L, const Frame *top) {
  Stack *s = r->current;
  uint32_t height = (uint32_t)(top - s->base);
  if (!follow_is(r)) return;
  for (; s->followed > height; s->followed--) {
    Frame *f = s->base + s->followed;
    TraceEvent e;
    if (f->is.flags & FRAME_FOLDED || f->told.entered == 0) continue;
    e.enters = 0;
    e.coroutine = s->number;
    e.depth = follow_below(s) + --s->depth;
    e.since = follow_now(r);
    e.took = e.since + 1 - f->told.entered;
    follow_write(r, L, &e, f);
    if (!follow_is(r)) return;
  }
}

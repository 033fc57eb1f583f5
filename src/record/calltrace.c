/*
** See calltrace.h
*/

#include "record/calltrace.h"

#include <stdio.h>

#include "heap/allocations.h"
#include "heap/nogc.h"


/* {======================================================
** Callbacks
** ======================================================= */

/* To be called before a callback. Returns 'running' for 'callback_end'. */
static lua_State *callback_begin (Recorder *r, Callback c) {
  lua_State *running = r->hot->L;
  r->callback = c;
  r->hot->L = NULL;
  return running;
}


int callback_end (Recorder *r, lua_State *running) {
  r->callback = CALLBACK_NONE;
  if (!recorder_running(r)) return 0;
  r->hot->L = running;
  return 1;
}


lua_State *callback_filter (Recorder *r, lua_State *L) {
  if (nogc_begin(r, L)) r->hot->deferred = 1;
  return callback_begin(r, CALLBACK_FILTER);
}

/* }====================================================== */


/*
** Calls the trace of the options. If it fails, recording ends. Steps of the
** collector that its garbage makes due run in it, so they do not count as steps
** of the program.
*/
static void calltrace_report (Recorder *r, lua_State *L, const TraceEvent *e) {
  lua_State *running;
  const char *why;
  int recorded;
  if (!lua_checkstack(L, LUA_MINSTACK)) {
    recorder_end(r, "the trace failed: Lua's stack cannot grow");
    return;
  }
  running = callback_begin(r, CALLBACK_TRACE);
  if (r->allocations != NULL) collector_lend(&r->allocations->collector, L);
  why = r->options.trace(L, &r->recording.functions, e);
  recorded = callback_end(r, running);
  if (why != NULL) {
    snprintf(r->why, sizeof r->why, "the trace failed: %s", why);
    lua_pop(L, 1);
  }
  if (!recorded) return;
  if (r->allocations != NULL) collector_retake(&r->allocations->collector, L);
  if (why == NULL) recorder_overhead(r);
  else recorder_end(r, r->why);
}


/* ns since recording began, without overhead */
static uint64_t calltrace_now (const Recorder *r) {
  const Recording *x = &r->recording;
  return r->hot->last - x->figures->begun - x->figures->paused -
         x->tree.overhead->self;
}


/* how many traced frames the resumers have */
static uint32_t calltrace_below (const Stack *s) {
  uint32_t depth = 0;
  while ((s = s->resumer) != NULL) depth += s->depth;
  return depth;
}


/* What happens now to 'func' in the coroutine of 's', whose 'depth' it has. */
static TraceEvent calltrace_event (const Recorder *r, const Stack *s,
                                   uint32_t func, uint32_t depth) {
  TraceEvent e = ZEROS;
  e.func = func;
  e.coroutine = s->number;
  e.depth = calltrace_below(s) + depth;
  e.since = calltrace_now(r);
  return e;
}


static int calltrace_on (const Recorder *r) {
  return r->hot->trace && r->state == STATE_RUNNING;
}


void calltrace_enter (Recorder *r, lua_State *L, Frame *f) {
  Stack *s = r->current;
  TraceEvent e;
  if (!calltrace_on(r)) return;
  f->as.entered = 0;
  s->traced = (uint32_t)(f - s->base);
  if (f->is.flags & FRAME_EXCLUDED) return;
  e = calltrace_event(r, s, f->is.func, s->depth++);
  e.enters = 1;
  f->as.entered = e.since + 1;
  calltrace_report(r, L, &e);
}


/* Reports that the frames of 's' above the lowest 'height' ones were left. */
static void calltrace_unwind (Recorder *r, lua_State *L, Stack *s,
                              uint32_t height) {
  if (!calltrace_on(r)) return;
  for (; s->traced > height; s->traced--) {
    Frame *f = s->base + s->traced;
    TraceEvent e;
    if (f->is.flags & FRAME_EXCLUDED || f->as.entered == 0) continue;
    e = calltrace_event(r, s, f->is.func, --s->depth);
    e.took = e.since + 1 - f->as.entered;
    calltrace_report(r, L, &e);
    if (!calltrace_on(r)) return;
  }
}


void calltrace_step (Recorder *r, lua_State *L, uint32_t func,
                     uint64_t took) {
  const Stack *s = r->current;
  TraceEvent e;
  if (!calltrace_on(r)) return;
  e = calltrace_event(r, s, func, s->depth);
  e.enters = 1;
  e.since -= took;
  calltrace_report(r, L, &e);
  if (!calltrace_on(r)) return;
  e.enters = 0;
  e.since += took;
  e.took = took;
  calltrace_report(r, L, &e);
}


void calltrace_leave (Recorder *r, lua_State *L, const Frame *top) {
  const Stack *s = r->current;
  calltrace_unwind(r, L, r->current, (uint32_t)(top - s->base));
}


void calltrace_end (Recorder *r, lua_State *L, Stack *s) {
  calltrace_unwind(r, L, s, 0);
}

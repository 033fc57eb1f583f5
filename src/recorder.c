/*
** See recorder.h
*/

#include "recorder.h"

#include "adopt.h"
#include "coroutine.h"
#include "hook.h"
#include "keep.h"


/* for those that visit all stacks */
typedef struct Visit {
  Recording *recording;
  lua_State *running;
} Visit;


/* {======================================================
** Beginning in the middle of a program
** ======================================================= */

/*
** The coroutine that 'at' has resumed and waits for: the argument of
** coroutine.resume, or what coroutine.wrap put beside its function.
** NULL where a host did it.
*/
static lua_State *recorder_resumed (const Recording *r, lua_State *at) {
  lua_Debug ar;
  lua_State *co = NULL;
  lua_CFunction f;
  if (!lua_checkstack(at, 2) || !lua_getstack(at, 0, &ar)) return NULL;
  lua_getinfo(at, "f", &ar);
  f = lua_tocfunction(at, -1);
  if (f != NULL && f == r->functions.resume) {
    if (lua_getlocal(at, &ar, 1) != NULL) {
      co = lua_tothread(at, -1);
      lua_pop(at, 1);
    }
  }
  else if (f != NULL && f == r->functions.wrap) {
    if (lua_getupvalue(at, -1, 1) != NULL) {
      co = lua_tothread(at, -1);
      lua_pop(at, 1);
    }
  }
  lua_pop(at, 1);
  return co;
}


static int recorder_visited (const Stack *s, const lua_State *L) {
  while (s != NULL && s->L != L) s = s->resumer;
  return s != NULL;
}


/* coroutines that wait elsewhere are known from before a pause */
static void recorder_attachone (void *ud, Stack *s) {
  Visit *v = cast(Visit *, ud);
  if (recording_alive(v->recording, v->running, s))
    hook_install(v->recording, s);
}


/*
** Finds out who runs now, from the main thread to L, and what runs
** there, and takes the hooks. 0: out of memory.
*/
static int recorder_attach (Recording *r, lua_State *L) {
  lua_State *at = r->main;
  Stack *below = NULL, *s;
  Visit v;
  for (;;) {
    s = recording_stack(r, L, at);
    if (s == NULL) return 0;
    s->resumer = below;
    if (!adopt_sync(r, L, s, 0, below ? below->top : NULL)) return 0;
    if (at == L) break;
    below = s;
    at = recorder_resumed(r, at);
    if (at == NULL || recorder_visited(s, at)) at = L;
  }
  v.recording = r;
  v.running = L;
  stacks_each(&r->stacks, recorder_attachone, &v);
  recording_enter(r->hot);
  adopt_current(r, s);
  recording_settime(r->hot, recording_now(r->hot));
  r->state = STATE_RUNNING;
  return 1;
}

/* }====================================================== */


/* {======================================================
** Leaving
** ======================================================= */

static void recorder_detachone (void *ud, Stack *s) {
  Visit *v = cast(Visit *, ud);
  stack_uncount(s);
  if (!recording_alive(v->recording, v->running, s)) {
    stacks_remove(&v->recording->stacks, s);
    return;
  }
  if (!hook_installed(s->L)) v->recording->figures->lost = 1;
  hook_remove(v->recording, s->L);
  s->stale = 1;
}


/* gives all hooks back */
static void recorder_detach (Recording *r, lua_State *L) {
  Visit v;
  v.recording = r;
  v.running = L;
  r->current->top = r->hot->top;
  r->hot->L = NULL;
  r->current = stacks_find(&r->stacks, r->main);
  stacks_each(&r->stacks, recorder_detachone, &v);
}

/* }====================================================== */


int recorder_start (Recording *r, lua_State *L, const Options *o) {
  if (recording_begin(r, L, o) && recorder_attach(r, L)) {
    r->begun = r->hot->last;
    return 1;
  }
  recording_end(r, r->ended ? r->ended : "out of memory");
  return 0;
}


void recorder_settle (Recording *r, lua_State *L) {
  recording_forked(r);
  if (r->state == STATE_STOPPED) {
    keep_finish(r, L);  /* it may have ended by itself */
    return;
  }
  if (r->state == STATE_RUNNING && !hook_installed(L)) r->figures->lost = 1;
  recording_settle(r);
}


int recorder_stop (Recording *r, lua_State *L) {
  recorder_settle(r, L);
  if (r->state == STATE_STOPPED) return 0;
  if (r->state == STATE_RUNNING) recorder_detach(r, L);
  r->state = STATE_STOPPED;
  trace_close(&r->trace);
  return 1;
}


int recorder_pause (Recording *r, lua_State *L) {
  recorder_settle(r, L);
  if (r->state != STATE_RUNNING) return 0;
  recorder_detach(r, L);
  r->paused_at = r->hot->last;
  r->state = STATE_PAUSED;
  return 1;
}


int recorder_resume (Recording *r, lua_State *L) {
  if (recording_forked(r) || r->state != STATE_PAUSED) return 0;
  if (!recorder_attach(r, L)) {
    recording_end(r, "out of memory");
    return 0;
  }
  r->figures->paused += r->hot->last - r->paused_at;
  return 1;
}


/* {======================================================
** Periods
** ======================================================= */

static int recorder_touch (Recording *r, Stack *s) {
  for (; s != NULL; s = s->resumer)
    if (!recording_touch(r, s)) return 0;
  return history_touch(&r->history, r->tree.cprof);
}


/*
** The rate is the better known the longer the clock runs: it is measured
** at the ends of periods 1, 2, 4, 8 and so on.
*/
static void recorder_rate (Recording *r) {
  uint64_t number = r->history.number;
  double ns;
  if ((number & (number - 1)) != 0) return;
  ns = clock_rate(clock_scale(&r->clock, 0));
  history_rate(&r->history, ns * 1e-9,
               (uint64_t)(r->options.budget * 1e6 / ns));
}


/* the first period ends: its beginning was that of recording */
static int recorder_begin (Recording *r, lua_State *L) {
  Hot *h = r->hot;
  Visit v;
  if (!history_begin(&r->history, 0)) return 0;
  h->history = &r->history;
  h->fast = recording_fast(h);
  v.recording = r;
  v.running = L;
  stacks_each(&r->stacks, recorder_attachone, &v);  /* another hook */
  return 1;
}


/* the time that this took is in a zone of its own */
static int recorder_ownzone (Recording *r, Frame *top) {
  uint64_t now = recording_now(r->hot);
  int truncated;
  Node *n = tree_enter(&r->tree, top->node, r->period_func, 0, &truncated);
  if (n == NULL || !history_touch(&r->history, n)) return 0;
  n->calls++;
  if (now > r->hot->last) n->self += now - r->hot->last;
  recording_settime(r->hot, now);
  return 1;
}


/* the zone, for which no name is to be asked each time */
static int recorder_zone (Recording *r) {
  static const char name[] = "cprof.frame";
  const Function *f;
  if (r->period_func != 0) return 1;
  f = functions_zone(&r->functions, name, sizeof name - 1, sizeof name - 1);
  if (f != NULL) r->period_func = f->id;
  return f != NULL;
}


/* all that the end of a period needs; 0: out of memory */
static int recorder_periods (Recording *r, lua_State *L) {
  if (!recorder_zone(r)) return 0;
  if (!r->history.on && !recorder_begin(r, L)) return 0;
  recorder_rate(r);
  return 1;
}


static int recorder_period (Recording *r, lua_State *L, int record) {
  Hot *h = r->hot;
  r->current->top = h->top;
  return recorder_periods(r, L) &&
         history_end(&r->history, h->last - r->begun - r->figures->paused,
                     record) &&
         recorder_touch(r, r->current) && recorder_ownzone(r, h->top);
}


int recorder_frame (Recording *r, lua_State *L, int record) {
  recorder_settle(r, L);
  if (r->state != STATE_RUNNING) return 0;
  if (coroutine_here(r, L) && recorder_period(r, L, record)) return 1;
  recording_end(r, "out of memory");
  return 0;
}

/* }====================================================== */


/* {======================================================
** Reset
** ======================================================= */

/* its frames stand in nodes that will be gone */
static void recorder_unroot (void *ud, Stack *s) {
  Frame *f;
  (void)ud;
  s->counted = 0;
  for (f = s->base; f <= s->top; f++) {
    if (f->node != NULL) f->told.call_line = f->node->call_line;
    f->node = NULL;
  }
}


static int recorder_reroot (Recording *r, Stack *s) {
  Stack *below = s->resumer;
  Frame *f;
  if (below != NULL && !recorder_reroot(r, below)) return 0;
  if (!adopt_rebase(r, s, below ? below->top : NULL)) return 0;
  if (r->options.fold) stack_count(s);
  if (r->hot->trace) {
    for (f = s->base; f <= s->top; f++) f->told.entered = 0;
    stack_follow(s);
  }
  return 1;
}


int recorder_reset (Recording *r) {
  Hot *h = r->hot;
  if (recording_forked(r) || !r->started) return 0;
  if (r->state == STATE_RUNNING) r->current->top = h->top;
  stacks_each(&r->stacks, recorder_unroot, NULL);
  if (!recording_clear(r) ||
      (r->state == STATE_RUNNING && !recorder_reroot(r, r->current))) {
    recording_end(r, "out of memory");
    return 0;
  }
  recording_settime(h, recording_now(h));
  r->paused_at = r->begun = h->last;
  return 1;
}

/* }====================================================== */

/*
** See sample.h
**
** A tick, in a signal handler, sets a one-shot hook on the coroutine that
** runs. What its first event is tells who ran at the tick: an instruction,
** the function on top, at that instruction or before it; a return, the
** function that returns, so that C functions are seen; a call, the caller.
*/

#include "record/sample.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "record/allocations.h"
#include "record/hook.h"
#include "record/interval.h"
#include "record/lend.h"
#include "record/nogc.h"
#include "record/pace.h"
#include "record/running.h"
#include "record/unwind.h"


typedef struct Sampler {
  Recorder *recorder;
  Running running;
  Pace pace;
  Lender lender;
  Unwinder unwinder;
  volatile sig_atomic_t busy;	/* must no hook be set? */
  Frame frame;		/* for what charges the function on top */
} Sampler;


static void sample_hook (lua_State *L, lua_Debug *ar);
static void sample_chained (lua_State *L, lua_Debug *ar);


static Sampler *sample_of (const Recorder *r) {
  return r != NULL ? cast(Sampler *, r->sampler) : NULL;
}


/* {======================================================
** In the handler
**
** It runs in the thread that runs Lua, so nothing changes meanwhile; but
** it may interrupt any instruction, within Lua, malloc or itself. It calls
**   - lua_sethook, lua_gethook and its like, which Lua allows there;
**   - what running.h says;
**   - clock_gettime and timer_settime, which are system calls;
** and allocates and locks nothing. It reads the Sampler, which is freed
** when its timer is gone for good, and coroutines that run, which are not
** collected.
** ======================================================= */

static uint64_t sample_clock (const Sampler *s) {
  const Clock *c = &s->recorder->recording.clock;
  return c->kind == CLOCK_HOST ? 0 : clock_read(c);
}


static void sample_arm (Sampler *s) {
  lua_State *L = s->unwinder.at != NULL ? running_find(&s->running)
                                    : s->recorder->main;
  if (lend_take(&s->lender, L, pace_stuck(&s->pace))) s->pace.waited = 0;
  else s->pace.waited++;
}


static void sample_tick (void *ud) {
  Sampler *s = cast(Sampler *, ud);
  uint64_t ns = platform_monotonic(), from = sample_clock(s);
  s->pace.ticks += s->pace.stands;
  if (!s->busy) sample_arm(s);
  pace_next(&s->pace);
  s->pace.spent += sample_clock(s) - from;
  s->pace.spent_ns += platform_monotonic() - ns;
}

/* }====================================================== */


/* {======================================================
** Hooks
** ======================================================= */

void sample_hold (Recorder *r, lua_State *L) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  s->busy++;
  if (lend_is(&s->lender, lua_gethook(L))) lend_back(&s->lender, L, NULL);
}


void sample_release (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s != NULL) s->busy--;
}

/* }====================================================== */


/* {======================================================
** Samples
** ======================================================= */

/* 'ticks' of the clock and 'samples' belong to what was found. */
static void sample_charge (Sampler *s, const Unwound *x, int event,
                           uint64_t ticks, uint64_t samples) {
  Hot *h = s->recorder->hot;
  Instruction *at;
  x->node->self += ticks;
  x->node->calls += samples;
  s->frame.node = x->node;
  *h->running = x->node;
  if (x->instructions == NULL) return;
  at = &x->instructions->list[x->at];
  if (event == LUA_HOOKCOUNT && s->unwinder.at != NULL) {
    at->count += samples;
    at->next[0] += ticks;
  }
  else {
    at->next[1] += samples;
    at->next[2] += ticks;
  }
}


/* At an instruction, ticks that have waited saw others, if any. */
static uint64_t sample_count (Sampler *s, const Unwound *x, uint64_t passed) {
  uint64_t count = pace_count(&s->pace, passed);
  return count > 1 && x->instructions != NULL ? 1 : count;
}


/* What runs in L is sampled. 0: out of memory. */
static int sample_record (Sampler *s, lua_State *L, lua_Debug *ar) {
  Recorder *r = s->recorder;
  Hot *h = r->hot;
  const Chunks *functions = &r->recording.functions.list;
  uint32_t met = functions->count;
  uint64_t ns = platform_monotonic(), now = hot_now(h), spent, passed;
  Node *overhead = r->recording.tree.overhead;
  Unwound x;
  int ok;
  spent = pace_take(&s->pace.spent);
  if (unlikely(now < h->last)) hot_backwards(h, now);
  passed = now - h->last;
  if (spent > passed) spent = passed;
  hot_settime(h, now);
  ok = unwind_look(&s->unwinder, L, ar, &x);
  if (ok) {
    sample_charge(s, &x, ar ? ar->event : UNWIND_NOEVENT, passed - spent,
                  sample_count(s, &x, passed));
    overhead->self += spent;
  }
  pace_made(&s->pace);
  ns = platform_monotonic() - ns + pace_take(&s->pace.spent_ns);
  if (functions->count == met) pace_adjust(&s->pace, ns);
  now = hot_now(h);
  if (h->last < now) {
    overhead->self += now - h->last;
    hot_settime(h, now);
  }
  pace_take(&s->pace.spent);  /* was part of that */
  return ok || recorder_nomemory(r);
}


/* What runs in L has allocated what waits. No time is charged. */
static void sample_allocated (Sampler *s, lua_State *L, lua_Debug *ar) {
  uint64_t from = sample_clock(s);
  Unwound x;
  if (!unwind_look(&s->unwinder, L, ar, &x)) recorder_nomemory(s->recorder);
  else
    allocations_settle(s->recorder, &x, ar != NULL && s->unwinder.at != NULL &&
                                        ar->event == LUA_HOOKCOUNT);
  s->pace.spent += sample_clock(s) - from;
}


/* As at a tick, but not in the handler, which must not come between. */
void sample_ask (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s == NULL || s->busy || s->pace.timer < 0) return;
  s->busy++;
  lend_take(&s->lender, s->unwinder.at != NULL ? running_find(&s->running)
                                               : r->main, 0);
  s->busy--;
}


/*
** The same without the program's hook: what Lua calls here would change
** which line it takes for the last one.
*/
static void sample_unseen (Sampler *s, lua_State *L, lua_Debug *ar) {
  lua_Hook f = lua_gethook(L);
  int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  const InternalsState *at = s->unwinder.at;
  int left = f != NULL && at != NULL ? internals_count(L, at) : 0;
  if (f != NULL) lua_sethook(L, NULL, 0, 0);
  if (s->pace.ticks > 0) sample_record(s, L, ar);
  if (allocations_wait(s->recorder)) sample_allocated(s, L, ar);
  if (f == NULL) return;
  lua_sethook(L, f, mask, count);
  if (at != NULL) internals_setcount(L, at, left);
}


/* The program's own hook is last, for it may yield. */
static void sample_event (lua_State *L, lua_Debug *ar) {
  Recorder *r = recorder_get(L);
  Sampler *s = sample_of(r);
  int top = lua_gettop(L);
  lua_Hook own = NULL;
  if (s == NULL) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  s->busy++;
  own = lend_back(&s->lender, L, ar);
  r = hook_recorder(L);
  if (r != NULL && sample_on(r) &&
      (s->pace.ticks > 0 || allocations_wait(r)) &&
      (s->unwinder.at != NULL || L == r->main)) {
    hot_enter(r->hot);
    sample_unseen(s, L, ar);
    nogc_settle(r->hot, L);
  }
  lua_settop(L, top);
  s->busy--;
  if (r != NULL && sample_on(r)) interval_end(r, L);
  if (own != NULL) own(L, ar);
}


static void sample_hook (lua_State *L, lua_Debug *ar) {
  sample_event(L, ar);
}


/* Its own address tells that the program has a hook, too. */
static void sample_chained (lua_State *L, lua_Debug *ar) {
  sample_event(L, ar);
}


int sample_settle (Recorder *r, lua_State *L) {
  Sampler *s = sample_of(r);
  int ok, top = lua_gettop(L);
  s->busy++;
  if (s->unwinder.at != NULL || L == r->main) {
    ok = sample_record(s, L, NULL);
    if (ok && allocations_wait(r)) sample_allocated(s, L, NULL);
  }
  else {
    hot_charge(r->hot, hot_now(r->hot));
    ok = 1;
  }
  lua_settop(L, top);
  s->busy--;
  if (ok && s->pace.timer >= 0 && timer_lost(s->pace.timer)) {
    recorder_end(r, "the program took the signal that samples need");
    ok = 0;
  }
  return ok;
}

/* }====================================================== */


/* {======================================================
** Start and stop
** ======================================================= */

static Sampler *sample_new (Recorder *r) {
  Sampler *s = cast(Sampler *, calloc(1, sizeof *s));
  if (s == NULL) return NULL;
  s->recorder = s->unwinder.recorder = r;
  s->unwinder.running = &s->running;
  s->pace.timer = -1;
  s->lender.alone = sample_hook;
  s->lender.chained = sample_chained;
  running_begin(&s->running, r->main, &r->recording.functions.library);
  r->sampler = s;
  return s;
}


void sample_forget (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  unwind_forget(&s->unwinder);
  memset(&s->frame, 0, sizeof s->frame);
  s->frame.node = r->recording.tree.root;
  r->hot->top = r->hot->limit = &s->frame;
  pace_forget(&s->pace);
}


void sample_cease (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s == NULL || s->pace.timer < 0) return;
  timer_end(s->pace.timer);
  s->pace.timer = -1;
}


int sample_start (Recorder *r, const char **why) {
  Sampler *s = sample_of(r);
  *why = "out of memory";
  if (s == NULL) s = sample_new(r);
  if (s == NULL) return 0;
  sample_cease(r);
  sample_forget(r);
  s->unwinder.at = s->lender.at = r->hot->direct ? s->running.at : NULL;
  pace_begin(&s->pace, r->options.rate, r->options.cpu);
  s->pace.timer = timer_begin(sample_tick, s, r->options.cpu, why);
  if (s->pace.timer < 0) return 0;
  hot_enter(r->hot);
  hot_settime(r->hot, hot_now(r->hot));
  *r->hot->running = s->frame.node;
  r->state = STATE_RUNNING;
  pace_next(&s->pace);
  return 1;
}


void sample_stop (Recorder *r, lua_State *L) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  sample_cease(r);
  *r->hot->running = NULL;
  sample_hold(r, L);
  sample_release(r);
  sample_hold(r, r->main);
  sample_release(r);
}


void sample_clear (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  sample_cease(r);
  unwind_clear(&s->unwinder);
}


void sample_free (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  sample_clear(r);
  r->sampler = NULL;
  running_end(&s->running);
  free(s);
}

/* }====================================================== */

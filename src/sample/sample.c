/*
** See sample.h
**
** A tick, in a signal handler, sets a one-shot hook on the coroutine that
** runs. What its first event is tells who ran at the tick: an instruction,
** the function on top, at that instruction or before it; a return, the
** function that returns, so that C functions are seen; a call, the caller.
*/

#include "sample/sample.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "follow/hookswap.h"
#include "follow/running.h"
#include "heap/allocations.h"
#include "heap/nogc.h"
#include "sample/pace.h"
#include "sample/unwind.h"
#include "sample/watcher.h"


typedef struct Sampler {
  Recorder *recorder;
  Running running;
  Pace pace;
#if PLATFORM_WATCH
  Watcher *watcher;	/* NULL: the timer's ticks come by themselves */
#endif
  volatile uint64_t asked;	/* the stack, see blocked.h, that the sample is to
				   tell the node of; 0: none */
  HookSwap hookswap;
  Unwinder unwinder;
  volatile sig_atomic_t paused;	/* does a tick mean nothing? */
  volatile sig_atomic_t held;	/* no hook is set until 'sample_unblock' */
  volatile sig_atomic_t elsewhere;	/* did a tick find that another thread runs
					   the state? */
  volatile uint32_t ended;	/* system calls that ticks have ended ... */
  uint32_t counted;	/* ... of which the recording has so many */
  int any;		/* was anything sampled yet? */
  Frame frame;		/* for what charges the function on top */
  Part part;
} Sampler;


#define SAMPLE_AWAY	50000u	/* ns without running that are not looked at */

static Sampler *sample_of (const Recorder *r) {
  return r != NULL ? cast(Sampler *, r->sampler) : NULL;
}


/* {======================================================
** In the handler
**
** It runs in the thread that the timer belongs to: the one that runs Lua, so
** that nothing changes meanwhile. Where a host has moved the state without
** a word, the C stack tells. It may interrupt any instruction, within Lua,
** malloc or itself. It calls
**   - lua_sethook, lua_gethook and its like, which Lua allows there;
**   - what running.h says;
**   - clock_gettime and timer_settime, which are system calls;
** and allocates and locks nothing. It reads the Sampler and its Watcher,
** which are freed when the timer is gone for good, and coroutines that run,
** which are not collected.
** ======================================================= */

static uint64_t sample_clock (const Sampler *s) {
  const Clock *c = &s->recorder->recording.clock;
  return c->kind == CLOCK_HOST ? 0 : clock_read(c);
}


static lua_State *sample_running (const Sampler *s) {
  return s->unwinder.at != NULL ? running_find(&s->running)
                                : s->recorder->main;
}


/* What runs is noted, and gets our hook; see 'hookswap_set'. */
static int sample_take (Sampler *s, int again) {
  lua_State *L = sample_running(s);
  running_look(&s->running, L, &s->unwinder.top);
  return hookswap_set(&s->hookswap, L, again);
}


/* Is it a tick that was asked for, or one of a timer that ticks by itself? */
static int sample_asked (Sampler *s, uint64_t *stack) {
  *stack = 0;
#if PLATFORM_WATCH
  if (s->watcher != NULL && blocked_isours(&s->watcher->stacks))
    return watcher_tick(s->watcher, stack);
#else
  (void)s;
#endif
  return 1;
}


/*
** A tick while a sample is made is dropped: that time is overhead. The first
** tick counts also where an allocation has set the hook before it.
*/
static void sample_arm (Sampler *s, uint64_t ns, int waits) {
  int armed;
  uint64_t stack;
  if (!sample_asked(s, &stack) || s->hookswap.busy || s->held) return;
  armed = sample_take(s, pace_stuck(&s->pace));
  if (armed) s->asked = waits ? stack : 0;
  pace_tick(&s->pace, ns, armed || s->pace.weight == 0, waits);
}


static void sample_tick (void *ud, TimerWithin within) {
  Sampler *s = cast(Sampler *, ud);
  uint64_t ns = platform_monotonic(), from = sample_clock(s);
  if (s->paused) return;
  if (running_elsewhere(&s->running)) s->elsewhere = 1;
  if (within == TIMER_ENDS) s->ended++;
  if (s->elsewhere) return;  /* and none comes any more */
  sample_arm(s, ns, within != TIMER_RUNS);
  pace_next(&s->pace, within != TIMER_RUNS);
  s->pace.spent += sample_clock(s) - from;
  s->pace.within += platform_monotonic() - ns;
}


lua_State *sample_current (Recorder *r) {
  Sampler *s = sample_of(r);
  lua_State *L = s != NULL ? sample_running(s) : r->main;
  if (s != NULL && !s->hookswap.busy) hookswap_end(&s->hookswap, L);
  return L;
}


#if PLATFORM_SIGNALS
lua_State *sample_interrupt (Recorder *r, int number) {
  Sampler *s = sample_of(r);
  if (s != NULL && s->hookswap.busy) {
    s->hookswap.later = number;
    return NULL;
  }
  if (s != NULL) s->held = 1;
  return sample_current(r);
}
#endif

/* }====================================================== */


/* {======================================================
** Waits that another thread has seen
** ======================================================= */

#if PLATFORM_WATCH

static void sample_rest (Sampler *s) {
  if (s->watcher != NULL) watcher_rest(s->watcher);
}


/* This thread is watched from now on, or its timer ticks by itself. */
static void sample_watch (Sampler *s) {
  const Options *o = &s->recorder->options;
  s->pace.watched = 0;
  if (!o->cpu && o->watched && s->unwinder.at != NULL)
    watcher_begin(&s->watcher, &s->pace, &s->running);
  if (s->paused) sample_rest(s);
  pace_next(&s->pace, 0);
}


/* Does the watcher of this thread rest, rather than look? Then it looks. */
static int sample_watchagain (Sampler *s) {
  if (s->watcher == NULL || !s->paused || !timer_ishere(s->pace.timer) ||
      !blocked_isours(&s->watcher->stacks) ||
      timer_lost(s->pace.timer))
    return 0;
  watcher_resume(s->watcher);
  return 1;
}


static void sample_unwatch (Sampler *s) {
  if (s->watcher != NULL) watcher_end(s->watcher);
}


static void sample_nowatcher (Sampler *s) {
  if (s->watcher != NULL) watcher_free(s->watcher);
  s->watcher = NULL;
}


/* 0: out of memory */
static int sample_waited (Sampler *s) {
  Wait w = ZEROS;
  BlockedWait seen;
  while (s->watcher != NULL && blocked_take(&s->watcher->stacks, &seen)) {
    w.ticks = seen.ns;
    w.node = seen.node->id;
    seen.node->self += seen.ns;
    seen.node->calls += seen.samples;
    s->any = 1;
    if (s->recorder->gap.on &&
        !waits_add(&s->recorder->recording.waits, &w))
      return 0;
  }
  return 1;
}


/* A tick that was asked for comes now, before what is recorded pauses. */
static void sample_early (Sampler *s) {
  uint64_t stack;
  if (s->watcher != NULL && !s->held && watcher_tick(s->watcher, &stack))
    pace_tick(&s->pace, platform_monotonic(), s->pace.weight == 0, 0);
}


static void sample_learn (Sampler *s, const Unwound *x) {
  uint64_t stack = s->asked;
  s->asked = 0;
  if (stack != 0 && s->watcher != NULL)
    watcher_learn(s->watcher, stack, x->node);
}


static void sample_unlearn (Sampler *s) {
  if (s->watcher != NULL) blocked_forget(&s->watcher->stacks);
}

#else

static void sample_watch (Sampler *s) {
  pace_next(&s->pace, 0);
}

#define sample_rest(s)	((void)(s))
#define sample_watchagain(s)	((void)(s), 0)
#define sample_unwatch(s)	((void)(s))
#define sample_nowatcher(s)	((void)(s))
#define sample_waited(s)	((void)(s), 1)
#define sample_early(s)	((void)(s))
#define sample_learn(s,x)	((void)(s), (void)(x))
#define sample_unlearn(s)	((void)(s))

#endif

/* }====================================================== */


/* {======================================================
** Threads
** ======================================================= */

/* This thread has the timer, and its ticks, from now on. */
static int sample_move (Sampler *s, const char **why) {
  Recorder *r = s->recorder;
  int ok;
  sample_unwatch(s);
  ok = timer_follow(s->pace.timer, why);
  sample_nowatcher(s);
  if (!ok) {
    s->pace.timer = -1;
    return 0;
  }
  hot_enter(r->hot);
  running_enter(&s->running);
  gap_skip(&r->gap);
  sample_watch(s);
  return !s->elsewhere;
}


int sample_follow (Recorder *r) {
  Sampler *s = sample_of(r);
  const char *why = "another thread ran the state without cprof_thread";
  int ok;
  if (s == NULL || s->pace.timer < 0) return 1;
  if (timer_ishere(s->pace.timer)) ok = !s->elsewhere;
  else ok = sample_move(s, &why);
  if (!ok) recorder_end(r, why);
  return ok;
}


void sample_enter (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s != NULL && sample_follow(r)) running_enter(&s->running);
}

/* }====================================================== */


/* {======================================================
** Samples
** ======================================================= */

/* Whoever cuts the file off would end the program if the handler did this. */
static void sample_countended (Sampler *s) {
  uint32_t ended = s->ended;
  s->recorder->recording.figures->interrupted += ended - s->counted;
  s->counted = ended;
}


/* Only C functions wait. 0: out of memory. */
static int sample_wait (Sampler *s, const Unwound *x, uint64_t ns) {
  Wait w = ZEROS;
  w.ticks = ns;
  w.node = x->node->id;
  return ns == 0 || x->instructions != NULL || !s->recorder->gap.on ||
         waits_add(&s->recorder->recording.waits, &w);
}


static void sample_charge (Sampler *s, const Unwound *x, int event,
                           Weight w) {
  Instruction *at;
  x->node->self += w.ns;
  x->node->calls += w.samples;
  s->any = 1;
  s->frame.node = x->node;
  *s->recorder->hot->running = x->node;
  if (x->instructions == NULL) return;
  at = &x->instructions->list[x->at];
  if (event == LUA_HOOKCOUNT && s->unwinder.at != NULL) {
    at->count += w.samples;
    at->next[0] += w.ns;
  }
  else {
    at->next[1] += w.samples;
    at->next[2] += w.ns;
  }
}


/*
** sample_pass, and where the thread was in that time. What others had the
** processor for is nobody's.
*/
static uint64_t sample_divide (Recorder *r, Away *away) {
  Sampler *s = sample_of(r);
  Hot *h = r->hot;
  uint64_t now = hot_now(h), spent = pace_take(&s->pace), passed;
  GapParts parts = ZEROS;
  if (unlikely(now < h->last)) hot_backwards(h, now);
  else if (r->gap.on) hot_divide(h, now, &parts);
  away->waited = (uint64_t)((double)parts.waited * r->gap.rate);
  away->preempted = (uint64_t)((double)parts.preempted * r->gap.rate);
  passed = now - h->last;
  if (spent > passed) spent = passed;
  r->recording.tree.overhead->self += spent;
  passed -= spent;
  r->recording.figures->sampled += passed;
  r->recording.figures->waited += parts.waited < passed ? parts.waited
                                                        : passed;
  sample_countended(s);
  hot_settime(h, now);
  return passed + spent;
}


uint64_t sample_pass (Recorder *r) {
  Away away;
  if (!sample_waited(sample_of(r))) recorder_nomemory(r);
  return sample_divide(r, &away);
}


/* ns that the clock of the ticks has jumped by, which did not pass. */
static uint64_t sample_jumped (Recorder *r) {
  int64_t ns = recorder_watch(r);
  return ns > 0 ? (uint64_t)ns : 0;
}


/*
** What has passed since the last event is overhead, but for what others had
** the processor for, where the sample cost 'ns' of processor time.
*/
static void sample_overhead (Recorder *r, uint64_t ns) {
  Hot *h = r->hot;
  uint64_t now = hot_now(h), passed = now > h->last ? now - h->last : 0, took;
  if (passed == 0) return;
  took = r->gap.on ? (uint64_t)((double)(ns + SAMPLE_AWAY) / r->gap.rate)
                   : passed;
  if (passed > took) {
    hot_preempted(h, passed - took);
    gap_skip(&r->gap);
    passed = took;
  }
  r->recording.tree.overhead->self += passed;
  hot_settime(h, now);
}


/* What runs in L is sampled. 0: out of memory. */
static int sample_record (Sampler *s, lua_State *L, lua_Debug *ar) {
  Recorder *r = s->recorder;
  const Chunks *functions = &r->recording.functions.list;
  uint32_t met = functions->count;
  Away away;
  uint64_t ns = platform_monotonic(), spent;
  uint64_t passed = sample_divide(r, &away);
  uint64_t handler = pace_handler(&s->pace);
  Weight w = pace_weigh(&s->pace, ns - sample_jumped(r), passed, away);
  Unwound x;
  int ok = unwind_look(&s->unwinder, L, ar, &x);
  if (ok) sample_charge(s, &x, ar ? ar->event : UNWIND_NOEVENT, w);
  ok = ok && sample_wait(s, &x, w.wait) && sample_waited(s);
  if (ok) sample_learn(s, &x);
  spent = r->gap.on ? platform_cpu() - r->gap.last.cpu
                    : platform_monotonic() - ns;
  if (functions->count == met)
    pace_adjust(&s->pace, spent + handler, r->gap.on);
  sample_overhead(r, spent);
  pace_take(&s->pace);  /* was part of that */
  return ok || recorder_nomemory(r);
}


/* What runs in L has allocated what waits. No time is charged. */
static void sample_allocated (Sampler *s, lua_State *L, lua_Debug *ar) {
  uint64_t from = sample_clock(s);
  Unwound x;
  if (!unwind_look(&s->unwinder, L, ar, &x)) recorder_nomemory(s->recorder);
  else
    allocations_settle(s->recorder, x.node, x.instructions == NULL ? NULL
                         : instructions_allocated(x.instructions, x.at),
                       ar != NULL && s->unwinder.at != NULL &&
                         ar->event == LUA_HOOKCOUNT);
  s->pace.spent += sample_clock(s) - from;
}


/* As at a tick, but not in the handler, which must not come between. */
void sample_ask (Recorder *r) {
  Sampler *s = sample_of(r);
  uint64_t from;
  if (s == NULL || s->hookswap.busy || s->held || s->paused ||
      s->pace.timer < 0)
    return;
  s->hookswap.busy++;
  from = sample_clock(s);
  sample_take(s, 0);
  s->pace.spent += sample_clock(s) - from;
  hookswap_unblock(&s->hookswap);
}


/*
** Takes what is due without the program's hook: what Lua calls here would
** change which line it takes for the last one.
*/
static void sample_unseen (Sampler *s, lua_State *L, lua_Debug *ar) {
  lua_Hook f = lua_gethook(L);
  int mask = lua_gethookmask(L), count = lua_gethookcount(L);
  const InternalsState *at = s->unwinder.at;
  int left = f != NULL && at != NULL ? internals_count(L, at) : 0;
  if (f != NULL) lua_sethook(L, NULL, 0, 0);
  if (s->pace.weight > 0) sample_record(s, L, ar);
  if (allocations_wait(s->recorder)) sample_allocated(s, L, ar);
  if (f == NULL) return;
  lua_sethook(L, f, mask, count);
  if (at != NULL) internals_setcount(L, at, left);
}


void sample_due (Recorder *r, int recorded, lua_State *L, lua_Debug *ar) {
  Sampler *s = sample_of(r);
  int top = lua_gettop(L);
  if (recorded && (s->pace.weight > 0 || allocations_wait(r)) &&
      (s->unwinder.at != NULL || L == r->main)) {
    hot_enter(r->hot);
    sample_unseen(s, L, ar);
    nogc_settle(r->hot, L);
  }
  s->unwinder.top.L = NULL;
  lua_settop(L, top);
}


#if PLATFORM_SIGNALS
void sample_unblock (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s != NULL) s->held = 0;
}
#endif


int sample_settle (Recorder *r, lua_State *L) {
  Sampler *s = sample_of(r);
  int ok = 1, top = lua_gettop(L), here;
  if (!sample_follow(r)) return 0;
  s->hookswap.busy++;
  here = s->unwinder.at != NULL || L == r->main;
  sample_early(s);
  ok = sample_waited(s);
  if (!ok) recorder_nomemory(r);
  else if (here && (s->pace.weight > 0 || !s->any))
    ok = sample_record(s, L, NULL);
  else sample_pass(r);
  if (ok && here && allocations_wait(r)) sample_allocated(s, L, NULL);
  lua_settop(L, top);
  hookswap_unblock(&s->hookswap);
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

/* No more ticks: recording ends, wherever the program is. */
static void sample_disarm (void *ud) {
  Sampler *s = cast(Sampler *, ud);
  if (s->pace.timer < 0) return;
  sample_unwatch(s);
  timer_end(s->pace.timer);
  s->pace.timer = -1;
  sample_nowatcher(s);
}


static Sampler *sample_new (Recorder *r) {
  Sampler *s = cast(Sampler *, calloc(1, sizeof *s));
  if (s == NULL) return NULL;
  s->recorder = s->unwinder.recorder = r;
  s->unwinder.running = &s->running;
  s->pace.timer = -1;
  s->hookswap.alone = r->hooks->sample;
  s->hookswap.chained = r->hooks->samplechained;
  s->part.disarm = sample_disarm;
  s->part.ud = s;
  recorder_addpart(r, &s->part);
  running_begin(&s->running, r->main, &r->recording.functions.library);
  r->sampler = s;
  r->hookswap = &s->hookswap;
  return s;
}


/* Samples begin, or begin again. */
static void sample_anew (Sampler *s) {
  Recorder *r = s->recorder;
  unwind_forget(&s->unwinder);
  memset(&s->frame, 0, sizeof s->frame);
  s->frame.node = r->recording.tree.root;
  r->hot->top = r->hot->limit = &s->frame;
  pace_forget(&s->pace);
  s->counted = s->ended;
  s->any = 0;
  s->asked = 0;
}


void sample_forget (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  sample_anew(s);
  sample_unlearn(s);
}


/* From now on, this thread's clocks tell where it was. */
static void sample_look (Recorder *r) {
  if (PLATFORM_INTERRUPTED) gap_begin(&r->gap, &r->recording.clock);
  r->gap.noise = SAMPLE_AWAY;
  r->recording.figures->divided = gap_known(&r->gap);
}


/*
** Who reads the file while a C function goes on has a node for its time. It
** is there from the beginning, so that nodes keep their places.
*/
static int sample_makewaiting (Recorder *r) {
  Tree *t = &r->recording.tree;
  return r->store == NULL || t->nodes.count > NODE_WAITING ||
         tree_enter(t, t->root, FUNC_WAITING, 0) != NULL;
}


/* Ticks come from now on, in this thread. 0: they cannot. */
static int sample_begin (Sampler *s, const char **why) {
  const Options *o = &s->recorder->options;
  sample_disarm(s);
  pace_begin(&s->pace, o->rate, o->cpu);
  s->pace.timer = timer_begin(sample_tick, s, o->cpu, why);
  return s->pace.timer >= 0;
}


int sample_start (Recorder *r, const char **why) {
  Sampler *s = sample_of(r);
  int again;
  *why = "out of memory";
  if (s == NULL) s = sample_new(r);
  if (s == NULL || !sample_makewaiting(r)) return 0;
  sample_anew(s);
  running_enter(&s->running);
  s->elsewhere = 0;
  s->hookswap.at = r->hot->direct ? s->running.at : NULL;
  unwind_begin(&s->unwinder, s->hookswap.at);
  again = sample_watchagain(s);
  if (!again && !sample_begin(s, why)) return 0;
  hot_enter(r->hot);
  sample_look(r);
  hot_settime(r->hot, hot_now(r->hot));
  *r->hot->running = s->frame.node;
  recorder_setstate(r, STATE_RUNNING);
  s->paused = 0;
  if (!again) sample_watch(s);
  return 1;
}


void sample_pause (Recorder *r, lua_State *L) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  s->paused = 1;
  sample_rest(s);
  if (!s->pace.watched) sample_disarm(s);
  *r->hot->running = NULL;
  hookswap_block(&s->hookswap, L);
  hookswap_unblock(&s->hookswap);
  hookswap_block(&s->hookswap, r->main);
  hookswap_unblock(&s->hookswap);
}


void sample_stop (Recorder *r, lua_State *L) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  sample_pause(r, L);
  sample_disarm(s);
}


void sample_clear (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  sample_disarm(s);
  unwind_clear(&s->unwinder);
}


void sample_free (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  sample_clear(r);
  recorder_removepart(r, &s->part);
  r->sampler = NULL;
  r->hookswap = NULL;
  running_end(&s->running);
  free(s);
}

/* }====================================================== */

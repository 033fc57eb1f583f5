/*
** See sample.h
**
** A tick, in a signal handler, sets a one-shot hook on the coroutine that runs.
** The hook's first event tells which function ran at the tick. At a count
** event, it is the function on top, at its current instruction or before it; at
** a return, the function that returns: this is how C functions are seen; at a
** call, the caller.
*/

#include "sample/sample.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "follow/hookswap.h"
#include "follow/running.h"
#include "heap/allocations.h"
#include "heap/nogc.h"
#include "sample/openzone.h"
#include "sample/pace.h"
#include "sample/spotter.h"
#include "sample/unwind.h"
#include "sample/watcher.h"


typedef struct Sampler {
  Recorder *recorder;
  Running running;
  Pace pace;
  Watcher *watcher;	/* NULL: the timer's ticks come by themselves */
  volatile uint64_t unknown;	/* hash of the stack whose node the next sample
				   is to tell, see blocked.h; 0: of none */
  HookSwap hookswap;
  OpenZones zones;
  Unwinder unwinder;
  Spotter spotter;
  volatile sig_atomic_t paused;	/* are ticks ignored? */
  volatile sig_atomic_t held;	/* is no hook set until 'sample_unblock'? */
  volatile sig_atomic_t elsewhere;	/* has a tick found that another thread
					   runs the state? */
  volatile uint32_t signals;	/* ticks that came as signals */
  volatile uint32_t ended;	/* system calls that ticks ended, with EINTR */
  uint32_t signals_counted;	/* the part of 'signals' that was counted */
  uint32_t ended_counted;	/* the part of 'ended' that was counted */
  int any;		/* was a sample taken since the last start or
			   reset? */
  Frame frame;		/* has the node of the last sample, for code that
			   charges the frame on top */
  Part part;
} Sampler;


#define SAMPLE_AWAY	50000u	/* ns off the processor that are ignored */

/* The sampler of a recorder; NULL: nothing was sampled yet. */
static Sampler *sample_of (const Recorder *r) {
  return r != NULL ? cast(Sampler *, r->sampler) : NULL;
}


/* {======================================================
** In the handler
**
** The handler runs in the thread that the timer belongs to. That is the thread
** that runs Lua, so nothing changes meanwhile; if a host has moved the state
** without cprof_thread, the C stack in use shows that. The handler may
** interrupt any instruction, within Lua, malloc or the recorder. It calls
**   - lua_sethook, lua_gethook and its like, which Lua allows there, also
**     through hookswap.h;
**   - functions of running.h, pace.h, watcher.h and spotter.h that say that
**     they may be called there, and those of random.h;
**   - timer_at and timer_system, which read the timer's entry;
**   - clock_gettime, getpid, and timer_settime, setitimer or ioctl, which are
**     system calls;
** and allocates and locks nothing. It reads the Sampler and its Watcher,
** which are freed only after the timer has ended, and coroutines that run,
** which are not collected.
**
** Where there are no signals, the tick comes in another thread, while this one
** is suspended. So the processor time that the handler reads is that other
** thread's. This does no harm, as no gaps are known there.
** ======================================================= */

/*
** Reads a clock that tells how long the profiler's own work takes, in ticks of
** the recording's clock. Where the time of others is known, it is excluded from
** the recording anyway, so the clock does not count it. 0: the recording has a
** host's clock, which is not called here.
*/
static uint64_t sample_clock (const Sampler *s) {
  const Recorder *r = s->recorder;
  const Clock *c = &r->recording.clock;
  if (r->gap.on) return (uint64_t)((double)platform_cpu() / r->gap.rate);
  return c->kind == CLOCK_HOST ? 0 : clock_read(c);
}


/* The coroutine that runs; the main thread if coroutines are not known. */
static lua_State *sample_running (const Sampler *s) {
  return s->unwinder.at != NULL ? running_find(&s->running)
                                : s->recorder->main;
}


/*
** Sets our hook in the coroutine that runs, and notes its function on top.
** For 'again' and what it returns, see 'hookswap_set'.
*/
static int sample_hook (Sampler *s, int again) {
  lua_State *L = sample_running(s);
  running_look(&s->running, L, &s->unwinder.top);
  return hookswap_set(&s->hookswap, L, again);
}


/*
** Sets once more the hook that another signal's handler has set: since then,
** Lua may have cleared a running function's flag that there is one ('trap').
*/
static void sample_hookagain (const Sampler *s) {
  lua_State *L = sample_running(s);
  int mask = lua_gethookmask(L);
  if (mask != 0) lua_sethook(L, lua_gethook(L), mask, lua_gethookcount(L));
}


/*
** Sets '*t' to a tick that came at 'ns', with what it stands for. If the timer
** counts the time in which the thread runs, its own ticks find the thread
** running, and are never late. 0: the tick does not count, as the watcher did
** not ask for it, or as samples would come faster than the rate allows.
*/
static int sample_weigh (Sampler *s, uint64_t ns, int waits,
                         WatcherTick *asked, PaceTick *t) {
  Pace *p = &s->pace;
  int own;
  if (!watcher_tick(s->watcher, asked)) return 0;
  own = p->counts && asked->ns == 0;
  t->at = ns;
  t->due = own ? ns : p->due;
  t->ns = asked->ns > 0 ? asked->ns : p->mean;
  t->waits = waits && !own;
  t->seen = asked->seen;
  if (!own || timer_system(p->timer) == 0) return 1;
  t->ns = timer_system(p->timer);
  return !pace_toomany(p, &t->ns);
}


/*
** Requests a sample for a tick at 'ns'. A tick while a sample is made is
** dropped, as that time is overhead. The first tick since a sample counts as
** armed even if an allocation has set the hook before it.
*/
static void sample_arm (Sampler *s, uint64_t ns, int waits) {
  WatcherTick asked;
  PaceTick t;
  int armed;
  if (!sample_weigh(s, ns, waits, &asked, &t) || s->hookswap.busy) return;
  if (s->held) {
    sample_hookagain(s);
    return;
  }
  armed = sample_hook(s, pace_stuck(&s->pace));
  if (armed < 0) return;  /* no hook: the next sample would get its time */
  if (armed) s->unknown = t.waits ? asked.stack : 0;
  t.armed = armed || s->pace.weight == 0;
  pace_tick(&s->pace, &t);
  spotter_tick(&s->spotter, timer_system(s->pace.timer) > 0
                              ? TIMER_SYSTEM : timer_at(s->pace.timer),
               t.ns, t.waits);
}


/* A tick of the timer, see TimerTick. */
static void sample_tick (void *ud, TimerWithin within) {
  Sampler *s = cast(Sampler *, ud);
  uint64_t ns = platform_monotonic(), from = sample_clock(s);
  if (s->paused) return;
  s->signals += PLATFORM_SIGNALS;
  if (running_elsewhere(&s->running)) s->elsewhere = 1;
  if (within == TIMER_ENDS) s->ended++;
  if (s->elsewhere) return;  /* recording ends: no other tick is requested */
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


/* Notes in the recording which timer makes the ticks. */
static void sample_setticker (Sampler *s) {
  const Recorder *r = s->recorder;
  r->recording.figures->ticker = r->options.cpu ? TICKER_CPU
                               : s->pace.counts ? TICKER_TASK
                               : s->pace.watched ? TICKER_THREAD
                                                 : TICKER_WALL;
}


/* {======================================================
** Threads
** ======================================================= */

/*
** Begins to watch this thread, if the options ask for that and it is possible.
** Else asks the timer for the first tick.
*/
static void sample_watch (Sampler *s) {
  const Options *o = &s->recorder->options;
  Pace *p = &s->pace;
  p->watched = p->counts = 0;
  if (!o->cpu && o->watched && s->unwinder.at != NULL) {
    p->counts = o->counted && timer_counts(p->timer, 1);
    watcher_begin(&s->watcher, p, &s->running, &s->zones, o->prompt);
    if (p->counts && !p->watched) p->counts = timer_counts(p->timer, 0);
  }
  if (s->paused) watcher_rest(s->watcher);
  sample_setticker(s);
  pace_next(&s->pace, 0);
}


/* Frees the watcher. To be called when no tick can come any more. */
static void sample_freewatcher (Sampler *s) {
  Watcher *w = s->watcher;
  s->watcher = NULL;
  watcher_free(w);
}


/*
** Moves the timer, and the watcher if there is one, to this thread. 0: this
** thread cannot have the timer, and '*why' says why; or a tick has found that
** another thread runs the state.
*/
static int sample_move (Sampler *s, const char **why) {
  Recorder *r = s->recorder;
  int ok;
  watcher_end(s->watcher);
  ok = timer_follow(s->pace.timer, why);
  sample_freewatcher(s);
  if (!ok) {
    s->pace.timer = -1;
    return 0;
  }
  hot_enter(r->hot);
  running_enter(&s->running);
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

/*
** Adds the ticks that came, and the system calls that they have ended, to the
** recording's figures. These may be in a mapped file, so the handler must not
** do it: if the file was truncated, the write raises SIGBUS, which the handler
** blocks, and a blocked SIGBUS ends the program.
*/
static void sample_countsignals (Sampler *s) {
  Figures *f = s->recorder->recording.figures;
  uint32_t signals = s->signals, ended = s->ended;
  f->signals += signals - s->signals_counted;
  f->interrupted += ended - s->ended_counted;
  s->signals_counted = signals;
  s->ended_counted = ended;
}


/* Adds 'ns' of waiting to a node. 0: out of memory. */
static int sample_wait (const Sampler *s, const Node *n, uint64_t ns) {
  Wait w = ZEROS;
  w.ticks = ns;
  w.node = tree_id(&s->recorder->recording.tree, n);
  return ns == 0 || !s->recorder->gap.on ||
         waits_add(&s->recorder->recording.waits, &w);
}


/* 'sample_unsampled', for the time until 'now'. */
static int sample_missed (const Recorder *r, Axis *a, uint64_t now) {
  const Figures *f = r->recording.figures;
  uint64_t preempted = f->preempted - a->preempted;
  uint64_t paused = f->paused - a->paused - preempted;
  double tick = clock_rate(r->hot->scale);
  AxisSample x = ZEROS;
  x.place = AXIS_NOWHERE;
  x.ns = (double)paused * tick;
  if (x.ns * AXIS_STEPS >= a->mean) {
    a->paused += paused;
    if (!axis_add(a, now, &x)) return 0;
  }
  x.waits = 1;
  x.ns = (double)preempted * tick;
  if (x.ns * AXIS_STEPS < a->mean) return 1;
  a->preempted += preempted;
  a->paused += preempted;
  return axis_add(a, now, &x);
}


/*
** Adds a sample to the time axis, which was taken at 'now': 'w.wait' of its ns
** are waiting, at the end. 'at' as in AxisPlace. 0: out of memory.
*/
static int sample_when (const Sampler *s, uint64_t now, const Node *node,
                        uint32_t at, Weight w) {
  Recorder *r = s->recorder;
  Axis *a = &r->recording.axis;
  uint64_t begun = r->recording.figures->begun;
  uint64_t ran = w.wait < w.ns ? w.ns - w.wait : 0;
  AxisSample x = ZEROS;
  x.place = axis_place(a, tree_id(&r->recording.tree, node), at);
  now = now > begun ? now - begun : 0;
  if (x.place == 0 || !sample_missed(r, a, now)) return 0;
  x.samples = w.samples;
  if (ran > 0 || w.wait == 0) {
    uint64_t back = (uint64_t)((double)w.wait / clock_rate(r->hot->scale));
    x.ns = (double)ran;
    if (!axis_add(a, now > back ? now - back : 0, &x)) return 0;
    x.samples = 0;
  }
  x.ns = (double)w.wait;
  x.waits = 1;
  return w.wait == 0 || axis_add(a, now, &x);
}


/*
** The 'at' of an AxisPlace, for a sample at that event. Where a zone is within
** itself, and recursion folds, the node is of another function than the one
** that runs; then the sample has no instruction.
*/
static uint32_t sample_at (const Sampler *s, const Unwound *x, int event) {
  const Recording *r = &s->recorder->recording;
  if (x->instructions == NULL ||
      recording_owner(r, tree_id(&r->tree, x->node)) != x->func)
    return 0;
  return 2 * x->at + 1 + (event == LUA_HOOKCOUNT && s->unwinder.at != NULL);
}


/*
** Charges 'w' to the node of a sample, and to its instruction if it has one.
** The counters tell samples at a count event, before the instruction runs, from
** those at a call or return, see Instruction.
*/
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
** Charges the waits that the watcher has seen to their nodes, as samples. 0:
** out of memory.
*/
static int sample_waited (Sampler *s) {
  BlockedWait seen = ZEROS;
  while (watcher_take(s->watcher, &seen)) {
    Weight w = ZEROS;
    w.ns = seen.ns;
    w.wait = s->recorder->gap.on ? seen.ns : 0;
    w.samples = seen.samples;
    seen.node->self += seen.ns;
    seen.node->calls += seen.samples;
    s->any = 1;
    if (!sample_wait(s, seen.node, seen.ns) ||
        !sample_when(s, hot_now(s->recorder->hot), seen.node, 0, w))
      return 0;
  }
  return 1;
}


/* Tells the watcher the node that the tick's sample was to find, if any. */
static void sample_learn (Sampler *s, const Unwound *x) {
  uint64_t stack = s->unknown;
  s->unknown = 0;
  if (stack != 0) watcher_learn(s->watcher, stack, x->node);
}


/*
** If the watcher has asked for a tick that has not come yet, counts it as one
** that comes now: the recording may pause or be read before the signal comes.
*/
static void sample_early (Sampler *s) {
  WatcherTick asked;
  PaceTick t = ZEROS;
  if (s->held || !watcher_asks(s->watcher) ||
      !watcher_tick(s->watcher, &asked) || asked.ns == 0)
    return;
  t.at = platform_monotonic();
  t.due = s->pace.due;
  t.ns = asked.ns;
  t.seen = asked.seen;
  t.armed = s->pace.weight == 0;
  pace_tick(&s->pace, &t);
}


/*
** 'sample_pass', but for the watcher's waits. Also sets '*away' to the parts of
** this time in which the thread did not run. The part in which others had the
** processor is charged to nobody.
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
  if (parts.waited > passed) parts.waited = passed;
  /* a handler may have been preempted, but it has not waited */
  if (spent > passed - parts.waited) spent = passed - parts.waited;
  r->recording.tree.overhead->self += spent;
  passed -= spent;
  r->recording.figures->sampled += passed;
  r->recording.figures->waited += parts.waited;
  sample_countsignals(s);
  hot_settime(h, now);
  return passed + spent;
}


uint64_t sample_pass (Recorder *r) {
  Away away;
  if (!sample_waited(sample_of(r))) recorder_nomemory(r);
  return sample_divide(r, &away);
}


int sample_unsampled (Recorder *r) {
  uint64_t begun = r->recording.figures->begun, now = r->hot->last;
  return sample_missed(r, &r->recording.axis, now > begun ? now - begun : 0);
}


/*
** ns by which the clock that ticks use has jumped ahead: they did not pass. 0:
** it has not.
*/
static uint64_t sample_jumped (Recorder *r) {
  int64_t ns = recorder_watch(r);
  return ns > 0 ? (uint64_t)ns : 0;
}


/*
** Charges the time since the last event to overhead, at the end of a sample
** that took 'ns'. Where 'ns' is processor time, others had the processor in any
** time beyond it, which is charged to nobody.
*/
static void sample_overhead (Recorder *r, uint64_t ns) {
  Hot *h = r->hot;
  uint64_t now = hot_now(h), passed = now > h->last ? now - h->last : 0, took;
  if (passed == 0) return;
  took = r->gap.on ? (uint64_t)((double)(ns + SAMPLE_AWAY) / r->gap.rate)
                   : passed;
  if (passed > took) {
    hot_preempted(h, passed - took);
    hot_skipgap(h);
    passed = took;
  }
  r->recording.tree.overhead->self += passed;
  hot_settime(h, now);
}


/*
** Samples what runs in L, at the event 'ar'; NULL: at none. 0: out of memory,
** and recording has ended.
*/
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
  int ok = sample_waited(s) && unwind_look(&s->unwinder, L, ar, &x);
  if (ok) {
    int event = ar ? ar->event : UNWIND_NOEVENT;
    if (!x.c || !r->gap.on) w.wait = 0;  /* only C functions wait */
    sample_charge(s, &x, event, w);
    ok = sample_wait(s, x.node, w.wait) &&
         spotter_charge(&s->spotter, &r->recording, x.func,
                        w.ns > w.wait ? w.ns - w.wait : 0) &&
         sample_when(s, r->hot->last, x.node, sample_at(s, &x, event), w);
  }
  if (ok) sample_learn(s, &x);
  spent = r->gap.on ? platform_cpu() - r->gap.last.cpu
                    : platform_monotonic() - ns;
  if (functions->count == met)
    pace_adjust(&s->pace, spent + handler);
  sample_overhead(r, spent);
  pace_take(&s->pace);  /* drops it: sample_overhead has charged it */
  return ok || recorder_nomemory(r);
}


/* Charges the allocations that wait to what runs in L. Charges no time. */
static void sample_allocated (Sampler *s, lua_State *L, lua_Debug *ar) {
  uint64_t from = sample_clock(s);
  Unwound x;
  if (!unwind_look(&s->unwinder, L, ar, &x)) recorder_nomemory(s->recorder);
  else
    allocations_settle(s->recorder, L, x.node, x.instructions == NULL ? NULL
                         : instructions_allocated(x.instructions, x.at),
                       ar != NULL && s->unwinder.at != NULL &&
                         ar->event == LUA_HOOKCOUNT);
  s->pace.spent += sample_clock(s) - from;
}


/*
** Sets our hook as a tick does, but outside of the handler. 'busy' keeps the
** handler from setting it at the same time.
*/
void sample_ask (Recorder *r) {
  Sampler *s = sample_of(r);
  uint64_t from;
  if (s == NULL || s->hookswap.busy || s->held || s->paused ||
      s->pace.timer < 0)
    return;
  s->hookswap.busy++;
  from = sample_clock(s);
  sample_hook(s, 0);
  s->pace.spent += sample_clock(s) - from;
  hookswap_unblock(&s->hookswap);
}


/*
** Takes the sample that is due, and the allocations that wait, while the
** program's hook is removed. With a hook set, a call that returns here would
** change Lua's note of the last line, by which Lua decides whether the program
** gets a line event.
*/
static void sample_unhooked (Sampler *s, lua_State *L, lua_Debug *ar) {
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
    sample_unhooked(s, L, ar);
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
  else {
    sample_pass(r);
    ok = sample_unsampled(r);
    if (!ok) recorder_nomemory(r);
  }
  if (ok && here && allocations_wait(r)) sample_allocated(s, L, NULL);
  lua_settop(L, top);
  hookswap_unblock(&s->hookswap);
  if (ok && s->pace.timer >= 0 && timer_lost(s->pace.timer)) {
    recorder_end(r, "the program took the signal that samples need");
    ok = 0;
  }
  return ok;
}


void sample_boundary (Recorder *r, lua_State *L) {
  const Sampler *s = sample_of(r);
  if (r->state == STATE_RUNNING && s->pace.weight > 0) sample_settle(r, L);
}

/* }====================================================== */


/* {======================================================
** Start and stop
** ======================================================= */

/*
** Ends the timer and the watcher. Recording may end anywhere in the program, so
** this calls nothing of Lua, see Part.
*/
static void sample_disarm (void *ud) {
  Sampler *s = cast(Sampler *, ud);
  if (s->pace.timer < 0) return;
  watcher_end(s->watcher);
  timer_end(s->pace.timer);
  s->pace.timer = -1;
  sample_freewatcher(s);
}


/* Makes the recorder's sampler. NULL: out of memory. */
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
  r->zones = &s->zones;
  return s;
}


/* Forgets all samples: sampling begins, or begins again. */
static void sample_restart (Sampler *s) {
  Recorder *r = s->recorder;
  unwind_forget(&s->unwinder);
  memset(&s->frame, 0, sizeof s->frame);
  s->frame.node = r->recording.tree.root;
  r->hot->top = r->hot->limit = &s->frame;
  pace_forget(&s->pace);
  spotter_begin(&s->spotter, &r->recording.memory, &r->recording.functions);
  s->signals_counted = s->signals;
  s->ended_counted = s->ended;
  s->any = 0;
  s->unknown = 0;
}


void sample_forget (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  sample_restart(s);
  sample_setticker(s);
  watcher_forget(s->watcher);
}


/* Begins to read this thread's clocks, which tell when it did not run. */
static void sample_look (Recorder *r) {
  if (PLATFORM_INTERRUPTED) gap_begin(&r->gap, &r->recording.clock);
  r->gap.noise = SAMPLE_AWAY;
  hot_keeplook(r->hot);
  r->recording.figures->divided = gap_known(&r->gap);
}


/*
** With a file, makes the node NODE_WAITING: whoever reads the file while a C
** function goes on charges its time there. It is made at the beginning, so
** that it has this id. 0: out of memory.
*/
static int sample_makewaiting (Recorder *r) {
  Tree *t = &r->recording.tree;
  return r->store == NULL || t->nodes.count > NODE_WAITING ||
         tree_enter(t, t->root, FUNC_WAITING, 0) != NULL;
}


/*
** Has the watcher of this thread rested since a pause? Then it can look again;
** else a new timer, and a new watcher, are needed.
*/
static int sample_rests (const Sampler *s) {
  return s->watcher != NULL && s->paused && timer_ishere(s->pace.timer) &&
         !timer_lost(s->pace.timer) && watcher_asks(s->watcher);
}


/*
** Makes the watcher look again. To be called after 'paused' was set to 0: while
** ticks are ignored, the watcher would wait in vain for one that it asks for.
*/
static void sample_watchagain (Sampler *s) {
  watcher_resume(s->watcher);
  sample_setticker(s);
  pace_next(&s->pace, 0);
}


/*
** Makes a timer for this thread, without a tick so far. 0: there can be none,
** and '*why' says why.
*/
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
  sample_restart(s);
  running_enter(&s->running);
  s->elsewhere = 0;
  s->hookswap.at = r->hot->direct ? s->running.at : NULL;
  unwind_begin(&s->unwinder, s->hookswap.at);
  again = sample_rests(s);
  if (!again && !sample_begin(s, why)) return 0;
  hot_enter(r->hot);
  sample_look(r);
  hot_settime(r->hot, hot_now(r->hot));
  *r->hot->running = s->frame.node;
  recorder_setstate(r, STATE_RUNNING);
  s->paused = 0;
  if (again) sample_watchagain(s);
  else sample_watch(s);
  return 1;
}


void sample_pause (Recorder *r, lua_State *L) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  s->paused = 1;
  watcher_rest(s->watcher);
  if (!s->pace.watched) sample_disarm(s);
  else if (s->pace.counts) timer_next(s->pace.timer, 0);
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
  spotter_free(&s->spotter);
}


void sample_free (Recorder *r) {
  Sampler *s = sample_of(r);
  if (s == NULL) return;
  sample_clear(r);
  recorder_removepart(r, &s->part);
  r->sampler = NULL;
  r->hookswap = NULL;
  r->zones = NULL;
  running_end(&s->running);
  free(s);
}

/* }====================================================== */

/*
** See hook.h
**
** 'make bench' measures what an event costs, compared with a hook that only
** reads the clock. Nothing here raises an error. Memory is allocated only
** when a function, a node or a coroutine is new.
*/

#include "record/hook.h"

#include "follow/attach.h"
#include "follow/callee.h"
#include "follow/instructions.h"
#include "follow/resync.h"
#include "follow/shadow.h"
#include "follow/tasktime.h"
#include "heap/allocations.h"
#include "heap/nogc.h"
#include "record/calltrace.h"
#include "record/control.h"
#include "record/coroutine.h"
#include "record/interval.h"
#include "record/samplehook.h"


/* {======================================================
** Frames that ended without an event
** ======================================================= */

/* 'resync_unwind', with the trace. NULL: recording has ended. */
static Frame *hook_unwind (Hot *h, lua_State *L, CallAddress ci, int level,
                           int replaced) {
  Frame *f = resync_unwind(h, L, ci, level, replaced);
  if (f == NULL) recorder_nomemory(h->recorder);
  else if (h->trace) calltrace_leave(h->recorder, L, f);
  return h->L != NULL ? f : NULL;
}


/*
** Called where a fast event function has nothing left to do: runs a deferred
** collection. The slow path does that itself.
*/
static void hook_settle (const Hot *h, lua_State *L) {
  if (!(h->variant & WITH_SLOW)) nogc_settle(h, L);
}


static NOINLINE void hook_popany (Hot *h, lua_State *L, CallAddress ci) {
  const Stack *s = h->recorder->current;
  Frame *f = stack_function(s, h->top, ci);
  if (unlikely(f == s->base)) f = hook_unwind(h, L, ci, 0, 0);
  if (f == NULL || f == h->recorder->current->base) {
    hook_settle(h, L);
    return;
  }
  if (f->is.flags & FRAME_TASKS && !tasktime_returned(h->recorder, L, f)) {
    recorder_nomemory(h->recorder);
    return;
  }
  shadow_unwind(h, f - 1, 1);
  hook_settle(h, L);
}


/*
** The function at 'ci' returns after it has caught an error: drops the frames
** down to its own, if all of them are plain. 0: some are not, and nothing has
** happened.
*/
static INLINE int hook_caught (Hot *h, CallAddress ci) {
  Frame *f = h->top;
  if (h->fold) return 0;
  while (f->ci != ci) {
    if (f->is.flags & ~FRAME_TAIL || f->ci == NULL) return 0;
    f--;
  }
  if (f->is.flags & (FRAME_ZONE | FRAME_TASKS)) return 0;
  shadow_unwind(h, f - 1, 1);
  return 1;
}


/* A function returns whose frame is not on top, or has a zone on it. */
static NOINLINE void hook_return (lua_State *L, lua_Debug *ar) {
  Hot *h = hot_current;
  if (likely(hook_caught(h, ar->i_ci))) return;
  hook_popany(h, L, ar->i_ci);
}

/* }====================================================== */


/* {======================================================
** Calls and returns
** ======================================================= */

/* The coroutine 'co' is about to be resumed. */
static void hook_resume (Recorder *r, lua_State *L, lua_State *co) {
  if (co == NULL) return;
  if (!attach_is(r, co) && !attach_new(r, L, co)) return;
  r->resuming = co;
  r->resuming_at = hot_events(r->hot);
  if (r->resumed == NULL || r->resumed->L != co)
    r->resumed = stacks_find(&r->stacks, co);
}


/* The coroutine that the function of 'ar' resumes, made by coroutine.wrap. */
static lua_State *hook_wrapped (const Hot *h, lua_State *L,
                                const lua_Debug *ar) {
  lua_State *co = NULL;
  if (h->direct) return internals_thread(ar->i_ci);
  if (lua_getupvalue(L, -1, 1) != NULL) {  /* see 'callee_which' */
    co = lua_tothread(L, -1);
    lua_pop(L, 1);
  }
  return co;
}


/* Does what the flags of the frame on top ask for, after its call event. */
static NOINLINE void hook_doflags (Hot *h, lua_State *L,
                                   const lua_Debug *ar) {
  Recorder *r = h->recorder;
  Frame *f = h->top;
  /* nodes have this counter only where recursion does not fold */
  if (f->is.flags & FRAME_TAIL && !(f->is.flags & FRAME_EXCLUDED) &&
      !h->fold && f->node->as.full.tails < UINT32_MAX)
    f->node->as.full.tails++;
  if (f->is.flags & FRAME_COLLECTS)
    allocations_release(r, L);
  else if (f->is.flags & FRAME_RESUMES)
    hook_resume(r, L, f->is.flags & FRAME_WRAPS ? hook_wrapped(h, L, ar)
                                                : lua_tothread(L, 1));
  else if (f->is.flags & FRAME_TASKS) tasktime_called(r, L);
}


static NOINLINE uint32_t hook_askline (lua_State *L, const Frame *f) {
  lua_Debug caller;
  caller.i_ci = (struct CallInfo *)f->ci;
  return resync_line(L, &caller);
}


/* The line of a call from 'f', where call sites have nodes of their own. */
static INLINE uint32_t hook_callline (lua_State *L, const Frame *f,
                                      int variant) {
  uint32_t line = variant & WITH_LINES ? line_number(f->line) : 0;
  if (line == 0 && variant & WITH_CALLSITES && f->ci != NULL)
    line = hook_askline(L, f);
  return line;
}


static NOINLINE CallAddress hook_askcaller (lua_State *L) {
  lua_Debug caller;
  return lua_getstack(L, 1, &caller) ? caller.i_ci : NULL;
}


/* The caller of the function of 'ar'; NULL: Lua knows of none. */
static INLINE CallAddress hook_caller (lua_State *L, const lua_Debug *ar,
                                       const Frame *f, int variant) {
  if (variant & WITH_DIRECT) {
    CallAddress ci = internals_caller(ar->i_ci);
    if (likely(ci == f->ci)) return ci;
  }
  return hook_askcaller(L);
}


/* A function is called, or takes its caller's place (a tail call). */
static INLINE void hook_call (Hot *h, lua_State *L, lua_Debug *ar,
                              int variant) {
  Frame *f = h->top;
  CallAddress ci = hook_caller(L, ar, f, variant);
  const LineAt *entry = NULL;
  const Callee *c;
  Node *n;
  FrameIs is;
  uint32_t tail = 0;
  if (unlikely(f->ci != ci)) {
    int replaces = ar->event == LUA_HOOKTAILCALL;
    f = hook_unwind(h, L, ci, 1, replaces);
    if (f == NULL) return;
    if (replaces) tail = FRAME_TAIL;
  }
  n = f->node;
  c = variant & WITH_DIRECT ? callee_direct(h, L, ar)
                            : callee_which(h, L, ar, n);
  if (unlikely(c == NULL)) return;
  is = c->is;
  if (likely(!(is.flags & FRAME_EXCLUDED))) {
    uint32_t line = hook_callline(L, f, variant);
    n = callee_node(h, L, ar, n, is.func, line);
    if (unlikely(n == NULL)) return;
    n->calls++;
    *h->running = n;
    if (variant & WITH_FOLD) node_activate(n);
    if (variant & WITH_FRAMES && unlikely(!frames_touch(h->frames, n))) {
      recorder_nomemory(h->recorder);
      return;
    }
    entry = &c->entry;
  }
  else
    hot_ended(h, RING_OTHER);
  if (unlikely(f == h->limit)) {
    if (!shadow_room(h)) {
      recorder_nomemory(h->recorder);
      return;
    }
    f = h->top;
  }
  f++;
  f->ci = ar->i_ci;
  f->node = n;
  is.flags |= tail;
  f->is = is;
  if (variant & WITH_LINES) f->line = entry != NULL ? *entry : f[-1].line;
  if (variant & WITH_COUNT) f->as.at = 0;
  if (variant & WITH_DISTRIBUTION) calltime_enter(h, h->limit, f);
  h->top = f;
  if (unlikely(is.flags & ~FRAME_EXCLUDED)) hook_doflags(h, L, ar);
}


/*
** The fast path of a call: its callee and node are in the caches. 0: they are
** not, or there is more to do, and nothing has happened. 'flagged': it is the
** call of a C function whose frame may have flags, which the caller of
** 'hook_repeat' gives to 'hook_doflags'.
*/
static INLINE int hook_repeat (Hot *h, const lua_Debug *ar, int variant,
                               int flagged) {
  Frame *f = h->top;
  CallAddress ci = ar->i_ci;
  const Callee *c;
  uint64_t key;  /* flags as the line: only a frame without them matches */
  Node *n;
  if (unlikely(internals_caller(ci) != f->ci || f == h->limit)) return 0;
  f[1].ci = ci;
  c = callee_known(h, ci);
  if (unlikely(c == NULL)) return 0;
  if (flagged) {
    if (c->is.flags & FRAME_EXCLUDED) return 0;
  }
  else if (!internals_islua(ci) && unlikely(c->is.flags != 0)) return 0;
  f[1].is = c->is;
  key = node_key(c->is.func, flagged ? 0 : c->is.flags);
  if (variant & WITH_LINES) {
    if (!flagged && unlikely(c->is.flags != 0)) return 0;
    key = node_key(c->is.func, line_number(f->line));
    f[1].line = c->entry;
  }
  if (variant & WITH_COUNT) f[1].as.at = 0;
  if (variant & WITH_DISTRIBUTION) calltime_enter(h, h->limit, f + 1);
  n = callee_quick(h, f->node, key);
  if (unlikely(n == NULL)) return 0;
  f[1].node = n;
  h->top = f + 1;
  n->calls++;
  *h->running = n;
  return 1;
}


/* Is 'f' the frame of the function at 'ci', or the base below all functions? */
static INLINE int hook_isunder (const Frame *f, CallAddress ci) {
  return f->ci == ci || (f->ci == NULL && internals_isbase(ci));
}


/*
** 'hook_repeat' for a tail call: the function on top is replaced, and both it
** and the new one are plain.
*/
static INLINE int hook_replace (Hot *h, const lua_Debug *ar, int variant) {
  Frame *f = h->top;
  CallAddress ci = ar->i_ci;
  uint32_t line = 0;
  const Callee *c;
  Node *n;
  if (f->ci != ci || f->is.flags & ~FRAME_TAIL ||
      !hook_isunder(&f[-1], internals_caller(ci)))
    return 0;
  c = callee_known(h, ci);
  if (c == NULL || c->is.flags != 0) return 0;
  if (variant & WITH_LINES) line = line_number(f[-1].line);
  n = callee_quick(h, f[-1].node, node_key(c->is.func, line));
  if (n == NULL || n->as.full.tails == UINT32_MAX) return 0;
  if (variant & WITH_DISTRIBUTION) {
    calltime_return(h);
    calltime_enter(h, h->limit, f);
  }
  if (variant & WITH_LINES) f->line = c->entry;
  if (variant & WITH_COUNT) f->as.at = 0;
  f->node = n;
  f->is.func = c->is.func;
  f->is.flags = FRAME_TAIL;
  n->calls++;
  n->as.full.tails++;
  *h->running = n;
  return 1;
}


/* Any call, in any variant. */
static NOINLINE void hook_anycall (Hot *h, lua_State *L, lua_Debug *ar) {
  hook_call(h, L, ar, h->variant);
}


/* A call that 'hook_doflags' has to see, or that is in no cache. */
static NOINLINE void hook_othercall (lua_State *L, lua_Debug *ar) {
  Hot *h = hot_current;
  if (ar->event == LUA_HOOKCALL && !internals_islua(ar->i_ci) &&
      hook_repeat(h, ar, h->variant, 1))
    hook_doflags(h, L, ar);
  else
    hook_anycall(h, L, ar);
  hook_settle(h, L);
}


/* The function on top returns. */
static INLINE void hook_pop (Hot *h, lua_State *L, lua_Debug *ar, int variant) {
  Frame *f = h->top;
  if (likely(f->ci == ar->i_ci &&
             !(f->is.flags & (FRAME_ZONE | FRAME_TASKS)))) {
    if (variant & WITH_DISTRIBUTION) calltime_return(h);
    if (variant & WITH_FOLD) stack_deactivate(f - 1, f);
    h->top = f - 1;
    *h->running = f[-1].node;
  }
  else
    hook_return(L, ar);
}

/* }====================================================== */


/* {======================================================
** Lines
** ======================================================= */

/*
** Where only lines of some sources are counted, line events are turned on as
** soon as a function of such a source runs. They are not turned off until a
** line event comes from another function, as many functions return before.
*/
static NOINLINE void hook_setlines (Hot *h, Stack *s) {
  s->top = h->top;
  if (s->lines ? attach_blind(h, s) : attach_wantslines(h, s))
    attach_lines(h->recorder, s, !s->lines);
}


static INLINE void hook_somelines (Hot *h) {
  Stack *s = h->recorder->current;
  if (unlikely(!s->lines || h->crashes)) hook_setlines(h, s);
}


static void hook_findline (Hot *h, lua_State *L, lua_Debug *ar) {
  Frame *f = hook_unwind(h, L, ar->i_ci, 0, 0);
  Line *line;
  if (f == NULL) return;
  line = f->is.flags & FRAME_EXCLUDED ? NULL
                                      : lines_go(f->line.of, ar->currentline);
  if (line != NULL) {
    line->hits++;
    f->line.at = line;
  }
  else if (h->somelines) {
    Stack *s = h->recorder->current;
    s->top = f;
    if (!attach_wantslines(h, s)) attach_lines(h->recorder, s, 0);
  }
}


/* A line event that does not fit the function on top. */
static NOINLINE void hook_otherline (lua_State *L, lua_Debug *ar) {
  Hot *h = hot_current;
  hook_findline(h, L, ar);
  hook_settle(h, L);
}


static INLINE void hook_line (lua_State *L, lua_Debug *ar, Hot *h) {
  Frame *f = h->top;
  Line *line = lines_go(f->line.of, ar->currentline);
  if (likely(f->ci == ar->i_ci && line != NULL &&
             !(f->is.flags & FRAME_EXCLUDED))) {
    line->hits++;
    f->line.at = line;
  }
  else
    hook_otherline(L, ar);
}


/* In mode line: counts every COUNT_INTERVAL-th instruction for its line. */
static NOINLINE void hook_count (lua_State *L, lua_Debug *ar) {
  const Hot *h = hot_current;
  const Frame *f = h->top;
  Line *line;
  if (f->ci != ar->i_ci || f->is.flags & FRAME_EXCLUDED) return;
  lua_getinfo(L, "l", ar);
  line = lines_go(f->line.of, ar->currentline);
  if (line != NULL && line->counts < UINT32_MAX) line->counts++;
  if (h->recounts && lua_gethookcount(L) != COUNT_INTERVAL)
    lua_sethook(L, lua_gethook(L), lua_gethookmask(L), COUNT_INTERVAL);
}


static void hook_findinstruction (Hot *h, lua_State *L, lua_Debug *ar) {
  Stack *s = h->recorder->current;
  Frame *f;
  hot_charge(h, hot_now(h));
  if (h->top->ci != ar->i_ci && hook_unwind(h, L, ar->i_ci, 0, 0) == NULL)
    return;
  *h->running = h->top->node;
  s->top = h->top;
  f = instructions_frame(s);
  if (instructions_enter(h, f, ar->i_ci)) instructions_add(h, ar->i_ci);
  else if (s->lines && !attach_wantslines(h, s))
    attach_lines(h->recorder, s, 0);
}


/* In mode count: an instruction that does not fit the function on top. */
static NOINLINE void hook_otherinstruction (lua_State *L, lua_Debug *ar) {
  Hot *h = hot_current;
  hook_findinstruction(h, L, ar);
  nogc_settle(h, L);
}


/* In mode count: an instruction of another function than the last one. */
static NOINLINE void hook_instruction (lua_State *L, lua_Debug *ar) {
  Hot *h = hot_current;
  Frame *f = h->top;
  if (likely(f->ci == ar->i_ci && instructions_enter(h, f, ar->i_ci)))
    instructions_add(h, ar->i_ci);
  else
    hook_otherinstruction(L, ar);
}

/* }====================================================== */


/* {======================================================
** Any event, in any way of recording
** ======================================================= */

static void hook_anyevent (lua_State *L, lua_Debug *ar, Hot *h) {
  if (ar->event == LUA_HOOKLINE) {
    hook_line(L, ar, h);
    return;
  }
  if (ar->event == LUA_HOOKRET) hook_pop(h, L, ar, h->variant);
  else hook_anycall(h, L, ar);
  if (h->trace && h->L != NULL) {
    if (ar->event == LUA_HOOKRET) calltrace_leave(h->recorder, L, h->top);
    else calltrace_enter(h->recorder, L, h->top);
  }
  if (h->somelines && h->L != NULL) hook_somelines(h);
}

/* }====================================================== */


/* {======================================================
** Timed events
** ======================================================= */

/* functions of coroutines, whose calls and returns have costs of their own */
#define FRAME_SPECIAL	(FRAME_RESUMES | FRAME_WRAPS | FRAME_TASKS)

/*
** The kind of an event, whose frame on top before it had the flags 'before'.
** EVENT_KINDS: its kind is not timed.
*/
static EventKind hook_kind (const Hot *h, int event, uint32_t before) {
  const Functions *fs = &h->recorder->recording.functions;
  if (event == LUA_HOOKRET)
    return before & FRAME_SPECIAL ? EVENT_KINDS : EVENT_RETURN;
  if (event == LUA_HOOKLINE) return EVENT_LINE;
  if (h->top->is.flags & (FRAME_EXCLUDED | FRAME_TASKS)) return EVENT_KINDS;
  if (h->top->is.flags & FRAME_RESUMES) return EVENT_RESUME;
  return functions_at(fs, h->top->is.func)->kind == FUNCTION_C
       ? EVENT_C : EVENT_LUA;
}


/*
** The kind of an event that has switched from the stack 'from' to another one.
** A coroutine's first and last switch are not timed: their costs are unlike
** those of the others.
*/
static EventKind hook_switchkind (const Hot *h, int event, const Stack *from) {
  const Stack *to = h->recorder->current;
  if (event != LUA_HOOKRET || to == from) return EVENT_KINDS;
  if (to->resumer == from) return EVENT_ENTER;
  return from->top > from->base ? EVENT_LEAVE : EVENT_KINDS;
}


/*
** Chooses the next event to be timed. Also looks for a jump of the clock, and
** for the end of an interval or of a slice.
*/
static void hook_schedule (Hot *h, lua_State *L) {
  recorder_watch(h->recorder);
  h->countdown = timing_gap(h->scheduled, &h->seed);
  h->scheduled += h->countdown;
  h->rehearsals = TIMING_REHEARSALS;
  interval_check(h, L);
  if (h->last - h->sliced >= h->slice) hot_slice(h);
}


/* Not inlined, so that the rehearsal is of the code that is timed. */
static NOINLINE uint64_t hook_dowork (uint64_t seed) {
  return timing_work(seed);
}


/*
** Times a fixed piece of work, after a rehearsal of that, and two readings of
** the clock: one as events are timed, and one that waits for earlier
** instructions, as is done around the work. A reading that took longer than the
** work was interrupted. Sets '*reading' to the time of the first one. Returns
** the current time.
*/
static uint64_t hook_work (Hot *h, uint64_t *reading) {
  Timing *t = &h->recorder->recording.figures->timing[EVENT_WORK];
  uint64_t before, begun, ended, waiting;
  uint64_t rehearsed = hook_dowork(h->seed);
  before = platform_ticksafter();
  *reading = platform_ticks() - before;
  before = platform_ticksafter();
  begun = platform_ticksafter();
  h->worked = hook_dowork(rehearsed);
  ended = platform_ticksafter();
  waiting = begun - before;
  if (waiting > ended - begun) waiting = UINT64_MAX;
  if (*reading > ended - begun) *reading = UINT64_MAX;
  timing_add(t, ended - begun, waiting);
  return ended;
}


/* What was to be done at this event is done at the next one. */
static void hook_postpone (Hot *h) {
  h->countdown = 1;
  h->scheduled++;
}


/* Prepares a timed event, or a rehearsal. Is the event to be timed? */
static NOINLINE int hook_prepare (Hot *h, lua_State *L) {
  int rehearsal = h->rehearsals > 0;
  if (rehearsal) {
    h->rehearsals--;
    hook_postpone(h);
  }
  else hook_schedule(h, L);
  return !rehearsal && h->timed;
}


/*
** Notes the time of an event at 'now'. The extra time that all this takes,
** compared with other events, is overhead.
*/
static void hook_notetiming (Hot *h, EventKind kind, uint64_t now,
                             uint64_t begun, uint64_t ended) {
  Recording *x = &h->recorder->recording;
  uint64_t worked, reading, extra;
  if (kind == EVENT_KINDS) return;
  worked = hook_work(h, &reading);
  if (worked - now > h->gap) return;  /* too long: the next event finds a gap */
  timing_add(&x->figures->timing[kind], ended - begun, reading);
  extra = begun - now + worked - ended;
  x->tree.overhead->self += extra;
  h->last += extra;
  h->since += extra;
  if (hot_ring(h) != NULL) hot_keep(h, x->tree.overhead, RING_OTHER, extra);
}


/*
** Is the time of the event at 'now' charged already? It made a function or a
** node, or ran a finalizer.
*/
static int hook_ischarged (const Hot *h, uint64_t now) {
  return h->L == NULL || h->last > now;
}


/* 'hook_notetiming'; for 'before', see 'hook_kind'. */
static NOINLINE void hook_timing (Hot *h, int event, uint32_t before,
                                  uint64_t now, uint64_t begun,
                                  uint64_t ended) {
  if (hook_ischarged(h, now)) return;
  hook_notetiming(h, hook_kind(h, event, before), now, begun, ended);
}


/*
** Notes the time of an event at 'now' that has switched from the stack 'from'
** to another one, or rehearses that. Most of this time, the event waits for
** the coroutine's data, which may be in no cache. 'platform_ticksafter' reads
** the clock after that wait.
*/
static NOINLINE void hook_timedswitch (Hot *h, lua_State *L, int event,
                                       const Stack *from, uint64_t now) {
  uint64_t ended = platform_ticksafter();
  if (h->L == NULL) hook_postpone(h);
  else if (hook_prepare(h, L) && !hook_ischarged(h, now))
    hook_notetiming(h, hook_switchkind(h, event, from), now, now, ended);
}


/*
** Takes an event at 'now' that is timed, or is a rehearsal: the clock is read
** at its end, too. Like the reading at the beginning of each event, these two
** readings do not wait for earlier instructions: an event takes longer if the
** processor has to empty its pipeline first. There is only one copy of the
** event's code, so that the rehearsal is of the code that is timed.
*/
static INLINE void hook_timedevent (Hot *h, lua_State *L, lua_Debug *ar,
                                    uint64_t now,
                                    void (*take) (lua_State *L, lua_Debug *ar,
                                                  Hot *h)) {
  int event = ar->event, timed = hook_prepare(h, L);
  uint32_t before = h->top->is.flags;
  uint64_t begun = platform_ticks();
  take(L, ar, h);
  if (timed) hook_timing(h, event, before, now, begun, platform_ticks());
}

/* }====================================================== */


/* {======================================================
** Events that are not what the fast functions expect
** ======================================================= */

/*
** Our hook is set in L, but recording has ended or is paused: L was not known
** at that time. Puts the program's hook back, and calls it for this event,
** unless it is what called ours. Within a callback, does nothing: recording
** goes on after it.
*/
static void hook_leftover (Recorder *r, lua_State *L, lua_Debug *ar) {
  lua_Hook f = lua_gethook(L);
  int event = ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int called = f != NULL && !hooks_is(hook_functions(), f);
  if (r != NULL && r->callback) return;
  if (r != NULL && r->state == STATE_STOPPED) {
    allocations_release(r, L);
    allocations_end(r, L);
  }
  if (r != NULL) attach_release(r, L);
  f = lua_gethook(L);
  if (hooks_is(hook_functions(), f)) lua_sethook(L, NULL, 0, 0);
  else if (!called && f != NULL && lua_gethookmask(L) & (1 << event))
    f(L, ar);
}


/* The recorder of L's state, if it records; else 'hook_leftover', and NULL. */
static Recorder *hook_find (lua_State *L, lua_Debug *ar) {
  Recorder *r = control_recorder(L);
  if (r != NULL && !recorder_samples(r)) return r;
  hook_leftover(recorder_get(L), L, ar);
  return NULL;
}


/* the level of the topmost frame before the event: at a call, the caller's */
static int hook_level (const lua_Debug *ar) {
  return ar->event == LUA_HOOKCALL || ar->event == LUA_HOOKTAILCALL;
}


/* Switches to L, which did not run at the last event. 0: out of memory. */
static int hook_switch (Recorder *r, lua_State *L, lua_Debug *ar,
                        uint64_t *now) {
  int announced = r->resuming == L && r->resuming_at == hot_events(r->hot);
  if (!coroutine_charge(r, L, announced, now) ||
      !coroutine_switch(r, L, hook_level(ar), announced))
    return recorder_nomemory(r);
  if (r->hot->trace) *now = r->hot->last;  /* the trace took time */
  return 1;
}


/* Returns the Hot that has recorded the event; NULL: nobody did. */
static Hot *hook_slowevent (lua_State *L, lua_Debug *ar) {
  Hot *h = hot_current;
  int switched = h->L != L;  /* did another coroutine or state run last? */
  const Stack *from;
  uint64_t now;
  if (switched) {
    Recorder *r = hook_find(L, ar);
    if (r == NULL) return NULL;
    h = r->hot;
    hot_enter(h);
  }
  now = hot_now(h);
  from = h->recorder->current;
  if (h->L != L && !hook_switch(h->recorder, L, ar, &now)) return h;
  h->counting.ci = NULL;
  if (ar->event == LUA_HOOKCOUNT) {
    if (h->counting.on) hook_instruction(L, ar);
    else hook_count(L, ar);
    return h;
  }
  if (ar->event == LUA_HOOKLINE) hot_chargeline(h, now);
  else hot_charge(h, now);
  hot_ended(h, (unsigned)ar->event);
  now = h->last;
  if (likely(--h->countdown != 0)) hook_anyevent(L, ar, h);
  else if (switched) {
    int event = ar->event;
    hook_anyevent(L, ar, h);
    hook_timedswitch(h, L, event, from, now);
  }
  else
    hook_timedevent(h, L, ar, now, hook_anyevent);
  return h;
}


static NOINLINE void hook_slow (lua_State *L, lua_Debug *ar) {
  const Hot *h = hook_slowevent(L, ar);
  if (h != NULL) nogc_settle(h, L);
}

/* }====================================================== */


/* {======================================================
** The event functions
** ======================================================= */

/*
** Charges the time since the last event until 't'. 0: that is a gap, or the
** clock was set back, or the ring has to begin another block, and nothing is
** charged.
*/
static INLINE int hook_chargeat (Hot *h, const lua_Debug *ar, uint64_t t,
                                 int line, int variant) {
  const Frame *f = h->top;
  uint64_t passed = t - h->last;
  if (unlikely(passed > h->gap)) return 0;
  if (variant & WITH_RING && unlikely(!ring_fits(h->ring, passed))) return 0;
  h->last = t;
  if (variant & WITH_LINES) f->line.at->self += passed;
  if (line) return 1;
  if (variant & WITH_LINES) {
    passed = t - h->since;
    h->since = t;
  }
  f->node->self += passed;
  if (variant & WITH_RING)
    ring_put(h->ring, f->node->id, (unsigned)ar->event, passed);
  return 1;
}


/* Sets '*now' to the current time, and charges the time until then. */
static INLINE int hook_charge (Hot *h, const lua_Debug *ar, uint64_t *now,
                               int line, int variant) {
  return hook_chargeat(h, ar, *now = platform_ticks(), line, variant);
}


/* Does this variant have fast paths of calls and switches? */
#define IS_FAST(with) \
	(((with) & ~(WITH_LINES | WITH_DISTRIBUTION | WITH_RING)) \
	 == WITH_DIRECT)

/*
** Makes a variant of the event function. About half of all events are
** returns. So that plain calls and returns save no registers, everything else
** is in functions of its own, which are called last. There is only one copy of
** the code of a call, for timed calls, too: see timing.h. Its function gets 'L'
** and 'ar' first, so that no registers have to be moved. The kind of a timed
** event is found out before it is timed: the processor would predict that
** branch badly, as it would not for other events.
*/
#define EVENT_FUNCTION(name, with) \
static NOINLINE void name##_other (lua_State *L, lua_Debug *ar) { \
  Hot *h = hot_current; \
  hook_call(h, L, ar, with); \
  nogc_settle(h, L); \
} \
static NOINLINE void name##_rare (lua_State *L, lua_Debug *ar) { \
  if (ar->event != LUA_HOOKTAILCALL || !hook_replace(hot_current, ar, with)) \
    hook_othercall(L, ar); \
} \
static NOINLINE void name##_call (lua_State *L, lua_Debug *ar, Hot *h) { \
  if (!IS_FAST(with)) name##_other(L, ar); \
  else if (!hook_repeat(h, ar, with, 0)) name##_rare(L, ar); \
} \
static INLINE void name##_pop (lua_State *L, lua_Debug *ar, Hot *h) { \
  hook_pop(h, L, ar, with); \
} \
static NOINLINE void name##_timed (lua_State *L, lua_Debug *ar, \
                                   uint64_t now) { \
  Hot *h = hot_current; \
  if (ar->event == LUA_HOOKRET) hook_timedevent(h, L, ar, now, name##_pop); \
  else if ((with) & WITH_LINES && ar->event == LUA_HOOKLINE) \
    hook_timedevent(h, L, ar, now, hook_line); \
  else hook_timedevent(h, L, ar, now, name##_call); \
} \
static INLINE int name##_switch (lua_State *L, lua_Debug *ar) { \
  Hot *h = hot_current; \
  const Stack *from; \
  uint64_t now; \
  Stack *to; \
  if (!IS_FAST(with) || !coroutine_isfast(h, ar, with)) return 0; \
  now = platform_ticks(); \
  from = h->recorder->current; \
  to = coroutine_known(h, L, ar, with); \
  if (to == NULL || !hook_chargeat(h, ar, now, 0, with)) return 0; \
  coroutine_go(h, to, with); \
  if (unlikely(--h->countdown == 0)) \
    hook_timedswitch(h, L, LUA_HOOKRET, from, now); \
  return 1; \
} \
static NOINLINE void name##_switched (lua_State *L, lua_Debug *ar) { \
  if (!name##_switch(L, ar)) hook_slow(L, ar); \
} \
static void name (lua_State *L, lua_Debug *ar) { \
  Hot *h = hot_current; \
  uint64_t now; \
  if (unlikely(h->L != L)) name##_switched(L, ar); \
  else if (unlikely(h->variant != (with))) hook_slow(L, ar); \
  else if ((with) & WITH_LINES && ar->event == LUA_HOOKLINE) { \
    if (unlikely(!hook_charge(h, ar, &now, 1, with))) hook_slow(L, ar); \
    else if (unlikely(--h->countdown == 0)) name##_timed(L, ar, now); \
    else hook_line(L, ar, h); \
  } \
  else if ((with) & WITH_LINES && unlikely(ar->event == LUA_HOOKCOUNT)) \
    hook_count(L, ar); \
  else if (unlikely(!hook_charge(h, ar, &now, 0, with))) hook_slow(L, ar); \
  else if (unlikely(--h->countdown == 0)) name##_timed(L, ar, now); \
  else if (ar->event == LUA_HOOKRET) hook_pop(h, L, ar, with); \
  else name##_call(L, ar, h); \
}

EVENT_FUNCTION(hook_calls, 0)
EVENT_FUNCTION(hook_folded, WITH_FOLD)
EVENT_FUNCTION(hook_lines, WITH_LINES)
EVENT_FUNCTION(hook_frames, WITH_FRAMES)
EVENT_FUNCTION(hook_callsdirect, WITH_DIRECT)
EVENT_FUNCTION(hook_foldeddirect, WITH_DIRECT | WITH_FOLD)
EVENT_FUNCTION(hook_linesdirect, WITH_DIRECT | WITH_LINES)
EVENT_FUNCTION(hook_framesdirect, WITH_DIRECT | WITH_FRAMES)
EVENT_FUNCTION(hook_times, WITH_DISTRIBUTION)
EVENT_FUNCTION(hook_linetimes, WITH_LINES | WITH_DISTRIBUTION)
EVENT_FUNCTION(hook_timesdirect, WITH_DIRECT | WITH_DISTRIBUTION)
EVENT_FUNCTION(hook_linetimesdirect,
               WITH_DIRECT | WITH_LINES | WITH_DISTRIBUTION)

#if CPROF_WHOLE
EVENT_FUNCTION(hook_keptdirect, WITH_DIRECT | WITH_RING)
EVENT_FUNCTION(hook_keptframesdirect, WITH_DIRECT | WITH_FRAMES | WITH_RING)
EVENT_FUNCTION(hook_kepttimesdirect,
               WITH_DIRECT | WITH_DISTRIBUTION | WITH_RING)
#endif


/* mode count, where no option asks for more */
#define WITH_COUNTING	(WITH_DIRECT | WITH_COUNT | WITH_SLOW)

/* Completes a call or return in mode count. */
static INLINE void hook_counted (Hot *h, lua_State *L) {
  if (h->L != NULL) hook_somelines(h);
  nogc_settle(h, L);
}


/* In mode count: an event of another coroutine than the last one. */
static NOINLINE void hook_countswitched (lua_State *L, lua_Debug *ar) {
  Hot *h = hot_current;
  Stack *to = coroutine_isfast(h, ar, WITH_COUNTING)
            ? coroutine_known(h, L, ar, WITH_COUNTING) : NULL;
  if (to == NULL) hook_slow(L, ar);
  else {
    hot_charge(h, h->counting.ticks);
    coroutine_go(h, to, WITH_COUNTING);
    h->counting.ci = NULL;
    if (unlikely(--h->countdown == 0)) hook_schedule(h, L);
    hook_counted(h, L);
  }
}


static NOINLINE void hook_countcall (lua_State *L, lua_Debug *ar) {
  Hot *h = hot_current;
  h->counting.ci = NULL;
  hot_charge(h, h->counting.ticks);
  if (unlikely(--h->countdown == 0)) hook_schedule(h, L);
  if (ar->event == LUA_HOOKRET) hook_pop(h, L, ar, WITH_DIRECT | WITH_COUNT);
  else if (!hook_repeat(h, ar, WITH_DIRECT | WITH_COUNT, 0) &&
           (ar->event != LUA_HOOKTAILCALL ||
            !hook_replace(h, ar, WITH_DIRECT | WITH_COUNT)))
    hook_othercall(L, ar);
  hook_counted(h, L);
}


/*
** The event function of mode count. Its hot path, which saves no registers, is
** an instruction of the same function as the last one. Calls and returns read
** no clock: the time is the number of instructions.
*/
static void hook_counting (lua_State *L, lua_Debug *ar) {
  Hot *h = hot_current;
  if (unlikely(h->L != L)) hook_countswitched(L, ar);
  else if (unlikely(ar->event != LUA_HOOKCOUNT)) {
    if (h->variant == WITH_COUNTING) hook_countcall(L, ar);
    else hook_slow(L, ar);
  }
  else if (likely(h->counting.ci == ar->i_ci)) instructions_add(h, ar->i_ci);
  else hook_instruction(L, ar);
}


/*
** In mode count, every instruction makes a count event. Is this event one that
** the program's hook asked for? Of count events, only each 's->count'-th one.
*/
static int hook_wants (const Recorder *r, Stack *s, int event) {
  if (event != LUA_HOOKCOUNT || !r->hot->counting.on || !s->lines) return 1;
  if (++s->counts < s->count) return 0;
  s->counts = 0;
  return 1;
}


/* The event function where the program has a hook, which is called after it. */
static void hook_chained (lua_State *L, lua_Debug *ar) {
  int event = ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int mine = LUA_MASKCALL | LUA_MASKRET;
  int top = lua_gettop(L);
  Recorder *r = control_recorder(L);
  Stack *s;
  if (r == NULL || recorder_samples(r)) {
    hook_leftover(recorder_get(L), L, ar);
    return;
  }
  if (r->hot->lines) mine |= LUA_MASKLINE;
  s = r->current;
  if (s == NULL || s->L != L) s = stacks_find(&r->stacks, L);
  if (r->hot->counting.on && s != NULL && s->lines) mine |= LUA_MASKCOUNT;
  if (mine & (1 << event)) hook_slow(L, ar);
  lua_settop(L, top);
  s = r->current;
  if (s == NULL || s->L != L) s = stacks_find(&r->stacks, L);
  if (s != NULL && s->mask & (1 << event) && hook_wants(r, s, event))
    s->hook(L, ar);
}


/*
** Lets the collector make a step if L is recorded. 0: it is not, or the
** collector is not driven.
*/
static int hook_step (Recorder *r, lua_State *L) {
  uint64_t took;
  if (r->hot->L != L || r->allocations == NULL) return 0;
  took = collector_step(&r->allocations->collector, L);
  if (took != COLLECTOR_NONE && r->hot->trace)
    calltrace_step(r, L, r->allocations->collector.func, took);
  return 1;
}


/*
** The one-shot hook that the collector has requested, to make a step. The step
** is charged to the function that ran until now, so it is made before the event
** is recorded; if that function ran in another coroutine, it is made
** afterwards.
*/
static void hook_pending (lua_State *L, lua_Debug *ar) {
  Recorder *r = control_recorder(L);
  int event = ar->event, done;
  /* a finalizer, run here, would make Lua take this line for a new one */
  if (event == LUA_HOOKCOUNT && lua_gethookmask(L) & LUA_MASKLINE) return;
  if (r == NULL || recorder_samples(r)) {  /* set by an earlier recording */
    hook_leftover(recorder_get(L), L, ar);
    return;
  }
  attach_renew(r, L);
  hot_enter(r->hot);
  done = hook_step(r, L);
  if (event == LUA_HOOKCOUNT) return;
  ar->event = event;
  attach_pass(L, ar, 0);  /* a finalizer may have set another hook */
  if (!done) hook_step(r, L);
}


const Hooks *hook_functions (void) {
  static const Hooks functions = {
    {
      {WITH_DIRECT, hook_callsdirect},
      {WITH_DIRECT | WITH_LINES, hook_linesdirect},
      {WITH_DIRECT | WITH_FOLD, hook_foldeddirect},
      {WITH_DIRECT | WITH_FRAMES, hook_framesdirect},
      {WITH_DIRECT | WITH_DISTRIBUTION, hook_timesdirect},
      {WITH_DIRECT | WITH_LINES | WITH_DISTRIBUTION, hook_linetimesdirect},
#if CPROF_WHOLE
      {WITH_DIRECT | WITH_RING, hook_keptdirect},
      {WITH_DIRECT | WITH_FRAMES | WITH_RING, hook_keptframesdirect},
      {WITH_DIRECT | WITH_DISTRIBUTION | WITH_RING, hook_kepttimesdirect},
#endif
      {WITH_DISTRIBUTION, hook_times},
      {WITH_LINES | WITH_DISTRIBUTION, hook_linetimes},
      {WITH_LINES, hook_lines}, {WITH_FOLD, hook_folded},
      {WITH_FRAMES, hook_frames}, {0, hook_calls}
    },
    hook_chained, hook_counting, hook_pending, interval_event,
    samplehook_alone, {SAMPLEHOOKS(SAMPLEHOOK_LIST)}
  };
  return &functions;
}

/* }====================================================== */

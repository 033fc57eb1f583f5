/*
** See hook.h
**
** What an event costs, beside a hook that only reads the clock, is
** measured by 'make bench'. Nothing here raises an error, and nothing
** allocates but at the first sight of a function, a state or a coroutine.
*/

#include "hook.h"

#include "adopt.h"
#include "callee.h"
#include "coroutine.h"
#include "follow.h"
#include "quiet.h"


static void hook_event (lua_State *L, lua_Debug *ar);
static void hook_folded (lua_State *L, lua_Debug *ar);
static void hook_lines (lua_State *L, lua_Debug *ar);
static void hook_periods (lua_State *L, lua_Debug *ar);
static void hook_chained (lua_State *L, lua_Debug *ar);

#define HOOK_MASK	(LUA_MASKCALL | LUA_MASKRET)


static void hook_nomemory (Recording *r) {
  recording_end(r, "out of memory");
}


/* {======================================================
** Taking and giving back the hook
** ======================================================= */

int hook_installed (lua_State *L) {
  lua_Hook f = lua_gethook(L);
  return f == hook_event || f == hook_folded || f == hook_periods ||
         f == hook_lines || f == hook_chained;
}


/* does the function that runs on 's' want to see its lines? */
static int hook_wantslines (const Hot *h, const Stack *s) {
  return h->lines && (!h->tiers || s->top->line != &h->nowhere);
}


static lua_Hook hook_choose (const Hot *h, const Stack *s) {
  if (s->hook != NULL) return hook_chained;
  if (h->lines) return hook_lines;
  if (h->fold) return hook_folded;
  return h->history ? hook_periods : hook_event;
}


/*
** Some of the instructions are counted where lines are: a program that
** counts, too, has no hook left for that. Where lines come and go, the
** first of them is drawn, for it may be over before the next.
*/
static int hook_instructions (Hot *h, const Stack *s) {
  if (s->hook != NULL || h->recording->uncompensated != NULL) return 0;
  return h->tiers ? 1 + (int)(toll_draw(&h->seed) % INSTRUCTIONS)
                  : INSTRUCTIONS;
}


static void hook_set (Hot *h, Stack *s, int lines) {
  int mask = HOOK_MASK | s->mask | (lines ? LUA_MASKLINE : 0);
  int count = lines ? hook_instructions(h, s) : 0;
  s->lines = lines;
  if (count > 0) mask |= LUA_MASKCOUNT;
  else count = s->count;
  lua_sethook(s->L, hook_choose(h, s), mask, count);
}


void hook_install (Recording *r, Stack *s) {
  if (!hook_installed(s->L)) {
    s->hook = lua_gethook(s->L);
    s->mask = s->hook ? lua_gethookmask(s->L) : 0;
    s->count = lua_gethookcount(s->L);
  }
  hook_set(r->hot, s, hook_wantslines(r->hot, s));
}


void hook_restore (Recording *r, lua_State *L) {
  Stack *s = r && r->state == STATE_RUNNING ? stacks_find(&r->stacks, L)
                                            : NULL;
  if (s != NULL) hook_set(r->hot, s, hook_wantslines(r->hot, s));
  else lua_sethook(L, NULL, 0, 0);
}


void hook_remove (Recording *r, lua_State *L) {
  const Stack *s = r ? stacks_find(&r->stacks, L) : NULL;
  if (!hook_installed(L)) return;
  if (s == NULL && r) s = r->current;  /* it took the hook over from there */
  if (s != NULL) lua_sethook(L, s->hook, s->mask, s->count);
  else lua_sethook(L, NULL, 0, 0);
}

/* }====================================================== */


/* {======================================================
** Frames that were left unseen
** ======================================================= */

/* the frame of the caller at 'ci', or the one at 'level' found anew */
static Frame *hook_unwind (Hot *h, lua_State *L, CallAddress ci, int level,
                           int replaced) {
  Frame *f = adopt_unwind(h, L, ci, level, replaced);
  if (f == NULL) hook_nomemory(h->recording);
  else if (h->trace) follow_leave(h->recording, L, f);
  return h->L != NULL ? f : NULL;
}


/* a function returned whose frame is not on top, or has a zone on it */
static void hook_return (Hot *h, lua_State *L, CallAddress ci) {
  const Stack *s = h->recording->current;
  Frame *f = stack_function(s, h->top, ci);
  if (f == s->base) f = hook_unwind(h, L, ci, 0, 0);
  if (f == NULL || f == h->recording->current->base) return;
  if (h->fold) stack_leaveframes(f - 1, h->top);
  else stack_unreturned(f, h->top);
  h->top = f - 1;
}

/* }====================================================== */


/* {======================================================
** Coroutines
** ======================================================= */

/* takes the hook of a coroutine that was made before the start */
static int hook_take (Recording *r, lua_State *running, lua_State *co) {
  Stack *s;
  if (hook_installed(co)) return 1;
  s = recording_stack(r, running, co);
  if (s == NULL) {
    hook_nomemory(r);
    return 0;
  }
  s->stale = 1;
  hook_install(r, s);
  return 1;
}


/*
** Who runs is not known, and 'co' may be unable to; but the main thread is
** always there.
*/
int hook_attach (Recording *r, lua_State *co) {
  Quiet q = quiet_begin(r->main);
  int done = hook_take(r, r->main, co);
  quiet_end(r->main, q);
  return done;
}


/* the coroutine that is about to run is to be followed */
static void hook_follow (Recording *r, lua_State *L, lua_State *co) {
  if (!hook_take(r, L, co)) return;
  r->resuming = co;
  r->resuming_at = r->hot->last;
}

/* }====================================================== */


/* {======================================================
** Events
** ======================================================= */

/*
** The program's own hook has been put back; it must not miss the event
** that made us leave.
*/
static void hook_leave (Recording *r, lua_State *L, lua_Debug *ar) {
  lua_Hook f;
  int event = ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  hook_remove(r, L);
  f = lua_gethook(L);
  if (f != NULL && lua_gethookmask(L) & (1 << event)) f(L, ar);
}


Recording *hook_recording (lua_State *L) {
  Recording *r = recording_hot->recording;
  if (r == NULL || r->registry != lua_topointer(L, LUA_REGISTRYINDEX))
    r = recording_get(L);
  if (r == NULL || recording_forked(r) || r->state != STATE_RUNNING)
    return NULL;
  return r;
}


/* frames that want a closer look */
static void hook_special (Hot *h, lua_State *L) {
  Recording *r = h->recording;
  Frame *f = h->top;
  unsigned marks;
  if (f->is.flags & FRAME_TRUNCATED) r->figures->truncated++;
  if (f->is.flags & FRAME_TAIL && !(f->is.flags & FRAME_FOLDED))
    node_tailcall(f->node, h->fold);
  if (!(f->is.flags & FRAME_SPECIAL)) return;
  marks = functions_at(&r->functions, f->is.func)->marks;
  if (marks & FUNCTION_RESUME) {
    lua_State *co = lua_tothread(L, 1);
    if (co != NULL) hook_follow(r, L, co);
  }
  else if (marks & FUNCTION_WRAP) {
    lua_State *co = NULL;  /* 'callee_which' left the function on top */
    if (lua_getupvalue(L, -1, 1) != NULL) {
      co = lua_tothread(L, -1);
      lua_pop(L, 1);
    }
    if (co != NULL) hook_follow(r, L, co);
  }
}


/* what an event function is made for: bits that the compiler knows */
#define HOW_FOLD	1
#define HOW_LINES	2
#define HOW_CALLSITES	4
#define HOW_PERIODS	8
#define HOW_ANY	16	/* bits that only the recording knows */

static int hook_how (const Hot *h) {
  return (h->fold ? HOW_FOLD : 0) | (h->lines ? HOW_LINES : 0) |
         (h->callsites ? HOW_CALLSITES : 0) |
         (h->history ? HOW_PERIODS : 0);
}


/* the line of the call, where calls are told apart by their lines */
static inline uint32_t hook_callline (lua_State *L, const Frame *f,
                                      lua_Debug *caller, int how) {
  uint32_t line = how & HOW_LINES ? (uint32_t)f->line->line : 0;
  if (line == 0 && how & HOW_CALLSITES && f->ci != NULL)
    line = adopt_line(L, caller);
  return line;
}


/* a function is called, or takes its caller's place (a tail call) */
static inline void hook_call (Hot *h, lua_State *L, lua_Debug *ar,
                              int how) {
  lua_Debug caller;
  CallAddress ci = lua_getstack(L, 1, &caller) ? caller.i_ci : NULL;
  Frame *f = h->top;
  Line *entry = NULL;
  const Known *k;
  Node *n;
  uint32_t flags = 0;
  if (unlikely(f->ci != ci)) {
    int replaces = ar->event == LUA_HOOKTAILCALL;
    f = hook_unwind(h, L, ci, 1, replaces);
    if (f == NULL) return;
    if (replaces) flags = FRAME_TAIL;
  }
  n = f->node;
  k = callee_which(h, L, ar, n);
  if (unlikely(k == NULL)) return;
  if (how & HOW_LINES) entry = f->line;
  if (likely(!(k->is.flags & FRAME_FOLDED))) {
    uint32_t line = hook_callline(L, f, &caller, how);
    n = callee_state(h, n, k->is.func, line, &flags);
    if (unlikely(n == NULL)) return;
    n->calls++;
    if (how & HOW_FOLD) node_activate(n);
    if (how & HOW_PERIODS && unlikely(!history_touch(h->history, n))) {
      hook_nomemory(h->recording);
      return;
    }
    entry = k->entry;
  }
  if (unlikely(f == h->limit)) {
    if (!adopt_room(h)) {
      hook_nomemory(h->recording);
      return;
    }
    f = h->top;
  }
  f++;
  f->ci = ar->i_ci;
  f->node = n;
  f->is = k->is;
  if (how & HOW_LINES) f->line = entry;
  h->top = f;
  if (unlikely((f->is.flags |= flags) & ~FRAME_FOLDED)) hook_special(h, L);
}


/*
** The common calls are functions of their own, so that the event of a
** return, the other half of all, need not save what they need.
*/
static apart void hook_plaincall (Hot *h, lua_State *L, lua_Debug *ar) {
  hook_call(h, L, ar, 0);
}


static apart void hook_foldcall (Hot *h, lua_State *L, lua_Debug *ar) {
  hook_call(h, L, ar, HOW_FOLD);
}


static apart void hook_periodscall (Hot *h, lua_State *L, lua_Debug *ar) {
  hook_call(h, L, ar, HOW_PERIODS);
}


static apart void hook_linescall (Hot *h, lua_State *L, lua_Debug *ar) {
  hook_call(h, L, ar, HOW_LINES);
}


static apart void hook_anycall (Hot *h, lua_State *L, lua_Debug *ar) {
  hook_call(h, L, ar, hook_how(h));
}


/* the function on top returns */
static inline void hook_pop (Hot *h, lua_State *L, lua_Debug *ar, int how) {
  Frame *f = h->top;
  if (likely(f->ci == ar->i_ci && !(f->is.flags & FRAME_ZONE))) {
    if (how & HOW_FOLD) stack_leaveframes(f - 1, f);
    h->top = f - 1;
  }
  else
    hook_return(h, L, ar->i_ci);
}

/* }====================================================== */


/* {======================================================
** Lines
** ======================================================= */

/*
** Where lines are counted of some sources only, events of lines are asked
** for as soon as a function of these runs, and no longer asked for when
** one comes from another function: many of these return before that.
*/
static void hook_tier (Hot *h) {
  Stack *s = h->recording->current;
  if (s->lines) return;
  s->top = h->top;
  if (hook_wantslines(h, s)) hook_set(h, s, 1);
}


/* a line that is not one of the same function on top */
static apart void hook_otherline (Hot *h, lua_State *L, lua_Debug *ar) {
  Recording *r = h->recording;
  Frame *f = hook_unwind(h, L, ar->i_ci, 0, 0);
  Line *line;
  if (f == NULL) return;
  line = f->is.flags & FRAME_FOLDED ? NULL : line_go(f->line, ar->currentline);
  if (line != NULL) {
    line->hits++;
    f->line = line;
  }
  else if (h->tiers && f->line == &h->nowhere) {
    r->current->top = f;
    hook_set(h, r->current, 0);
  }
}


/* one of INSTRUCTIONS runs, on a line that may not have been told yet */
static apart void hook_count (Hot *h, lua_State *L, lua_Debug *ar) {
  Frame *f = h->top;
  Line *line;
  if (f->ci != ar->i_ci || f->is.flags & FRAME_FOLDED) return;
  lua_getinfo(L, "l", ar);
  line = line_go(f->line, ar->currentline);
  if (line != NULL && line->counts < UINT32_MAX) line->counts++;
  if (h->tiers && lua_gethookcount(L) != INSTRUCTIONS)
    lua_sethook(L, lua_gethook(L), lua_gethookmask(L), INSTRUCTIONS);
}


static inline void hook_line (Hot *h, lua_State *L, lua_Debug *ar) {
  Frame *f = h->top;
  Line *line = line_go(f->line, ar->currentline);
  if (likely(f->ci == ar->i_ci && line != NULL &&
             !(f->is.flags & FRAME_FOLDED))) {
    line->hits++;
    f->line = line;
  }
  else
    hook_otherline(h, L, ar);
}

/* }====================================================== */


/* {======================================================
** The hooks
** ======================================================= */

/* the event has been taken: a trace tells of it */
static apart void hook_tell (Hot *h, lua_State *L, const lua_Debug *ar) {
  if (ar->event == LUA_HOOKRET) follow_leave(h->recording, L, h->top);
  else follow_enter(h->recording, L, h->top);
}


/* any event, in any mode */
static void hook_goany (Hot *h, lua_State *L, lua_Debug *ar) {
  if (ar->event == LUA_HOOKLINE) {
    hook_line(h, L, ar);
    return;
  }
  if (ar->event == LUA_HOOKRET) hook_pop(h, L, ar, hook_how(h));
  else hook_anycall(h, L, ar);
  if (h->trace && h->L != NULL) hook_tell(h, L, ar);
  if (h->tiers && h->L != NULL) hook_tier(h);
}


/* time up to 'now' goes to what ran, by the shortest way for 'how' */
static inline void hook_charge (Hot *h, const lua_Debug *ar, uint64_t now,
                                int how) {
  if (how & (HOW_ANY | HOW_LINES)) {
    if (ar->event == LUA_HOOKLINE) recording_chargeline(h, now);
    else recording_charge(h, now);
  }
  else {
    now = recording_time(h, now);
    h->top->node->self += now - h->last;
    recording_settime(h, now);
  }
}


/* an event, likewise */
static inline void hook_go (Hot *h, lua_State *L, lua_Debug *ar,
                            uint64_t now, int how) {
  hook_charge(h, ar, now, how);
  if (how & HOW_ANY) hook_goany(h, L, ar);
  else if (ar->event == LUA_HOOKRET) hook_pop(h, L, ar, how);
  else if (how & HOW_LINES && ar->event == LUA_HOOKLINE) hook_line(h, L, ar);
  else if (how & HOW_FOLD) hook_foldcall(h, L, ar);
  else if (how & HOW_PERIODS) hook_periodscall(h, L, ar);
  else if (how & HOW_LINES) hook_linescall(h, L, ar);
  else hook_plaincall(h, L, ar);
}


/* what kind of event it was; TOLLS: none that is told of */
static TollKind hook_kind (const Hot *h, int event, uint32_t nodes) {
  const Recording *r = h->recording;
  if (event == LUA_HOOKRET) return TOLL_RETURN;
  if (event == LUA_HOOKLINE) return TOLL_LINE;
  if (h->top->is.flags & FRAME_FOLDED) return TOLLS;
  if (h->tree->nodes.count != nodes) return TOLL_STATE;
  return functions_at(&r->functions, h->top->is.func)->kind == FUNCTION_C
       ? TOLL_C : TOLL_LUA;
}


/* 'ticks' of an event; 0: out of memory */
static int hook_toll (const Hot *h, TollKind kind, uint64_t ticks) {
  Recording *r = h->recording;
  Toll *t = &r->figures->tolls[kind];
  if (kind == TOLL_LUA || kind == TOLL_C) {
    Toll *own = recording_toll(r, h->top->is.func);
    if (own == NULL) {
      hook_nomemory(r);
      return 0;
    }
    if (!toll_likely(own, kind, ticks)) return 1;
    toll_add(own, ticks);
    toll_add(t, ticks);
  }
  else if (toll_likely(t, kind, ticks)) toll_add(t, ticks);
  return 1;
}


/*
** An event whose end is timed, too. That this was done is not to be seen
** in the time of the program.
*/
static inline void hook_timed (Hot *h, lua_State *L, lua_Debug *ar,
                               uint64_t now, int how) {
  uint32_t nodes = h->tree->nodes.count;
  uint64_t begun, ended, shift;
  int event = ar->event;
  TollKind kind;
  begun = platform_ticksafter();
  hook_go(h, L, ar, now, how);
  ended = platform_ticksafter();
  if (h->L == NULL) return;
  h->timed = toll_next(h->events, &h->seed);
  if (h->last > now) return;  /* a function was met, which took its time */
  kind = hook_kind(h, event, nodes);
  if (kind != TOLLS && !hook_toll(h, kind, ended - begun)) return;
  shift = begun - now + platform_ticksafter() - ended;
  h->last += shift;
  h->since += shift;
  h->recording->tree.cprof->self += shift;
}


/* functions of their own, for the same reason as those of calls */
static apart void hook_plaintimed (Hot *h, lua_State *L, lua_Debug *ar,
                                   uint64_t now) {
  hook_timed(h, L, ar, now, 0);
}


static apart void hook_foldtimed (Hot *h, lua_State *L, lua_Debug *ar,
                                  uint64_t now) {
  hook_timed(h, L, ar, now, HOW_FOLD);
}


static apart void hook_periodstimed (Hot *h, lua_State *L, lua_Debug *ar,
                                     uint64_t now) {
  hook_timed(h, L, ar, now, HOW_PERIODS);
}


static apart void hook_linestimed (Hot *h, lua_State *L, lua_Debug *ar,
                                   uint64_t now) {
  hook_timed(h, L, ar, now, HOW_LINES);
}


static apart void hook_anytimed (Hot *h, lua_State *L, lua_Debug *ar,
                                 uint64_t now) {
  hook_timed(h, L, ar, now, HOW_ANY);
}


/* the way of an event that is not what its hook expects */
static apart void hook_slow (lua_State *L, lua_Debug *ar) {
  Hot *h = recording_hot;
  uint64_t now;
  if (h->L != L) {
    Recording *r = hook_recording(L);
    if (r == NULL) {
      hook_leave(recording_get(L), L, ar);
      return;
    }
    h = r->hot;
    recording_enter(h);
  }
  now = recording_now(h);
  if (h->L != L) {
    Recording *r = h->recording;
    int told = r->resuming == L && r->resuming_at == h->last;
    int level = ar->event == LUA_HOOKCALL || ar->event == LUA_HOOKTAILCALL;
    h->timed += h->timed == h->events + 1;  /* it is not like others */
    recording_charge(h, now);
    if (!coroutine_switch(r, L, level, told)) {
      hook_nomemory(r);
      return;
    }
  }
  if (ar->event == LUA_HOOKCOUNT) {
    hook_count(h, L, ar);
    return;
  }
  if (likely(++h->events != h->timed)) hook_go(h, L, ar, now, HOW_ANY);
  else hook_anytimed(h, L, ar, now);
}


/* the way of all others, where 'how' is known */
static inline void hook_calls (lua_State *L, lua_Debug *ar, Fast fast,
                               int how) {
  Hot *h = recording_hot;
  uint64_t now;
  if (unlikely(h->L != L || h->fast != fast)) {
    hook_slow(L, ar);
    return;
  }
  if (how & HOW_LINES && unlikely(ar->event == LUA_HOOKCOUNT)) {
    hook_count(h, L, ar);
    return;
  }
  now = platform_ticks();
  if (likely(++h->events != h->timed)) hook_go(h, L, ar, now, how);
  else if (how & HOW_FOLD) hook_foldtimed(h, L, ar, now);
  else if (how & HOW_PERIODS) hook_periodstimed(h, L, ar, now);
  else if (how & HOW_LINES) hook_linestimed(h, L, ar, now);
  else hook_plaintimed(h, L, ar, now);
}


static void hook_event (lua_State *L, lua_Debug *ar) {
  hook_calls(L, ar, FAST_CALLS, 0);
}


static void hook_folded (lua_State *L, lua_Debug *ar) {
  hook_calls(L, ar, FAST_FOLDED, HOW_FOLD);
}


static void hook_periods (lua_State *L, lua_Debug *ar) {
  hook_calls(L, ar, FAST_PERIODS, HOW_PERIODS);
}


static void hook_lines (lua_State *L, lua_Debug *ar) {
  hook_calls(L, ar, FAST_LINES, HOW_LINES);
}


/* the program has a hook of its own, which sees the event after us */
static void hook_chained (lua_State *L, lua_Debug *ar) {
  int event = ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int top = lua_gettop(L);
  Recording *r = recording_get(L);
  const Stack *s;
  if (r == NULL || recording_forked(r) || r->state != STATE_RUNNING) {
    hook_leave(r, L, ar);
    return;
  }
  if ((HOOK_MASK | (r->options.lines ? LUA_MASKLINE : 0)) & (1 << event))
    hook_slow(L, ar);
  lua_settop(L, top);
  s = r->current->L == L ? r->current : stacks_find(&r->stacks, L);
  if (s != NULL && s->mask & (1 << event)) s->hook(L, ar);
}

/* }====================================================== */

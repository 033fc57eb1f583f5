/*
** Switching between coroutines. No event tells of a yield: a switch is noticed
** when the next event comes from another coroutine.
*/

#ifndef coroutine_h
#define coroutine_h

#include "follow/shadow.h"
#include "follow/threads.h"


/*
** Makes the stack of L the current one, with frames up to 'level', where level
** 0 is the running function. 'announced': the last event was the call that
** resumes L. 0: out of memory.
*/
CPROF_I int coroutine_switch (Recorder *r, lua_State *L, int level,
                              int announced);

/*
** To be called before 'coroutine_switch': charges the time up to '*now' to
** the function that ran; or to "unrecorded", if another hook has replaced ours
** there. Updates '*now'. 0: out of memory.
*/
CPROF_I int coroutine_charge (Recorder *r, lua_State *L, int announced,
                              uint64_t *now);

/*
** Can this event be a switch that 'coroutine_known' knows? 'variant' is that of
** the event function, see WITH_FOLD.
*/
static INLINE int coroutine_isfast (const Hot *h, const lua_Debug *ar,
                                    int variant) {
  return h->variant == variant && ar->event == LUA_HOOKRET && h->L != NULL &&
         !h->recorder->recording.tasks.on;
}

/*
** A shortcut for the two usual switches, at a return event in L: L was about
** to be resumed, or has resumed the current coroutine. Returns the stack of L
** if it is up to date; NULL: 'coroutine_switch' must look.
*/
static INLINE Stack *coroutine_known (const Hot *h, const lua_State *L,
                                      const lua_Debug *ar, int variant) {
  const Recorder *r = h->recorder;
  const Stack *s;
  Stack *to;
  if (internals_state(L) != r->shared) return NULL;
  s = r->current;
  to = s->resumer;
  if (to != NULL && to->L == L) {
    if (h->top == s->base) return NULL;  /* it has ended */
    if (variant & WITH_DISTRIBUTION && !threads_suspended(r, to->L, s))
      return NULL;
  }
  else {
    to = r->resumed;
    if (r->resuming != L || r->resuming_at != hot_events(h) || to == NULL ||
        to->L != L || to->stale || to->base->node != h->top->node)
      return NULL;
  }
  return to->top->ci == ar->i_ci && !(to->top->is.flags & FRAME_ZONE) ? to
                                                                     : NULL;
}

/* Makes 'to' the current stack, and drops the function that returns. */
static INLINE void coroutine_go (Hot *h, Stack *to, int variant) {
  Recorder *r = h->recorder;
  Stack *s = r->current;
  s->top = h->top;
  if (s->resumer == to) {
    s->resumer = NULL;
    if (variant & WITH_DISTRIBUTION) calltime_suspend(h, s);
  }
  else {
    to->resumer = s;
    if (variant & WITH_DISTRIBUTION) calltime_resume(h, to);
    if (variant & WITH_LINES) to->base->line = h->top->line;
  }
  r->current = to;
  h->L = to->L;
  h->limit = to->limit;
  h->top = to->top;
  if (variant & WITH_DISTRIBUTION) {
    h->suspended = to->suspended;
    h->away = to->away;
    calltime_return(h);
  }
  h->top--;
  *h->running = h->top->node;
}

/*
** If another hook has replaced ours in L, which runs: charges the time since
** the last event to "unrecorded", and sets our hook again if L has none now.
** 0: out of memory.
*/
CPROF_I int coroutine_check (Recorder *r, lua_State *L);

/*
** 'coroutine_switch' outside of events, for C code that Lua has called in L,
** or a host: makes the frame of the function that runs there the top, or the
** base if none runs. 0: out of memory.
*/
CPROF_I int coroutine_here (Recorder *r, lua_State *L);

#endif

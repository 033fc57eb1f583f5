/*
** Switching between coroutines. No event tells of a yield; what tells is
** that the next event comes from another coroutine.
*/

#ifndef coroutine_h
#define coroutine_h

#include "follow/resync.h"


/*
** Makes the stack of L the current one. What runs there is known from
** 'level' on. 'seen': the last event was that L is about to be resumed.
** 0: out of memory.
*/
CPROF_I int coroutine_switch (Recorder *r, lua_State *L, int level,
                              int seen);

/*
** Charges the time up to 'now' before that: to what ran, or to nobody if
** another hook has replaced ours there; 'now' is then later. 0: out of
** memory.
*/
CPROF_I int coroutine_charge (Recorder *r, lua_State *L, int seen,
                              uint64_t *now);

/*
** The stack of L, in which a function returns in 'ar', where nothing more
** need be known of it: that of the coroutine that was about to run, or that
** resumed the current one. NULL: 'coroutine_switch' must look.
*/
static INLINE Stack *coroutine_known (const Hot *h, const lua_State *L,
                                      const lua_Debug *ar) {
  const Recorder *r = h->recorder;
  const Stack *s;
  Stack *to;
  if (h->L == NULL || ar->event != LUA_HOOKRET ||
      internals_state(L) != r->shared)
    return NULL;
  s = r->current;
  to = s->resumer;
  if (to != NULL && to->L == L) {
    if (h->top == s->base) return NULL;  /* it has ended */
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

/* Makes such a stack the current one, without the function that returns. */
static INLINE void coroutine_go (Hot *h, Stack *to) {
  Recorder *r = h->recorder;
  Stack *s = r->current;
  s->top = h->top;
  if (s->resumer == to) s->resumer = NULL;
  else {
    to->resumer = s;
    if (h->lines) to->base->line = h->top->line;
  }
  r->current = to;
  h->L = to->L;
  h->limit = to->limit;
  h->top = to->top - 1;
  *h->running = h->top->node;
}

/*
** If another hook has replaced ours in L, which runs: charges the time to
** nobody and, where that hook is gone, takes ours back. 0: out of memory.
*/
CPROF_I int coroutine_check (Recorder *r, lua_State *L);

/*
** 'coroutine_switch' where no event tells, for C code that runs in
** L: the function that runs there, or none, is then on top. 0: out of
** memory.
*/
CPROF_I int coroutine_here (Recorder *r, lua_State *L);

#endif

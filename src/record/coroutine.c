/*
** See coroutine.h
*/

#include "record/coroutine.h"

#include "follow/attach.h"
#include "follow/resync.h"
#include "follow/tasktime.h"
#include "record/calltrace.h"


/* Does the coroutine of 's' wait for one that it has resumed? */
static int coroutine_waits (Recorder *r, lua_State *running, const Stack *s) {
  lua_Debug ar;
  if (s->resumer == NULL) return 1;  /* no other can have resumed it */
  if (!threads_alive(r, running, s)) return 0;
  return lua_status(s->L) == LUA_OK && lua_getstack(s->L, 0, &ar);
}


/* Reports that 's' was left if an error or a close, without event, ended it. */
static void coroutine_trace (Recorder *r, lua_State *running, Stack *s) {
  if (s->traced > 0 && !threads_suspended(r, running, s))
    calltrace_end(r, running, s);
}


/* Counts the calls in 's' if an error, without event, has ended them. */
static void coroutine_end (Recorder *r, lua_State *running, Stack *s) {
  if (r->hot->distribution && s->top > s->base &&
      !threads_suspended(r, running, s))
    calltime_ended(r->hot, s, s->base, s->top);
}


/*
** Leaves the current stack 's', and removes it if its function has returned.
** But if the program has a hook there, it is kept: a host may run another
** function in the same coroutine. Returns the resumer.
*/
static Stack *coroutine_leave (Recorder *r, lua_State *running, Stack *s) {
  Stack *resumer = s->resumer;
  if (!tasktime_leave(r, running, s)) recorder_nomemory(r);
  if (r->hot->distribution) coroutine_end(r, running, s);
  calltime_suspend(r->hot, s);
  s->resumer = NULL;
  stack_uncount(s);
  if (s->top == s->base && s->L != r->main && resumer != NULL &&
      s->hook == NULL && resumer->hook == NULL)
    stacks_remove(&r->stacks, s);
  return resumer;
}


/* The stack of L, which 'resumer' has just resumed. */
static Stack *coroutine_resume (Recorder *r, lua_State *L, int level,
                                Stack *resumer) {
  Stack *s = stacks_find(&r->stacks, L);
  lua_Debug caller;
  int begins = level == 1 && !lua_getstack(L, 1, &caller);
  if (s == NULL || (begins && !threads_alive(r, L, s)))
    s = attach_inherited(r, L, L, resumer);
  if (s == NULL) return NULL;
  s->resumer = resumer;
  if (begins) {
    s->top = s->base;
    s->stale = 0;
  }
  if (s->stale)
    return resync_stack(r, L, s, level, resumer->top) ? s : NULL;
  return shadow_rebase(r, s, resumer->top) ? s : NULL;
}


int coroutine_switch (Recorder *r, lua_State *L, int level, int announced) {
  Hot *h = r->hot;
  Stack *s = r->current, *to = stack_of(s, L);
  s->top = h->top;
  tasktime_charge(r);
  if (to != NULL) {  /* back to a coroutine that waited for another one */
    while (s != to) {
      if (h->trace) coroutine_trace(r, L, s);
      s = coroutine_leave(r, L, s);
    }
    if (r->state != STATE_RUNNING) return 0;
  }
  else {
    while (!announced && !coroutine_waits(r, L, s))
      s = coroutine_leave(r, L, s);
    if (r->state != STATE_RUNNING) return 0;
    s = coroutine_resume(r, L, level, s);
    if (s == NULL) return 0;
  }
  if (h->fold) stack_count(s);
  if (h->trace && s->traced != (uint32_t)(s->top - s->base))
    stack_retrace(s);
  shadow_enter(r, s);
  return tasktime_enter(r, L) && recorder_touch(r, s);
}


/*
** Another hook has replaced ours in the coroutine that ran last, so what ran
** there is not known. If that hook is gone, too, ours is set again. 0: out of
** memory.
*/
static int coroutine_retake (Recorder *r, lua_State *L) {
  Stack *s = r->current;
  r->recording.figures->hooks_lost++;
  recorder_unrecorded(r);
  if (r->state != STATE_RUNNING) return 0;
  if (lua_gethook(s->L) != NULL) return 1;
  s->top = r->hot->top;
  attach_take(r, s);
  if (!resync_stack(r, L, s, 0, s->resumer ? s->resumer->top : NULL))
    return 0;
  shadow_enter(r, s);
  return 1;
}


int coroutine_charge (Recorder *r, lua_State *L, int announced,
                      uint64_t *now) {
  Stack *s = r->current;
  if (announced || stack_of(s, L) != NULL || !threads_alive(r, L, s) ||
      attach_is(r, s->L)) {
    hot_charge(r->hot, *now);
    *now = r->hot->last;
    return 1;
  }
  if (!coroutine_retake(r, L)) return 0;
  *now = r->hot->last;
  return 1;
}


int coroutine_check (Recorder *r, lua_State *L) {
  if (attach_is(r, L)) return 1;
  if (r->hot->L != L) {
    if (stacks_find(&r->stacks, L) == NULL) return 1;
    recorder_unrecorded(r);
    if (!coroutine_switch(r, L, 0, 0)) return 0;
  }
  return coroutine_retake(r, L);
}


int coroutine_here (Recorder *r, lua_State *L) {
  Hot *h = r->hot;
  CallAddress ci;
  lua_Debug ar;
  if (!coroutine_check(r, L)) return 0;
  hot_charge(h, hot_now(h));
  if (h->L != L && !coroutine_switch(r, L, 0, 0)) return 0;
  ci = lua_getstack(L, 0, &ar) ? ar.i_ci : NULL;
  return h->top->ci == ci || resync_here(h, L, ci, 0) != NULL;
}

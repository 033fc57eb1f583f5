/*
** See coroutine.h
*/

#include "coroutine.h"

#include "adopt.h"


/* is the coroutine of 's' waiting for one that it has resumed? */
static int stack_waits (Recording *r, lua_State *running, const Stack *s) {
  lua_Debug ar;
  if (s->resumer == NULL) return 1;  /* there is nobody else */
  if (!recording_alive(r, running, s)) return 0;
  return lua_status(s->L) == LUA_OK && lua_getstack(s->L, 0, &ar);
}


/* leaves the current stack, for good if its function has returned */
static Stack *stack_leave (Recording *r, Stack *s) {
  Stack *resumer = s->resumer;
  s->resumer = NULL;
  stack_uncount(s);
  if (s->top == s->base && s->L != r->main && resumer != NULL)
    stacks_remove(&r->stacks, s);
  return resumer;
}


/* the stack of L, which 'resumer' has just resumed */
static Stack *stack_resume (Recording *r, lua_State *L, int level,
                            Stack *resumer) {
  Stack *s = stacks_find(&r->stacks, L);
  int begins;
  lua_Debug caller;
  if (s == NULL) {
    s = recording_stack(r, L, L);
    if (s == NULL) return NULL;
    s->hook = resumer->hook;
    s->mask = resumer->mask;
    s->count = resumer->count;
    s->lines = (lua_gethookmask(L) & LUA_MASKLINE) != 0;
    s->stale = 1;
  }
  s->resumer = resumer;
  begins = level == 1 && !lua_getstack(L, 1, &caller);
  if (begins) {
    s->top = s->base;
    s->stale = 0;
  }
  if (s->stale) return adopt_sync(r, L, s, level, resumer->top) ? s : NULL;
  return adopt_rebase(r, s, resumer->top) ? s : NULL;
}


int coroutine_switch (Recording *r, lua_State *L, int level, int told) {
  Hot *h = r->hot;
  Stack *s = r->current, *to = s;
  s->top = h->top;
  while (to != NULL && to->L != L) to = to->resumer;
  if (to != NULL) {  /* back to one that waited */
    while (s != to) s = stack_leave(r, s);
  }
  else {
    while (!told && !stack_waits(r, L, s)) s = stack_leave(r, s);
    s = stack_resume(r, L, level, s);
    if (s == NULL) return 0;
  }
  if (h->fold) stack_count(s);
  if (h->trace && s->followed != (uint32_t)(s->top - s->base))
    stack_follow(s);
  adopt_current(r, s);
  return recording_touch(r, s);
}


int coroutine_here (Recording *r, lua_State *L) {
  Hot *h = r->hot;
  CallAddress ci;
  lua_Debug ar;
  if (h->L != L) {
    recording_charge(h, recording_now(h));
    if (!coroutine_switch(r, L, 0, 0)) return 0;
  }
  ci = lua_getstack(L, 0, &ar) ? ar.i_ci : NULL;
  return h->top->ci == ci || adopt_unwind(h, L, ci, 0, 0) != NULL;
}

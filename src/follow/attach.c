/*
** See attach.h
*/

#include "follow/attach.h"

#include "follow/instructions.h"
#include "follow/threads.h"


#define ATTACH_MASK	(LUA_MASKCALL | LUA_MASKRET)


int attach_is (const Recorder *r, lua_State *L) {
  return hooks_is(r->hooks, lua_gethook(L));
}


int attach_blind (const Hot *h, const Stack *s) {
  const Functions *fs = &h->recorder->recording.functions;
  const Function *f;
  /* with a filter of lines, functions that have lines may lack a list, too */
  if (!h->crashes || h->recorder->options.include_lines != NULL) return 0;
  f = functions_at(fs, instructions_frame(s)->is.func);
  return f->lines.list == NULL &&
         (f->kind == FUNCTION_LUA || f->kind == FUNCTION_MAIN ||
          f->id == FUNC_TRUNCATED);
}


/*
** Sets a hook of L. That makes Lua's count of instructions start again. Where
** Lua has counted for the same interval before, as for the program's hook, the
** count goes on from where it was.
*/
static void attach_sethook (lua_State *L, lua_Hook f, int mask, int count) {
  int left = lua_gethookcount(L) == count ? internals_left(L) : 0;
  lua_sethook(L, f, mask, count);
  internals_setleft(L, left);
}


/*
** Where Lua's structures are not read, setting a hook makes the program's count
** of instructions start again. So if it counts them, line and count events are
** not turned on and off.
*/
int attach_wantslines (const Hot *h, const Stack *s) {
  if (h->counting.on)
    return s->mask & LUA_MASKCOUNT ||
           instructions_wanted(h, instructions_frame(s));
  if (attach_blind(h, s)) return 0;
  if (!h->somelines || s->mask & (LUA_MASKCOUNT | LUA_MASKLINE))
    return h->lines;
  return s->top->line.at != &h->nowhere;
}


/*
** In mode line, every COUNT_INTERVAL-th instruction is counted, too, but not
** while the program has a hook, which may count instructions itself. Where
** line events are turned on and off, the first interval has a random length,
** as there may be no second one.
*/
static int attach_interval (Hot *h, const Stack *s) {
  if (s->hook != NULL || !h->recorder->options.timed) return 0;
  return h->recounts ? 1 + (int)(random_bits(&h->seed) % COUNT_INTERVAL)
                      : COUNT_INTERVAL;
}


void attach_lines (Recorder *r, Stack *s, int lines) {
  int instructions = r->hot->counting.on;
  int mask = ATTACH_MASK | s->mask
           | (lines && !instructions ? LUA_MASKLINE : 0);
  int count = !lines ? 0 : instructions ? 1 : attach_interval(r->hot, s);
  s->lines = lines;
  if (count > 0) mask |= LUA_MASKCOUNT;
  else count = s->count;
  attach_sethook(s->L, hooks_choose(r->hooks, r->hot, s), mask, count);
}


/*
** After a count event that calls a function, Lua takes the current line for
** a new one. So where there are line events, no count event is asked for:
** the next event is then a line, a call or a return. Nor is one asked for where
** the program's hook counts instructions, since its count would be lost.
*/
void attach_oneshot (lua_State *L, lua_Hook f, int mask) {
  if (mask & (LUA_MASKLINE | LUA_MASKCOUNT))
    attach_sethook(L, f, mask, lua_gethookcount(L));
  else lua_sethook(L, f, mask | LUA_MASKCOUNT, 1);
}


int attach_pending (const Recorder *r, lua_State *L) {
  lua_Hook f = lua_gethook(L);
  int mask = lua_gethookmask(L);
  if (f == r->hooks->pending) return 1;
  if (!hooks_is(r->hooks, f) || hooks_counts(r->hooks, f)) return 0;
  attach_oneshot(L, r->hooks->pending, mask);
  return 1;
}


/*
** A new coroutine inherits the hook of the one that made it, so without a
** stack of its own, L is treated like the current one.
*/
void attach_renew (Recorder *r, lua_State *L) {
  Stack *s = stacks_find(&r->stacks, L);
  Stack like;
  if (s == NULL) {
    like = *r->current;
    like.L = L;
    s = &like;
  }
  attach_lines(r, s, s->lines);
}


void attach_take (Recorder *r, Stack *s) {
  hookswap_block(r->hookswap, s->L);
  hookswap_unblock(r->hookswap);
  if (!attach_is(r, s->L)) {
    int left = internals_left(s->L);
    s->hook = lua_gethook(s->L);
    s->mask = s->hook ? lua_gethookmask(s->L) : 0;
    s->count = lua_gethookcount(s->L);
    s->counts = left > 0 ? s->count - left : 0;
  }
  attach_lines(r, s, attach_wantslines(r->hot, s));
}


Stack *attach_inherited (Recorder *r, lua_State *running, lua_State *co,
                         const Stack *from) {
  Stack *s = threads_stack(r, running, co);
  if (s == NULL) return NULL;
  s->hook = from->hook;
  s->mask = from->mask;
  s->count = from->count;
  s->lines = (lua_gethookmask(co) & LUA_MASKLINE) != 0;
  s->stale = 1;
  return s;
}


void attach_restore (Recorder *r, lua_State *L) {
  Stack *s;
  if (r == NULL || r->state != STATE_RUNNING || recorder_samples(r)) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  s = stacks_find(&r->stacks, L);
  if (s == NULL) attach_renew(r, L);
  else attach_lines(r, s, attach_wantslines(r->hot, s));
}


#if PLATFORM_SIGNALS
int attach_back (Recorder *r, lua_State *L) {
  int running = r != NULL && r->state == STATE_RUNNING && !recorder_samples(r);
  Stack *s = r != NULL ? stacks_find(&r->stacks, L) : NULL;
  lua_Hook other = lua_gethook(L);
  lua_sethook(L, NULL, 0, 0);
  if (s != NULL && !(lua_checkstack(L, 2) && threads_alive(r, L, s)))
    s = NULL;
  if (s == NULL) return !running;
  if (s->hook == other) {  /* 'other' was mistaken for the program's */
    s->hook = NULL;
    s->mask = 0;
  }
  if (running) attach_lines(r, s, attach_wantslines(r->hot, s));
  else lua_sethook(L, s->hook, s->mask, s->count);
  return 1;
}
#endif


/*
** A coroutine without a stack inherited its hook from its creator. It may
** have the address, and so find the stack, of a dead one.
*/
void attach_release (Recorder *r, lua_State *L) {
  const Stack *s = stacks_find(&r->stacks, L);
  if (!attach_is(r, L)) return;
  if (s != NULL && lua_checkstack(L, 2) && !threads_alive(r, L, s)) s = NULL;
  if (s == NULL) s = r->current;
  if (s == NULL) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  attach_sethook(L, s->hook, s->mask, s->count);
  if (r->hot->counting.on && s->L == L)
    internals_setleft(L, s->count - s->counts);
}


void attach_pass (lua_State *L, lua_Debug *ar, int count) {
  lua_Hook hook = lua_gethook(L);
  int event = ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int top = lua_gettop(L);
  if (hook == NULL || !(lua_gethookmask(L) & (1 << event)) ||
      (event == LUA_HOOKCOUNT && lua_gethookcount(L) != count))
    return;
  hook(L, ar);
  lua_settop(L, top);
}


#if PLATFORM_SIGNALS
void attach_setown (Recorder *r, lua_State *L, lua_Hook f, int mask,
                    int count) {
  Stack *s = r != NULL && r->state == STATE_RUNNING && !recorder_samples(r)
               ? stacks_find(&r->stacks, L) : NULL;
  if (s == NULL) return;
  s->hook = f;
  s->mask = f != NULL ? mask : 0;
  s->count = count;
  attach_lines(r, s, attach_wantslines(r->hot, s));
}
#endif


int attach_new (Recorder *r, lua_State *running, lua_State *co) {
  Stack *s;
  if (attach_is(r, co)) return 1;
  s = threads_stack(r, running, co);
  if (s == NULL) return recorder_nomemory(r);
  s->stale = 1;
  attach_take(r, s);
  return 1;
}


/*
** The coroutine that runs is not known, and 'co' may be unable to run code.
** So the main thread, which always exists, does the work, unrecorded.
*/
int attach_host (Recorder *r, lua_State *co) {
  lua_Hook f = lua_gethook(r->main);
  int mask = lua_gethookmask(r->main), count = lua_gethookcount(r->main);
  int done;
  if (attach_is(r, co) || recorder_samples(r)) return 1;
  lua_sethook(r->main, NULL, 0, 0);
  done = attach_new(r, r->main, co);
  lua_sethook(r->main, f, mask, count);
  return done;
}

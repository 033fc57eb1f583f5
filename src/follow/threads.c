/*
** See threads.h
*/

#include "follow/threads.h"


/* its address is the registry key of a weak table: address of L -> thread L */
static const char THREADS = 0;


void threads_init (lua_State *L) {
  lua_newtable(L);
  lua_createtable(L, 0, 1);
  lua_pushliteral(L, "v");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &THREADS);
}


int threads_alive (const Recorder *r, lua_State *running, const Stack *s) {
  int alive;
  if (s->L == r->main) return 1;
  lua_rawgetp(running, LUA_REGISTRYINDEX, &THREADS);
  alive = lua_rawgetp(running, -1, s->L) == LUA_TTHREAD;
  lua_pop(running, 2);
  return alive;
}


/*
** Is 's' an argument of the C function that runs, as of 'coroutine.resume'?
** Then it is alive, and among many coroutines this is known sooner than from
** the table.
*/
static int threads_isargument (const Recorder *r, lua_State *running,
                               const Stack *s) {
  lua_Debug ar;
  return r->hot->direct && lua_tothread(running, 1) == s->L &&
         lua_getstack(running, 0, &ar) && !internals_islua(ar.i_ci);
}


int threads_suspended (const Recorder *r, lua_State *running,
                       const Stack *s) {
  return (threads_isargument(r, running, s) ||
          threads_alive(r, running, s)) && lua_status(s->L) == LUA_YIELD;
}


static int threads_store (lua_State *L) {
  lua_State *thread = lua_tothread(L, 1);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &THREADS);
  lua_pushvalue(L, 1);
  lua_rawsetp(L, -2, thread);
  return 0;
}


/*
** Adds L to the table of threads. If that fails (memory, C stack), the
** coroutine counts as dead as soon as it is left, and its stack is resynced
** when it comes back. If Lua's stack must grow, this may collect garbage.
*/
static void threads_add (lua_State *running, lua_State *L) {
  if (!lua_checkstack(running, 2 + LUA_MINSTACK)) return;
  if (L != running && !lua_checkstack(L, 1)) return;
  lua_pushcfunction(running, threads_store);
  lua_pushthread(L);
  if (L != running) lua_xmove(L, running, 1);
  if (lua_pcall(running, 1, 0, 0) != LUA_OK) lua_pop(running, 1);
}


/* 's' is dead: its calls have ended without a return, if it still has any. */
static void threads_drop (Recorder *r, Stack *s) {
  if (!r->hot->fold) stack_unreturned(s->base, s->top);
  tasks_ended(&r->recording.tasks, s->task, TASK_COLLECTED);
  stacks_remove(&r->stacks, s);
}


void threads_sweep (Recorder *r, lua_State *running) {
  Stack *s = NULL;
  while ((s = stacks_next(&r->stacks, s)) != NULL)
    if (!stack_of(r->current, s->L) && !threads_alive(r, running, s))
      threads_drop(r, s);
  if (r->stacks.sweepat < r->stacks.live * 2)
    r->stacks.sweepat = r->stacks.live * 2;
}


Stack *threads_stack (Recorder *r, lua_State *running, lua_State *L) {
  Stack *s = stacks_find(&r->stacks, L);
  if (s != NULL) {
    if (stack_of(r->current, s->L) || threads_alive(r, running, s)) return s;
    threads_drop(r, s);  /* of a dead coroutine at this address */
  }
  recorder_mute(r);
  if (r->stacks.live >= r->stacks.sweepat) threads_sweep(r, running);
  threads_add(running, L);
  recorder_unmute(r);
  return stacks_add(&r->stacks, L);
}

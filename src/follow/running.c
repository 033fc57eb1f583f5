/*
** See running.h
*/

#include "follow/running.h"

#include <string.h>


#define RUNNING_CHAIN	224	/* no more coroutines can wait for each other */

/* Bytes that are copied. */
#define RUNNING_SLOTS	(2 * RUNNING_VALUE)  /* function and first argument */
#define RUNNING_CLOSURE	(INTERNALS_CLOSURE_UPVALUE + RUNNING_VALUE)


void running_begin (Running *r, lua_State *main, const Library *l) {
  memset(r, 0, sizeof *r);
  r->main = main;
  r->library = *l;
  if (internals_states() == NULL || !probe_open(&r->probe)) return;
  r->shared = internals_state(main);
  r->at = internals_states();
  running_enter(r);
}


void running_end (Running *r) {
  if (r->at != NULL) probe_close(&r->probe);
  r->at = NULL;
}


void running_enter (Running *r) {
  const char here = 0;
  if (r->at == NULL || r->at->jump == 0) return;
  if (&here < r->stack.from || &here >= r->stack.to)
    r->stack = platform_stack();
  /* a stack that a host made, not the thread's: its bounds are unknown */
  if (running_elsewhere(r)) r->stack.to = NULL;
}


int running_elsewhere (const Running *r) {
  const char *at = r->at != NULL ? internals_jump(r->main, r->at) : NULL;
  return at != NULL && r->stack.to != NULL &&
         (at < r->stack.from || at >= r->stack.to);
}


/* Is the C function at the address 'value' the function 'f'? */
static int running_calls (const void *value, lua_CFunction f) {
  const void *address;
  memcpy(&address, &f, sizeof address);
  return value == address;
}


static lua_State *running_state (const void *p) {
  return (lua_State *)(uintptr_t)p;
}


/* Copies bytes. If 'trusted', they can be read; else 0: they cannot. */
static int running_copy (const Running *r, const void *from, void *to,
                         size_t size, int trusted) {
  if (!trusted) return probe_copy(&r->probe, from, to, size);
  memcpy(to, from, size);
  return 1;
}


int running_runs (const Running *r, const void *co) {
  unsigned char bytes[INTERNALS_STATE];
  return probe_copy(&r->probe, co, bytes, sizeof bytes) &&
         bytes[INTERNALS_STATE_TAG] == INTERNALS_OBJECT(INTERNALS_THREAD) &&
         bytes[r->at->status] == LUA_OK &&
         internals_load(bytes, INTERNALS_STATE_GLOBAL) == r->shared &&
         internals_load(bytes, INTERNALS_STATE_CI) !=
           (const char *)co + r->at->base;
}


const void *running_thread (const Running *r, const void *slots,
                            int trusted) {
  unsigned char closure[RUNNING_CLOSURE];
  const void *value = internals_load(slots, 0);
  if (internals_tag(slots, 0) == INTERNALS_C &&
      running_calls(value, r->library.resume))
    return internals_tag(slots, RUNNING_VALUE) == INTERNALS_THREAD
         ? internals_load(slots, RUNNING_VALUE) : NULL;
  if (internals_tag(slots, 0) != INTERNALS_CLOSURE ||
      !running_copy(r, value, closure, sizeof closure, trusted) ||
      !running_calls(internals_load(closure, INTERNALS_CLOSURE_BODY),
                     r->library.wrap) ||
      internals_tag(closure, INTERNALS_CLOSURE_UPVALUE) != INTERNALS_THREAD)
    return NULL;
  return internals_load(closure, INTERNALS_CLOSURE_UPVALUE);
}


/*
** Copies stack slots, beginning with that of the function of 'ci' in L. 0:
** they cannot be read, or are not in L's stack.
*/
static int running_slots (const Running *r, const lua_State *L,
                          CallAddress ci, void *to, size_t size,
                          int trusted) {
  const char *slot = cast(const char *, internals_load(ci,
                                                       INTERNALS_CI_FUNC));
  return slot >= cast(const char *, internals_load(L, r->at->stack)) &&
         slot < cast(const char *, internals_load(L, r->at->stack - 8)) &&
         running_copy(r, slot, to, size, trusted);
}


/* The coroutine that the current function of L resumes; NULL: none. */
static lua_State *running_first (const Running *r, const lua_State *L,
                                 int trusted) {
  unsigned char slots[RUNNING_SLOTS];
  CallAddress ci = internals_running(L);
  if (!internals_maybec(ci, r->at) ||
      !running_slots(r, L, ci, slots, sizeof slots, trusted))
    return NULL;
  return running_state(running_thread(r, slots, trusted));
}


/* The coroutine that L has resumed, if that really runs; or NULL. */
static lua_State *running_resumed (const Running *r, const lua_State *L) {
  lua_State *co = running_first(r, L, 0);
  return co != NULL && co != L && running_runs(r, co) ? co : NULL;
}


lua_State *running_awaited (const Running *r, const lua_State *L) {
  lua_State *co = running_first(r, L, 1);
  return co != L ? co : NULL;
}


int running_is (const Running *r, const lua_State *L) {
  return L == r->main || (r->at != NULL && running_runs(r, L));
}


lua_State *running_find (const Running *r) {
  lua_State *L = r->main, *co;
  int i = 0;
  if (r->at == NULL) return L;
  while (++i < RUNNING_CHAIN && (co = running_resumed(r, L)) != NULL) L = co;
  return L;
}


void running_look (const Running *r, const lua_State *L, RunningTop *top) {
  unsigned char slot[RUNNING_VALUE];
  CallAddress ci;
  top->L = NULL;
  if (r->at == NULL) return;
  ci = internals_running(L);
  if ((r->at->c != 0 && internals_maybec(ci, r->at)) ||
      internals_isbase(ci) ||
      !running_slots(r, L, ci, slot, sizeof slot, 0) ||
      internals_tag(slot, 0) != INTERNALS_LUA)
    return;
  top->ci = ci;
  top->closure = internals_load(slot, 0);
  top->pc = internals_load(ci, INTERNALS_CI_PC);
  top->stack = internals_load(L, r->at->stack);
  top->end = internals_load(L, r->at->stack - 8);
  top->L = L;
}


const void *running_replaced (const Running *r, const RunningTop *top,
                              const lua_State *L, CallAddress ci) {
  unsigned char closure[RUNNING_CLOSURE];
  if (r->at == NULL || top->L != L || top->ci != ci ||
      !internals_islua(ci) ||
      top->stack != internals_load(L, r->at->stack) ||
      top->end != internals_load(L, r->at->stack - 8) ||
      !probe_copy(&r->probe, top->closure, closure, INTERNALS_CLOSURE_BODY) ||
      closure[INTERNALS_STATE_TAG] != INTERNALS_OBJECT(INTERNALS_LUA))
    return NULL;
  return top->closure;
}

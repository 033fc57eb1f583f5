/*
** See interrupt.h
*/

#include "interrupt.h"

#include <signal.h>

#include <lauxlib.h>

#include "hook.h"


/* runs in place of the recorder's hook, at the next instruction */
static void interrupt_raise (lua_State *L, lua_Debug *ar) {
  (void)ar;
  hook_restore(recording_get(L), L);
  luaL_error(L, "interrupted!");
}


/* a hook is all that can be set at any time */
static void interrupt_signal (int number) {
  const Recording *r = recording_hot->recording;
  lua_State *L = recording_hot->L;
  if (r == NULL) {  /* a thread that records nothing, or no longer */
    raise(number);
    return;
  }
  if (L == NULL)
    L = r->state == STATE_RUNNING ? r->current->L : r->main;
  lua_sethook(L, interrupt_raise, LUA_MASKCALL | LUA_MASKRET |
              LUA_MASKLINE | LUA_MASKCOUNT, 1);
}


void interrupt_once (void) {
  platform_interrupt(interrupt_signal);
}

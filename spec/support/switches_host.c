/*
** Which events of switches between coroutines are timed, and as what. Prints
** the kinds of these events: a return in a coroutine that the last one has
** resumed; a return in the one that had resumed the last one, which has
** yielded; the same, but the last one has ended; the first call in a coroutine.
*/

#include <stdio.h>

#include "record/hook.c"


int main (void) {
  static Recorder r;
  static Hot h;
  static Stack resumer, coroutine;
  int kinds[4];
  h.recorder = &r;
  coroutine.base = coroutine.top = coroutine.first;
  resumer.base = resumer.top = resumer.first;
  coroutine.top++;
  coroutine.resumer = &resumer;
  r.current = &coroutine;
  kinds[0] = hook_switchkind(&h, LUA_HOOKRET, &resumer);
  kinds[3] = hook_switchkind(&h, LUA_HOOKCALL, &resumer);
  r.current = &resumer;
  coroutine.resumer = NULL;
  kinds[1] = hook_switchkind(&h, LUA_HOOKRET, &coroutine);
  coroutine.top--;
  kinds[2] = hook_switchkind(&h, LUA_HOOKRET, &coroutine);
  printf("%d %d %d %d\n", kinds[0] == EVENT_ENTER, kinds[1] == EVENT_LEAVE,
         kinds[2] == EVENT_KINDS, kinds[3] == EVENT_KINDS);
  return 0;
}

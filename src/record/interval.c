/*
** See interval.h
*/

#include "record/interval.h"

#include "follow/attach.h"


void interval_begin (Recorder *r) {
  uint64_t every = r->options.every;
  r->hot->due = every != 0 ? platform_monotonic() + every : 0;
}


static int interval_over (const Hot *h) {
  return h->due != 0 && platform_monotonic() >= h->due;
}


void interval_end (Recorder *r, lua_State *L) {
  if (r->state != STATE_RUNNING || r->callback ||
      r->options.elapsed == NULL || !interval_over(r->hot))
    return;
  interval_begin(r);
  recorder_mute(r);
  r->options.elapsed(L);
  recorder_unmute(r);
  r->lates = 0;
}


/*
** Passes the event to the recorder's own hook first, so that it is recorded.
*/
void interval_event (lua_State *L, lua_Debug *ar) {
  Recorder *r = recorder_get(L);
  int count = lua_gethookcount(L);
  attach_restore(r, L);
  attach_pass(L, ar, count);
  if (r != NULL) interval_end(r, L);
}


void interval_check (const Hot *h, lua_State *L) {
  if (!interval_over(h)) return;
  attach_oneshot(L, interval_event,
                 lua_gethookmask(L) | LUA_MASKCALL | LUA_MASKRET);
}

/*
** See callback.h
*/

#include "record/callback.h"

#include "heap/nogc.h"


lua_State *callback_begin (Recorder *r, Callback c) {
  lua_State *running = r->hot->L;
  r->callback = c;
  r->hot->L = NULL;
  return running;
}


int callback_end (Recorder *r, lua_State *running) {
  r->callback = CALLBACK_NONE;
  if (!recorder_running(r)) return 0;
  r->hot->L = running;
  return 1;
}


lua_State *callback_filter (Recorder *r, lua_State *L) {
  if (nogc_begin(r, L)) r->hot->deferred = 1;
  return callback_begin(r, CALLBACK_FILTER);
}

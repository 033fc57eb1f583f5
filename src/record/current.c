/*
** See current.h
*/

#include "record/current.h"

#include "sample/sample.h"


int current_begin (Recorder *r) {
  Library library;
  if (r->following.main == NULL) {
    if (!library_find(&library, &r->recording.memory)) return 0;
    running_begin(&r->following, r->main, &library);
  }
  else running_enter(&r->following);
  r->hot->recorder = r;
  hot_enter(r->hot);
  return 1;
}


/* The coroutine that was recorded last; it may be gone. */
static lua_State *current_recorded (const Recorder *r) {
  if (r->hot->L != NULL || r->state != STATE_RUNNING) return r->hot->L;
  return r->current->L;  /* a callback runs in it */
}


lua_State *current_find (Recorder *r) {
  const Running *x = &r->following;
  lua_State *L;
  if (running_elsewhere(x)) return NULL;
  if (r->state == STATE_RUNNING && recorder_samples(r))
    return sample_current(r);
  L = current_recorded(r);
  if (L != NULL && (x->at == NULL || running_is(x, L))) return L;
  return x->main != NULL ? running_find(x) : NULL;
}

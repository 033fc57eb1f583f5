/*
** See life.h
*/

#include "record/life.h"

#include <stdlib.h>

#include "follow/threads.h"
#include "heap/allocations.h"
#include "record/begin.h"
#include "record/control.h"
#include "record/hook.h"
#include "sample/sample.h"


/* The state is closed while it is recorded: completes the store. */
static void life_close (Recorder *r, lua_State *L) {
  if (r->store == NULL || !recorder_active(r)) return;
  if (!recorder_samples(r)) recorder_skip(r);
  control_charge(r);
  recorder_setstate(r, STATE_STOPPED);
  r->store->finish(r->store, r, L);
}


/* the __gc of the box */
static int life_gc (lua_State *L) {
  Recorder **box = cast(Recorder **, lua_touserdata(L, 1));
  Recorder *r = *box;
  if (r == NULL) return 0;
  life_close(r, L);
  allocations_end(r, L);
  *box = NULL;
  recorder_setstate(r, STATE_STOPPED);
  sample_free(r);
  begin_free(r);
  if (r->hot != NULL) hot_free(r->hot);
  running_end(&r->following);
  free(r->core);
  free(r);
  return 0;
}


Recorder *life_recorder (lua_State *L) {
  Recorder *r = recorder_get(L);
  if (r != NULL) return r;
  threads_init(L);
  return recorder_new(L, hook_functions(), life_gc);
}

/*
** See samplehook.h
*/

#include "record/samplehook.h"

#include "record/control.h"
#include "record/interval.h"
#include "sample/sample.h"


static void samplehook_due (Recorder *r, lua_State *L, lua_Debug *ar) {
  const Recorder *running = control_recorder(L);
  sample_due(r, running != NULL && recorder_samples(running), L, ar);
}


/* The program's own hook is called last, as it may yield. */
static void samplehook_event (lua_State *L, lua_Debug *ar) {
  Recorder *r = recorder_get(L);
  HookSwap *x = r != NULL ? r->hookswap : NULL;
  lua_Hook own;
  if (x == NULL) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  sample_follow(r);
  x->busy++;
  /* a signal may have set another one just now */
  own = hookswap_is(x, lua_gethook(L)) ? hookswap_restore(x, L, ar) : NULL;
  samplehook_due(r, L, ar);
  r = recorder_get(L);
  hookswap_unblock(x);
  if (r != NULL && recorder_samples(r)) interval_end(r, L);
  if (own != NULL) own(L, ar);
}


#if PLATFORM_SIGNALS
void samplehook_unblock (Recorder *r, lua_State *L, lua_Debug *ar) {
  if (r->hookswap == NULL) return;
  r->hookswap->busy++;
  samplehook_due(r, L, ar);
  sample_unblock(r);
  hookswap_unblock(r->hookswap);
}
#endif


void samplehook_alone (lua_State *L, lua_Debug *ar) {
  samplehook_event(L, ar);
}


#define SAMPLEHOOK_DEFINE(i) \
void samplehook_chained##i (lua_State *L, lua_Debug *ar) { \
  samplehook_event(L, ar); \
}

SAMPLEHOOKS(SAMPLEHOOK_DEFINE)

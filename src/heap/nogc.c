/*
** See nogc.h
*/

#include "heap/nogc.h"

#include "heap/allocations.h"
#include "identity/collection.h"


#if LUA_VERSION_NUM == 504

/*
** LUA_GCRESTART lets a collection begin at the next allocation, whatever
** was left until then. LUA_GCSTEP adds KBytes to what is left, of either
** sign, and collects at once where nothing is left. Where memory has 32
** bits, so has their sum.
*/
#define NOGC_AHEAD	(sizeof(size_t) < 8 ? 1 << 18 : 1 << 20)

static void nogc_hold (lua_State *L) {
  lua_gc(L, LUA_GCSTEP, -NOGC_AHEAD);
}

/* A collector that was stopped meanwhile begins anew when restarted. */
static void nogc_free (lua_State *L) {
  if (lua_gc(L, LUA_GCISRUNNING) > 0) lua_gc(L, LUA_GCSTEP, NOGC_AHEAD);
}

#else

static void nogc_hold (lua_State *L) {
  lua_gc(L, LUA_GCSTOP);
}

static void nogc_free (lua_State *L) {
  lua_gc(L, LUA_GCRESTART);
}

#endif


/* Within a finalizer, the answer is 0 or, from Lua 5.4.4 on, -1. */
int nogc_begin (Recorder *r, lua_State *L) {
  if (r->nogc || lua_gc(L, LUA_GCISRUNNING) <= 0) return 0;
  r->nogc = 1;
  r->nogc_cycle = collection_now(L);
  if (r->allocations != NULL) collector_freeze(&r->allocations->collector);
  nogc_hold(L);
  return 1;
}


/*
** A collection that was asked for meanwhile, or that memory needed, has
** determined anew when the next one comes.
*/
void nogc_end (Recorder *r, lua_State *L) {
  int same = LUA_VERSION_NUM != 504 || collection_now(L) == r->nogc_cycle;
  r->nogc = 0;
  if (same) nogc_free(L);
  if (r->allocations != NULL)
    collector_thaw(&r->allocations->collector, same);
}


void nogc_deferred (Recorder *r, lua_State *L) {
  if (r->callback != CALLBACK_NONE) return;
  r->hot->deferred = 0;
  nogc_end(r, L);
}

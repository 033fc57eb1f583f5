/*
** See nogc.h
*/

#include "heap/nogc.h"

#include "heap/allocations.h"
#include "identity/collection.h"


#if LUA_VERSION_NUM == 504

/*
** LUA_GCRESTART would let a collection begin at the next allocation,
** whatever the debt was. LUA_GCSTEP changes the debt by KBytes of either
** sign, and collects at once if the debt is then above 0. In 32-bit
** programs the debt has 32 bits, so the KBytes are fewer there.
*/
#define NOGC_AHEAD	(sizeof(size_t) < 8 ? 1 << 18 : 1 << 20)

static void nogc_hold (lua_State *L) {
  lua_gc(L, LUA_GCSTEP, -NOGC_AHEAD);
}

/*
** The KBytes to add to the debt. With what cprof itself has allocated, it may
** get above 0, and Lua would make a step now, whose time would count as
** overhead or, if it came soon after, as time of the program's function. If the
** collector is driven, the step becomes due, and is made at the next event.
*/
static int nogc_back (const Collector *c) {
  if (c == NULL || !c->on || c->held == 0 ||
      *c->debt + (int64_t)NOGC_AHEAD * 1024 + c->held <= 0)
    return NOGC_AHEAD;
  return (int)((-*c->debt - c->held) / 1024 + 1);
}


/*
** If the program has stopped the collector meanwhile, there is nothing to undo:
** a restart sets the debt.
*/
static void nogc_free (lua_State *L, const Collector *c) {
  if (lua_gc(L, LUA_GCISRUNNING) > 0) lua_gc(L, LUA_GCSTEP, nogc_back(c));
}

#else

static void nogc_hold (lua_State *L) {
  lua_gc(L, LUA_GCSTOP);
}

static void nogc_free (lua_State *L, const Collector *c) {
  (void)c;
  lua_gc(L, LUA_GCRESTART);
}

#endif


/* LUA_GCISRUNNING gives 0 in a finalizer, or -1 from Lua 5.4.4 on. */
int nogc_begin (Recorder *r, lua_State *L) {
  if (r->nogc || lua_gc(L, LUA_GCISRUNNING) <= 0) return 0;
  r->nogc = 1;
  r->nogc_cycle = collection_now(L);
  if (r->allocations != NULL) collector_freeze(&r->allocations->collector);
  nogc_hold(L);
  return 1;
}


/*
** If a collection has run meanwhile, because the program asked for it or
** memory ran out, it has set the debt anew, and there is nothing to undo.
*/
void nogc_end (Recorder *r, lua_State *L) {
  int same = LUA_VERSION_NUM != 504 || collection_now(L) == r->nogc_cycle;
  Collector *c = r->allocations != NULL ? &r->allocations->collector : NULL;
  r->nogc = 0;
  if (same) nogc_free(L, c);
  if (c != NULL) collector_thaw(c, same);
}


void nogc_deferred (Recorder *r, lua_State *L) {
  if (r->callback != CALLBACK_NONE) return;
  r->hot->deferred = 0;
  nogc_end(r, L);
}

/*
** See lslow.h
*/

#include "lua/lslow.h"

#include <string.h>

#include "follow/hot.h"
#include "lua/entry.h"
#include "lua/lfunction.h"
#include "lua/ltable.h"
#include "lua/parts.h"


/* address: key in the registry, of the function */
static const char SLOW = 0;


static uint64_t slow_ns (lua_State *L, const char *name) {
  lua_Number n;
  lua_getfield(L, 1, name);
  n = lua_tonumber(L, -1) * 1e9;
  lua_pop(L, 1);
  return n >= 1 && n < 1e18 ? (uint64_t)n : 0;
}


void lslow_options (lua_State *L) {
  SlowCalls *c = &lstate_get(L)->slow;
  c->zone_ns = slow_ns(L, "slow_zone");
  c->frame_ns = slow_ns(L, "slow_frame");
  c->own = 0;
  memset(c->frame, 0, sizeof c->frame);
  lua_getfield(L, 1, "slow");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &SLOW);
}


/* The recorder, if it keeps the last seconds, and something has a budget. */
static Recorder *slow_recorder (lua_State *L, uint64_t budget) {
  Recorder *r = budget > 0 ? recorder_get(L) : NULL;
  return r != NULL && r->state == STATE_RUNNING && !r->callback &&
         (recorder_samples(r) || r->hot->ring != NULL) ? r : NULL;
}


int lslow_wants (lua_State *L) {
  return recorder_get(L) != NULL &&  /* NULL: the state is being closed */
         slow_recorder(L, lstate_get(L)->slow.zone_ns) != NULL;
}


static void slow_mark (const SlowCalls *c, const Recorder *r, SlowMark *m) {
  m->epoch = r->hot->epoch;
  m->own = c->own;
  m->begun = hot_now(r->hot);
}


SlowMark lslow_begin (lua_State *L) {
  const SlowCalls *c = &lstate_get(L)->slow;
  const Recorder *r = slow_recorder(L, c->zone_ns);
  SlowMark m = ZEROS;
  if (r != NULL) slow_mark(c, r, &m);
  return m;
}


/*
** name of a zone, or a frame's as light userdata, ns, ns since the recording
** began ->
*/
static int slow_tell (lua_State *L) {
  const char *frame = cast(const char *, lua_touserdata(L, 1));
  if (frame != NULL) {
    lua_pushstring(L, *frame != '\0' ? frame : NULL);
    lua_replace(L, 1);
  }
  lua_pushboolean(L, frame != NULL);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &SLOW);
  lua_insert(L, 1);
  lua_call(L, 4, 0);
  return 0;
}


/*
** If the zone or frame that began at 'm' took longer than 'budget', tells the
** Lua part. Earlier calls of the Lua part do not count as its time. Errors of
** the Lua part are ignored: they are the profiler's, not the program's. 'frame'
** is the name of a frame; NULL: it is a zone, whose name is at 'name'.
*/
static void slow_end (lua_State *L, Recorder *r, SlowCalls *c,
                      const SlowMark *m, uint64_t budget, int name,
                      const char *frame) {
  uint64_t now = hot_now(r->hot), took = now - m->begun - (c->own - m->own);
  uint64_t ns;
  Scale s;
  /* measuring the rate anew takes microseconds: only near the budget */
  if (took > INT64_MAX || clock_ns(r->hot->scale, took) < budget / 8 * 7)
    return;
  s = clock_scale(&r->recording.clock, 0);
  ns = clock_ns(s, took);
  if (ns <= budget || !lua_checkstack(L, LUA_MINSTACK)) return;
  lua_pushcfunction(L, slow_tell);
  if (frame == NULL) lua_pushvalue(L, name);
  else lua_pushlightuserdata(L, (void *)frame);  /* needs no memory */
  lua_pushinteger(L, (lua_Integer)ns);
  lua_pushinteger(L, (lua_Integer)clock_ns(s,
                     now - r->recording.figures->begun));
  if (entry_pcall(L, 3, 0) != LUA_OK) lua_pop(L, 1);
  c->own += hot_now(r->hot) - now;
}


void lslow_zone (lua_State *L, const SlowMark *m, int name) {
  SlowCalls *c;
  Recorder *r;
  if (recorder_get(L) == NULL) return;
  c = &lstate_get(L)->slow;
  r = slow_recorder(L, c->zone_ns);
  if (r != NULL && m->begun != 0 && m->epoch == r->hot->epoch)
    slow_end(L, r, c, m, c->zone_ns, name, NULL);
}


void lslow_frame (lua_State *L, const char *name, uint32_t loop) {
  SlowCalls *c = &lstate_get(L)->slow;
  SlowMark *m = &c->frame[loop];
  uint64_t budget = c->frame_ns;
  Recorder *r;
  if (*name != '\0' && c->zone_ns > 0 &&  /* its name may have a budget */
      (budget == 0 || c->zone_ns < budget))
    budget = c->zone_ns;
  r = slow_recorder(L, budget);
  if (r == NULL) return;
  if (m->begun != 0 && m->epoch == r->hot->epoch)
    slow_end(L, r, c, m, budget, 0, name);
  slow_mark(c, r, m);
}


#if CPROF_WHOLE

/*
** -> { function, ns, ns since the recording began, further ns in which other
** programs had the processor; function, ... }: the calls that took longer than
** the least budget, since the last time that this was asked
*/
static int slow_calls (lua_State *L) {
  Recorder *r = lstate_recorder(L);
  lua_Integer at = 0;
  uint32_t n = r->lates, i;
  Scale s;
  lua_createtable(L, (int)n * 4, 0);
  if (n == 0) return 1;
  s = clock_scale(&r->recording.clock, 0);
  for (i = 0; i < n; i++) {
    const LateCall *late = &r->late[i];
    const Functions *fs = &r->recording.functions;
    lfunction_push(L, fs, functions_at(fs, late->func));
    ltable_setinteger(L, "key", late->func);
    lua_rawseti(L, -2, ++at);
    ltable_put(L, &at, (lua_Integer)clock_ns(s, late->took));
    ltable_put(L, &at, (lua_Integer)clock_ns(s, late->ended));
    ltable_put(L, &at, (lua_Integer)clock_ns(s, late->preempted));
  }
  return 1;
}


/* -> ns since the recording began; nil: nothing is being recorded */
static int slow_now (lua_State *L) {
  const Recorder *r = recorder_get(L);
  if (r == NULL || r->state == STATE_STOPPED) return 0;
  lua_pushinteger(L, (lua_Integer)clock_ns(r->hot->scale,
                     hot_now(r->hot) - r->recording.figures->begun));
  return 1;
}


void lslow_open (lua_State *L) {
  static const luaL_Reg list[] = {
    {"slow_calls", slow_calls},
    {"slow_now", slow_now},
    {NULL, NULL}
  };
  luaL_setfuncs(L, list, 0);
}

#endif

/*
** See entry.h
*/

#include "lua/entry.h"

#include <string.h>

#include "lua/parts.h"
#include "lua/lstate.h"
#include "record/control.h"
#include "system/listen.h"
#include "system/signals.h"


/* {======================================================
** The program's hook
** ======================================================= */

int entry_puthook (const SavedHook *own, lua_State *L) {
  SavedHook pending;
  savedhook_save(&pending, L);
  savedhook_set(own, L);
  if (pending.hook == NULL) return 0;
#if PLATFORM_SIGNALS && CPROF_WHOLE
  if (signals_again(L, pending.hook) || listen_pending(L, pending.hook))
    return 1;
#endif
  savedhook_set(&pending, L);
  return 1;
}

/* }====================================================== */


/*
** Begins an entry in L, the coroutine that runs; it must end there, too. A
** nested entry has no effect.
*/
static void entry_begin (Entry *e, lua_State *L) {
  Recorder *r = recorder_get(L);
  memset(e, 0, sizeof *e);
  if (r == NULL || r->callback) return;  /* in a callback, there is no hook */
  e->L = L;
  e->suspended = r->state == STATE_RUNNING && control_pause(r, L, 1);
  e->left = internals_left(L);
  if (lua_gethook(L) != NULL) savedhook_take(&e->own, L);
}


/*
** Restores the hook, outside of a recording. A finalizer or a signal may have
** begun one during the entry, with our hook, which is then removed first.
*/
static void entry_leave (Entry *e, lua_State *L, Recorder *r) {
  if (r->state == STATE_RUNNING && control_pause(r, L, 1)) e->suspended = 1;
  if (entry_puthook(&e->own, L)) e->left = 0;  /* it counts for another hook */
  e->own.hook = NULL;
}


/*
** Ends an entry. Called in another coroutine than it began in, as that is
** gone, it restores no hook. If the program has paused the recording during
** the entry, that stays paused.
*/
static void entry_end (Entry *e, lua_State *L) {
  Recorder *r = recorder_get(L);
  lua_State *begun = e->L;
  e->L = NULL;
  if (begun == NULL || r == NULL) return;
  if (begun == L && e->own.hook != NULL) entry_leave(e, L, r);
  if (begun == L) internals_setleft(L, e->left);
  if (e->suspended && r->own_pause) control_resume(r, L);
}


int entry_pcall (lua_State *L, int arguments, int results) {
  Entry e;
  int status;
  entry_begin(&e, L);
  status = lua_pcall(L, arguments, results, 0);
  entry_end(&e, L);
  return status;
}


int entry_ask (lua_State *L, int arguments, int results) {
  int left = internals_left(L);
  int status = lua_pcall(L, arguments, results, 0);
  internals_setleft(L, left);
  return status;
}


#if CPROF_WHOLE

/* {======================================================
** For the Lua part
** ======================================================= */

#define ENTRY	"cprof.entry"

static Entry *entry_check (lua_State *L) {
  return cast(Entry *, luaL_checkudata(L, 1, ENTRY));
}


/* -> entry */
static int entry_make (lua_State *L) {
  Entry *e = cast(Entry *, lua_newuserdatauv(L, sizeof *e, 1));
  memset(e, 0, sizeof *e);
  luaL_setmetatable(L, ENTRY);
  return 1;
}


/* Pushes an entry, whose memory is not counted as the program's. */
static Entry *entry_push (lua_State *L) {
  Recorder *r = recorder_get(L);
  int status;
  lua_pushcfunction(L, entry_make);
  if (r != NULL) recorder_mute(r);
  status = lua_pcall(L, 0, 1, 0);
  if (r != NULL) recorder_unmute(r);
  if (status != LUA_OK) lua_error(L);
  return cast(Entry *, lua_touserdata(L, -1));
}


/* list of metatables or nil -> entry, for a to-be-closed variable */
static int entry_new (lua_State *L) {
  Entry *e;
  lua_settop(L, 1);
  e = entry_push(L);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, 2, 1);
  entry_begin(e, L);
  if (lua_isnil(L, 1)) return 1;
  lua_pushcfunction(L, metatables_set);
  lua_pushvalue(L, 1);
  lua_call(L, 1, 0);
  return 1;
}


/* entry or nil -> boolean: has it begun in this coroutine, and not ended? */
static int entry_isopen (lua_State *L) {
  const Entry *e = lua_isnil(L, 1) ? NULL : entry_check(L);
  lua_pushboolean(L, e != NULL && e->L == L);
  return 1;
}


static int entry_close (lua_State *L) {
  entry_end(entry_check(L), L);
  lua_settop(L, 1);
  if (lua_getiuservalue(L, 1, 1) != LUA_TTABLE) return 0;
  lua_replace(L, 1);
  return metatables_restore(L);
}

/* }====================================================== */


static const luaL_Reg entry_list[] = {
  {"entry", entry_new},
  {"entry_isopen", entry_isopen},
  {NULL, NULL}
};

static const luaL_Reg entry_methods[] = {
  {"__close", entry_close},
  {"__gc", entry_close},
  {NULL, NULL}
};

void entry_open (lua_State *L) {
  lstate_internal(L, entry_make);
  lstate_class(L, ENTRY, entry_methods);
  luaL_setfuncs(L, entry_list, 0);
}

#endif

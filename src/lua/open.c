/*
** Opens "cprof.core", the module that the Lua part requires.
*/

#include "cprof.h"

#include "base/release.h"
#include "lua/lstate.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "system/system.h"


static void (*const open_parts[]) (lua_State *L) = {
#if !CPROF_WHOLE
  lcore_open, lzone_open, lfile_open
#else
  lcore_open, lzone_open, lmemory_open, laxis_open, lprofile_open,
  lnodes_open, lhistory_open, lcallgraph_open, lrebuild_open, lslow_open,
  lcallees_open,
  lfile_open, lsave_open, lhook_open, metatables_open, entry_open, texts_open,
  system_open, folder_open
#if PLATFORM_WATCH
  , lremote_open, lnative_open, loutside_open, loutsideprofile_open
#endif
#if PLATFORM_SIGNALS
  , signals_open, listen_open, private_open, console_open, child_open
#endif
#endif
};

#define PARTS	(sizeof open_parts / sizeof *open_parts)


/* The functions in the table on top count as the profiler's own. */
static void open_internal (lua_State *L) {
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
    if (lua_iscfunction(L, -1)) lstate_internal(L, lua_tocfunction(L, -1));
}


/*
** Another minor version of Lua has even other pseudo-indices. So this check
** comes before all else.
*/
static void open_checkversion (lua_State *L) {
  int version = (int)lua_version(L);
  if (version != LUA_VERSION_NUM)
    luaL_error(L, "cprof was built for " LUA_VERSION ", and this is Lua "
               "%d.%d; build it for that", version / 100, version % 100);
}


#if CPROF_WHOLE
/* A host that opens 'package' alone does not even have 'error'. */
static void open_checkbase (lua_State *L) {
  lua_pushglobaltable(L);
  lua_pushliteral(L, "next");
  if (lua_rawget(L, -2) != LUA_TFUNCTION)
    luaL_error(L, "cprof needs Lua's basic functions: open them "
               "(luaopen_base or luaL_openlibs); a program may remove them "
               "once cprof is loaded");
  lua_pop(L, 2);
}
#endif


int luaopen_cprof_core (lua_State *L) {
  size_t i, length;
  const char *release;
  open_checkversion(L);
#if CPROF_WHOLE
  open_checkbase(L);
  lstate_internal(L, system_say);
#endif
  (void)lstate_get(L);
  luaL_checkversion(L);
  lua_newtable(L);
  for (i = 0; i < PARTS; i++) open_parts[i](L);
  open_internal(L);
  lua_pushliteral(L, CPROF_VERSION);
  lua_setfield(L, -2, "version");
  release = release_text(&length);
  ltable_setbytes(L, "release", release, length);
  ltable_setflag(L, "signals", PLATFORM_SIGNALS);
  return 1;
}

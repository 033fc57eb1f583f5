/*
** See child.h, console.h, listen.h, private.h and signals.h: their functions
** for systems without signals. Most only say why they cannot work.
*/

#include "lua/child.h"
#include "lua/console.h"
#include "lua/listen.h"
#include "lua/private.h"
#include "lua/signals.h"

#if !PLATFORM_SIGNALS

#include <direct.h>
#include <errno.h>
#include <stdlib.h>


static int windows_fail (lua_State *L, const char *why) {
  lua_pushnil(L);
  lua_pushstring(L, why);
  return 2;
}


/* ... -> nil */
static int windows_none (lua_State *L) {
  lua_pushnil(L);
  return 1;
}


/* ... -> : there is nothing to do */
static int windows_nothing (lua_State *L) {
  (void)L;
  return 0;
}


/* {======================================================
** Programs and terminals
** ======================================================= */

static int windows_spawn (lua_State *L) {
  return windows_fail(L, "cprof starts no programs on Windows: "
                      "use cprof run, and name its file");
}


static const luaL_Reg windows_child[] = {
  {"spawn", windows_spawn},
  {"status", windows_none},
  {"signal_child", windows_nothing},
  {"share_signals", windows_nothing},
  {"closed_by_exec", windows_nothing},
  {NULL, NULL}
};

const luaL_Reg *child_functions (void) {
  return windows_child;
}


static int windows_console (lua_State *L) {
  return windows_fail(L, "cprof cannot read single keys on Windows");
}


static const luaL_Reg windows_console_list[] = {
  {"console_open", windows_console},
  {"console_close", windows_nothing},
  {"console_keys", windows_none},
  {"console_suspend", windows_nothing},
  {"console_write", windows_nothing},
  {NULL, NULL}
};

const luaL_Reg *console_functions (void) {
  return windows_console_list;
}

/* }====================================================== */


/* {======================================================
** Signals. Ctrl-C ends a program as it does without cprof; what was
** recorded into a file stays.
** ======================================================= */

static int windows_zero (lua_State *L) {
  lua_pushinteger(L, 0);
  return 1;
}


static const luaL_Reg windows_listen_list[] = {
  {"alarm", windows_nothing},
  {"unlisten", windows_zero},
  {"listening", windows_zero},
  {NULL, NULL}
};

const luaL_Reg *listen_functions (void) {
  return windows_listen_list;
}


void listen_open (lua_State *L) {
  (void)L;
}


static const luaL_Reg windows_signals[] = {
  {"interruptible", windows_nothing},
  {"onkill", windows_nothing},
  {NULL, NULL}
};

const luaL_Reg *signals_functions (void) {
  return windows_signals;
}

/* }====================================================== */


/* {======================================================
** Files of one user. This does not find out who else may write to a file, so
** it trusts no file that others may have left.
** ======================================================= */

/* -> a folder among the user's own, for recordings without a name */
static int windows_folder (lua_State *L) {
  const char *own = getenv("LOCALAPPDATA");
  if (own == NULL || *own == '\0') return 0;
  lua_pushfstring(L, "%s/cprof", own);
  if (_mkdir(lua_tostring(L, -1)) != 0 && errno != EEXIST) return 0;
  return 1;
}


static int windows_folders (lua_State *L) {
  lua_newtable(L);
  return 1;
}


static int windows_own (lua_State *L) {
  return windows_fail(L, "cprof cannot tell on Windows who may write to a "
                      "file");
}


static int windows_signal (lua_State *L) {
  return windows_fail(L, "Windows has no signals");
}


static const luaL_Reg windows_private[] = {
  {"folder", windows_folder},
  {"folders", windows_folders},
  {"isown", windows_own},
  {"private_read", windows_none},
  {"private_write", windows_own},
  {"hold", windows_own},
  {"keep_held", windows_nothing},
  {"holder", windows_none},
  {"signalnumber", windows_none},
  {"signal", windows_signal},
  {"owner", windows_none},
  {NULL, NULL}
};

const luaL_Reg *private_functions (void) {
  return windows_private;
}


void private_open (lua_State *L) {
  (void)L;
}

/* }====================================================== */

#endif

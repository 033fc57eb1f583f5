/*
** A program's hook has replaced the hook of a first signal. A second signal comes
** while that hook is set again: after it was found that the program has a hook,
** and before that hook is saved (by the linker's --wrap). Prints how often the
** program's hook was called afterwards.
*/

#define _POSIX_C_SOURCE 200112L

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cprof.h"

#include <lauxlib.h>
#include <lualib.h>


lua_Hook __real_lua_gethook (lua_State *L);
lua_Hook __wrap_lua_gethook (lua_State *L);

static int calls, reads = -1;


static void own_hook (lua_State *L, lua_Debug *ar) {
  (void)L; (void)ar;
  calls++;
}


lua_Hook __wrap_lua_gethook (lua_State *L) {
  if (reads >= 0 && reads++ == 1) kill(getpid(), SIGURG);
  return __real_lua_gethook(L);
}


int main (void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  if (cprof_open(L) != LUA_OK || cprof_listen(L) != LUA_OK) {
    puts(lua_tostring(L, -1));
    return 1;
  }
  kill(getpid(), SIGURG);
  lua_sethook(L, own_hook, LUA_MASKCALL, 0);
  reads = 0;
  cprof_thread(L);
  reads = -1;
  if (luaL_dostring(L, "for i = 1, 10 do type(i) end")) return 1;
  puts(calls >= 9 ? "called" : "not called");
  lua_close(L);
  return 0;
}

#include <stdio.h>
#include <string.h>

#include "cprof.h"  /* includes lua.h, also for C++ */

#ifdef __cplusplus
#include <lua.hpp>
#else
#include <lauxlib.h>
#include <lualib.h>
#endif

static int print (lua_State *L, const void *text, size_t size, void *file) {
  (void)L;
  return fwrite(text, 1, size, (FILE *)file) != size;
}

/* host [--profile] script.lua */
int main (int argc, char **argv) {
  int profile = argc > 1 && strcmp(argv[1], "--profile") == 0;
  const char *script = argc > 1 + profile ? argv[1 + profile] : NULL;
  lua_State *L = luaL_newstate();
  int status;
  if (L == NULL) return 2;
  luaL_openlibs(L);
  status = cprof_open(L);
  if (status == LUA_OK && profile) status = cprof_start(L, NULL);
  CPROF_BEGIN(L, load) {
    if (status == LUA_OK) status = luaL_loadfile(L, script);
  } CPROF_END(L)
  if (status == LUA_OK) status = lua_pcall(L, 0, 0, 0);
  if (status != LUA_OK) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  if (cprof_stop(L)) {
    static cprof_ReportOptions options;
    options.limit = -1;  /* all */
    cprof_report(L, &options, print, stderr);
  }
  lua_close(L);
  return status == LUA_OK ? 0 : 1;
}

/*
** A host that records a script, for specs: recorder_host LIBRARIES SCRIPT
** OPTION=VALUE ... Also "save=PATH", which saves the profile, and "asks=1",
** which saves it while recording, too, and then asks for reports. LIBRARIES:
** "all" opens all of Lua's, "base" one, "none" none. Prints errors. Compiled
** with -DBARE, it has no library but those that cprof itself needs.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cprof.h"

#ifdef __cplusplus
#include <lua.hpp>
#else
#include <lauxlib.h>
#include <lualib.h>
#endif

static int poke (lua_State *L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1) + 1);
  return 1;
}

static void set_option (cprof_Options *o, char *name, const char *value) {
  static const char *lines[] = {NULL, NULL};
  if (strcmp(name, "mode") == 0) o->mode = value;
  else if (strcmp(name, "file") == 0) o->file = value;
  else if (strcmp(name, "trace") == 0) o->trace = value;
  else if (strcmp(name, "memory") == 0)
    o->memory = strcmp(value, "live") == 0 ? CPROF_LIVE : CPROF_ON;
  else if (strcmp(name, "rate") == 0) o->rate = atoi(value);
  else if (strcmp(name, "timer") == 0) o->timer = value;
  else if (strcmp(name, "clock") == 0) o->clock = value;
  else if (strcmp(name, "interval") == 0) o->memory_interval = atoi(value);
  else if (strcmp(name, "gc") == 0) o->gc = CPROF_ON;
  else if (strcmp(name, "distribution") == 0) o->distribution = CPROF_ON;
  else if (strcmp(name, "tasks") == 0) o->tasks = CPROF_ON;
  else if (strcmp(name, "callsites") == 0) o->callsites = CPROF_ON;
  else if (strcmp(name, "keep_last") == 0) o->keep_last = atof(value);
  else if (strcmp(name, "lines") == 0) {
    lines[0] = value;
    o->lines = lines;
  }
}

static int print (lua_State *L, const void *text, size_t size, void *file) {
  (void)L;
  return fwrite(text, 1, size, (FILE *)file) != size;
}

/* Prints the message of a call that has failed. */
static int said (lua_State *L, int status) {
  if (status == LUA_OK) return 1;
  printf("%s\n", lua_tostring(L, -1));
  lua_pop(L, 1);
  return 0;
}

static void open_libraries (lua_State *L, const char *which) {
#if defined(BARE)
  if (strcmp(which, "base") != 0) return;
  luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
  lua_pop(L, 1);
#else
  if (strcmp(which, "all") == 0) luaL_openlibs(L);
#endif
}

/* Calls what a build that only records may lack. */
static void report (lua_State *L) {
  int view;
  said(L, cprof_report(L, NULL, print, stdout));
  said(L, cprof_annotate(L, NULL, NULL, print, stdout));
  said(L, cprof_export(L, "folded", "out.folded"));
  said(L, cprof_dumprecent(L, "out.cprof", NULL));
  said(L, cprof_listen(L));
  said(L, cprof_view(L, &view));
  cprof_freeview(L, view);
}

int main (int argc, char **argv) {
  cprof_Options options;
  const char *path = NULL;
  lua_State *L = luaL_newstate();
  int i, asks = 0;
  memset(&options, 0, sizeof options);
  if (L == NULL || argc < 3) return 2;
  open_libraries(L, argv[1]);
  lua_register(L, "poke", poke);
  for (i = 3; i < argc; i++) {
    char *value = strchr(argv[i], '=');
    if (value == NULL) return 2;
    *value++ = '\0';
    if (strcmp(argv[i], "save") == 0) path = value;
    else if (strcmp(argv[i], "asks") == 0) asks = 1;
    else set_option(&options, argv[i], value);
  }
  if (!said(L, cprof_open(L)) || !said(L, cprof_start(L, &options))) {
    lua_close(L);
    return 1;
  }
  if (said(L, luaL_loadfile(L, argv[2]))) {
    CPROF_BEGIN(L, running) {
      said(L, lua_pcall(L, 0, 0, 0));
    } CPROF_END(L)
  }
  for (i = 0; i < 5; i++) cprof_frame(L, 1);
  if (path != NULL && asks) said(L, cprof_save(L, path));  /* while it runs */
  cprof_stop(L);
  if (path != NULL) said(L, cprof_save(L, path));
  if (asks) report(L);
  lua_close(L);
  return 0;
}

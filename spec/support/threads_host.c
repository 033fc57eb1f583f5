/*
** Two threads, each with a state that is recorded, with zones and frames,
** and a third that closes what another one has recorded. For a compiler
** that finds races. Its argument, if any, is a chunk of Lua that starts a
** recording; in it, 'thread' is the number of the thread.
*/

#include <pthread.h>
#include <stdio.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "cprof.h"


CPROF_DEFINE(shared);

static const char script[] =
  "local function leaf() return string.rep('x', 3) end\n"
  "local co = coroutine.wrap(function()\n"
  "  while true do leaf() coroutine.yield() end\n"
  "end)\n"
  "for i = 1, 200 do leaf() co() pcall(error, i) end\n";


static void work (lua_State *L) {
  int i;
  for (i = 0; i < 20; i++) {
    CPROF_REGION(L, shared) {
      CPROF_BEGIN(L, own) {
        if (luaL_dostring(L, script)) fprintf(stderr, "failed\n");
      } CPROF_END(L)
    } CPROF_END(L)
    cprof_frame(L, 1);
  }
}


static int write_nothing (lua_State *L, const void *p, size_t n, void *ud) {
  (void)L; (void)p;
  *(size_t *)ud += n;
  return 0;
}


static const char *starting;	/* the chunk, or NULL */

static void start (lua_State *L) {
  int status = starting != NULL ? luaL_dostring(L, starting)
                                : cprof_start(L, NULL);
  if (status == LUA_OK) return;
  fprintf(stderr, "no start: %s\n",
          starting != NULL ? lua_tostring(L, -1) : "");
}


static void *record (void *ud) {
  lua_State *L = luaL_newstate();
  size_t size = 0;
  int i;
  luaL_openlibs(L);
  cprof_open(L);
  lua_pushinteger(L, *(int *)ud);
  lua_setglobal(L, "thread");
  for (i = 0; i < 3; i++) {
    start(L);
    work(L);
    cprof_report(L, NULL, write_nothing, &size);
    if (i < 2) cprof_stop(L);
  }
  if (size == 0) fprintf(stderr, "no report\n");
  return L;  /* still recorded */
}


static void *end (void *ud) {
  lua_State *L = (lua_State *)ud;
  work(L);
  cprof_stop(L);
  lua_close(L);
  return NULL;
}


int main (int count, char **words) {
  pthread_t threads[2];
  void *states[2];
  int numbers[] = {0, 1}, i;
  if (count > 1) starting = words[1];
  for (i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, record, &numbers[i]);
  for (i = 0; i < 2; i++) pthread_join(threads[i], &states[i]);
  for (i = 0; i < 2; i++) pthread_create(&threads[i], NULL, end, states[i]);
  for (i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  puts("done");
  return 0;
}

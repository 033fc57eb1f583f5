/*
** Three states of Lua, each in a thread of its own: one runs a function, one
** waits most of the time, and one runs a coroutine that the host has resumed.
** They end when there is a file "stop"; the file "ready" says that they run.
*/

#define _DEFAULT_SOURCE

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>


static pthread_barrier_t begun;


static int begin (lua_State *L) {
  (void)L;
  pthread_barrier_wait(&begun);
  return 0;
}


static int pause_short (lua_State *L) {
  (void)L;
  usleep(5000);
  return 0;
}


static int is_over (lua_State *L) {
  lua_pushboolean(L, access("stop", F_OK) == 0);
  return 1;
}


static lua_State *open_state (const char *code) {
  lua_State *L = luaL_newstate();
  if (L == NULL) exit(1);
  luaL_openlibs(L);
  lua_register(L, "begin", begin);
  lua_register(L, "pause", pause_short);
  lua_register(L, "is_over", is_over);
  if (luaL_loadstring(L, code) != LUA_OK) exit(2);
  return L;
}


static void *run (void *code) {
  lua_State *L = open_state(code);
  if (lua_pcall(L, 0, 0, 0) != LUA_OK) exit(3);
  lua_close(L);
  return NULL;
}


static void *resume (void *code) {
  lua_State *L = open_state(code), *co = lua_newthread(L);
  int results;
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  if (lua_resume(co, NULL, 0, &results) != LUA_OK) exit(4);
  lua_close(L);
  return NULL;
}


int main (void) {
  static char first[] =
    "local function first() for i = 1, 10000 do math.abs(i) end end\n"
    "begin() repeat first() until is_over()";
  static char second[] =
    "local function second() pause() end\n"
    "begin() repeat second() until is_over()";
  static char third[] =
    "local function resumed() for i = 1, 10000 do math.abs(i) end end\n"
    "begin() repeat resumed() until is_over()";
  pthread_t a, b, c;
  FILE *ready;
  pthread_barrier_init(&begun, NULL, 4);
  if (pthread_create(&a, NULL, run, first) != 0 ||
      pthread_create(&b, NULL, run, second) != 0 ||
      pthread_create(&c, NULL, resume, third) != 0)
    return 5;
  pthread_barrier_wait(&begun);
  ready = fopen("ready", "w");
  if (ready == NULL || fclose(ready) != 0) return 6;
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  pthread_join(c, NULL);
  return 0;
}

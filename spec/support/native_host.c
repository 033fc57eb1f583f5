/*
** A host whose C stack is known: main calls host_run, that calls a script; the
** script calls call_back, which calls a function of Lua, which calls
** wait_here. That one writes the return addresses of its stack into the file
** "stack", and waits for a byte. Scripts may also call spin, which computes in
** spin_inner until there is a file "stop". Also compiles as C++.
*/

#define _DEFAULT_SOURCE

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__cplusplus)
extern "C" {
#endif
#include <lauxlib.h>
#include <lualib.h>
#if defined(__cplusplus)
}
#endif

#define OWN	__attribute__((noinline))
#define MOST	400

static volatile int depth;

static OWN int wait_here (lua_State *L) {
  void *at[MOST];
  char byte;
  int i, n = backtrace(at, MOST);
  FILE *f = fopen("stack.", "w");
  (void)L;
  for (i = 0; i < n; i++) fprintf(f, "%p\n", at[i]);
  fclose(f);
  rename("stack.", "stack");
  if (read(0, &byte, 1) < 0) exit(4);
  return 0;
}

static volatile unsigned long sum;

static OWN int spin_inner (int from) {
  int i;
  for (i = from; i < 1000000; i++) sum += (unsigned long)i * sum;
  return access("stop", F_OK);
}

static OWN int spin (lua_State *L) {
  fclose(fopen("stack", "w"));
  while (spin_inner(0) != 0) continue;
  lua_pushboolean(L, 1);
  return 1;
}

/* has a frame of a size that is known only when it runs */
static OWN int call_back (lua_State *L) {
  size_t size = (size_t)(depth * 100 + 16);
  char *room = (char *)__builtin_alloca(size);
  memset(room, 1, size);
  lua_pushvalue(L, 1);
  lua_call(L, 0, 0);
  lua_pushinteger(L, room[size - 1]);
  return 1;
}

static OWN int host_turn (lua_State *L) {
  int status = lua_pcall(L, 0, 0, 0);
  if (status != LUA_OK) fprintf(stderr, "%s\n", lua_tostring(L, -1));
  return status + depth;
}

static OWN int host_run (lua_State *L, int left) {
  depth++;
  return (left > 0 ? host_run(L, left - 1) : host_turn(L)) - 1;
}

int main (int argc, char **argv) {
  lua_State *L = luaL_newstate();
  if (L == NULL || argc < 2) return 1;
  luaL_openlibs(L);
  lua_register(L, "wait_here", wait_here);
  lua_register(L, "call_back", call_back);
  lua_register(L, "spin", spin);
  if (luaL_loadfile(L, argv[1]) != LUA_OK) return 2;
  if (host_run(L, 2) != 0) return 3;
  lua_close(L);
  return 0;
}

/*
** Two states of Lua, each in a thread of its own. One waits in 'pause', the
** other one reads a byte; then the program ends. A third state has no call,
** and a fourth one has been closed.
*/

#define _DEFAULT_SOURCE

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lualib.h>


static int wait_forever (lua_State *L) {
  (void)L;
  for (;;) pause();
}


static int wait_byte (lua_State *L) {
  char byte;
  lua_pushboolean(L, read(0, &byte, 1) == 1);
  return 1;
}


static lua_State *open_state (void) {
  lua_State *L = luaL_newstate();
  if (L == NULL) exit(1);
  luaL_openlibs(L);
  lua_register(L, "wait_forever", wait_forever);
  lua_register(L, "wait_byte", wait_byte);
  return L;
}


static void *run (void *code) {
  lua_State *L = open_state();
  if (luaL_dostring(L, code) != LUA_OK) exit(2);
  return NULL;
}


int main (void) {
  pthread_t one, two;
  lua_State *idle = open_state();
  lua_close(open_state());
  if (pthread_create(&one, NULL, run,
                     "local function first() wait_forever() end\n"
                     "\nfirst()") != 0 ||
      pthread_create(&two, NULL, run,
                     "local function second() return (wait_byte()) end\n"
                     "\n\nlocal x = second()") != 0)
    return 1;
  pthread_join(two, NULL);
  lua_close(idle);
  return 0;
}

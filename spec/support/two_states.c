/*
** Two states of Lua, each in a thread of its own. One waits in 'pause', the
** other one reads a byte; then the program ends. A third state has no call,
** and lies in the middle of half a terabyte that is only reserved. A fourth one
** has been closed.
*/

#define _DEFAULT_SOURCE

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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


static char *room;  /* what is left of the reserved memory */


static void *room_alloc (void *ud, void *p, size_t from, size_t to) {
  void *q = room;
  (void)ud;
  if (to == 0) return NULL;
  if (p != NULL && to <= from) return p;
  room += (to + 15) / 16 * 16;
  if (p != NULL) memcpy(q, p, from);
  return q;
}


static lua_State *room_state (void) {
  const size_t size = (size_t)1 << 39;
  room = mmap(NULL, size, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if ((void *)room == MAP_FAILED) exit(3);
  room += size / 2;
#if LUA_VERSION_NUM >= 505
  return lua_newstate(room_alloc, NULL, 0);
#else
  return lua_newstate(room_alloc, NULL);
#endif
}


static lua_State *open_state (lua_State *L) {
  if (L == NULL) exit(1);
  luaL_openlibs(L);
  lua_register(L, "wait_forever", wait_forever);
  lua_register(L, "wait_byte", wait_byte);
  return L;
}


static void *run (void *code) {
  lua_State *L = open_state(luaL_newstate());
  if (luaL_dostring(L, code) != LUA_OK) exit(2);
  return NULL;
}


int main (void) {
  pthread_t one, two;
  lua_State *idle = open_state(room_state());
  lua_close(open_state(luaL_newstate()));
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

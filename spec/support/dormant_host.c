/*
** Counts the calls that zones make of cprof's functions, by the linker's
** --wrap: before the first start, while recording, paused and stopped, in
** mode "sample", in a second state, and in another thread.
*/

#include <pthread.h>
#include <stdio.h>

#include "cprof.h"

#ifdef __cplusplus
#include <lua.hpp>
#else
#include <lauxlib.h>
#include <lualib.h>
#endif


#ifdef __cplusplus
extern "C" {
#endif

uint32_t __real_cprof_enter (lua_State *L, cprof_Zone *zone);
uint32_t __real_cprof_entername (lua_State *L, const char *name);
void __real_cprof_leave (lua_State *L, uint32_t mark);
uint32_t __wrap_cprof_enter (lua_State *L, cprof_Zone *zone);
uint32_t __wrap_cprof_entername (lua_State *L, const char *name);
void __wrap_cprof_leave (lua_State *L, uint32_t mark);

static int enters, leaves;

uint32_t __wrap_cprof_enter (lua_State *L, cprof_Zone *zone) {
  enters++;
  return __real_cprof_enter(L, zone);
}

uint32_t __wrap_cprof_entername (lua_State *L, const char *name) {
  enters++;
  return __real_cprof_entername(L, name);
}

void __wrap_cprof_leave (lua_State *L, uint32_t mark) {
  leaves++;
  __real_cprof_leave(L, mark);
}

#ifdef __cplusplus
}
#endif


CPROF_STATIC(shared);


static void zones (lua_State *L) {
  CPROF_SCOPE(L, scope);
  CPROF_BEGIN(L, own) {
    CPROF_REGION(L, shared) {
      CPROF_NAMED(L, "named") {
        lua_gettop(L);
      } CPROF_END(L)
    } CPROF_END(L)
  } CPROF_END(L)
}


static void tell (lua_State *L, const char *when) {
  enters = leaves = 0;
  zones(L);
  printf("%s %d %d\n", when, enters, leaves);
}


static void start (lua_State *L, const char *mode) {
  static cprof_Options o;  /* zeros */
  o.mode = mode;
  if (cprof_start(L, &o) == LUA_OK) return;
  printf("%s\n", lua_tostring(L, -1));
  lua_pop(L, 1);
}


static void *elsewhere (void *ud) {
  tell((lua_State *)ud, "in another thread");
  return NULL;
}


static lua_State *open (void) {
  lua_State *L = luaL_newstate();
  luaL_openlibs(L);
  cprof_open(L);
  return L;
}


int main (void) {
  lua_State *L = open(), *other = open();
  pthread_t thread;
  uint32_t mark;
  tell(L, "before the start");
  start(L, "call");
  tell(L, "recording");
  tell(other, "another state");
  pthread_create(&thread, NULL, elsewhere, L);
  pthread_join(thread, NULL);
  mark = cprof_entername(L, "across");
  cprof_pause(L);
  tell(L, "paused");
  cprof_leave(L, mark);
  cprof_resume(L);
  tell(L, "resumed");
  start(other, "call");
  cprof_stop(L);
  tell(other, "another state alone");
  lua_close(other);  /* while it is recorded */
  tell(L, "stopped");
  start(L, "sample");
  tell(L, "sampled");
  cprof_stop(L);
  tell(L, "stopped");
  start(L, "line");
  tell(L, "recording");
  lua_close(L);
  return 0;
}

/*
** Preloaded, a clock of the thread's processor time that goes on by a
** microsecond at each reading; and a function for Lua that makes it go on by a
** tenth of a second at one of the next readings.
*/

#define _GNU_SOURCE

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>


static long long now;	/* ns */
static lua_Integer left;	/* readings up to the long step; 0: none comes */


int clock_gettime (clockid_t clock, struct timespec *t) {
  if (clock != CLOCK_THREAD_CPUTIME_ID)
    return (int)syscall(SYS_clock_gettime, clock, t);
  now += left > 0 && --left == 0 ? 100000000 : 1000;
  t->tv_sec = (time_t)(now / 1000000000);
  t->tv_nsec = (long)(now % 1000000000);
  return 0;
}


int luaopen_stepping (lua_State *L);

int luaopen_stepping (lua_State *L) {
  left = luaL_checkinteger(L, 1);
  return 0;
}

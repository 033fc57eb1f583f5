/*
** For the experiments: C functions that take a known number of ticks, and
** a sampler that is independent of cprof: timer signals at random
** intervals, which note the node that runs.
*/

#define _DEFAULT_SOURCE		/* setitimer, sigaction */

#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include <lauxlib.h>
#include <lua.h>

#include "base/platform.h"


#define READINGS	1000

static uint64_t spun;
static uint64_t reading;	/* ticks that it takes to read the clock */


/*
** ticks -> : takes that many ticks, or a few more. All of them are counted,
** also those that pass until the processor sees that the loop has ended
*/
static int accuracy_spin (lua_State *L) {
  uint64_t begun = platform_ticks(), took;
  uint64_t ticks = (uint64_t)lua_tointegerx(L, 1, NULL);
  while (platform_ticks() - begun < ticks) ;
  took = platform_ticks() - begun;
  spun += took + reading;  /* half of one before, half after */
  return 0;
}


/* -> ticks that were spun since it was asked last */
static int accuracy_spun (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)spun);
  spun = 0;
  return 1;
}


/* -> ns in a tick */
static int accuracy_rate (lua_State *L) {
  uint64_t t = platform_ticks(), ns = platform_monotonic();
  while (platform_monotonic() - ns < 20000000u) ;
  lua_pushnumber(L, (double)(platform_monotonic() - ns) /
                    (double)(platform_ticks() - t));
  return 1;
}


/* {======================================================
** The sampler
** ======================================================= */

#define PLACES	64

/* where the program is, as it says itself: it stores a number */
static volatile sig_atomic_t place;
static volatile uint64_t samples[PLACES];
static uint64_t seed = 88172645463325252u;


static void sampler_arm (void) {
  struct itimerval t;
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  memset(&t, 0, sizeof t);
  t.it_value.tv_usec = (long)(20 + seed % 100);  /* random: no beat */
  setitimer(ITIMER_REAL, &t, NULL);
}


static void sampler_signal (int number) {
  (void)number;
  samples[place]++;
  sampler_arm();
}


static int accuracy_sample (lua_State *L) {
  struct sigaction a;
  struct itimerval off;
  int i;
  memset(&a, 0, sizeof a);
  a.sa_handler = sampler_signal;
  a.sa_flags = SA_RESTART;
  if (lua_toboolean(L, 1)) {
    for (i = 0; i < PLACES; i++) samples[i] = 0;
    place = 0;
    sigaction(SIGALRM, &a, NULL);
    sampler_arm();
    return 0;
  }
  memset(&off, 0, sizeof off);
  setitimer(ITIMER_REAL, &off, NULL);
  signal(SIGALRM, SIG_IGN);
  lua_createtable(L, PLACES, 0);
  for (i = 0; i < PLACES; i++) {
    lua_pushinteger(L, (lua_Integer)samples[i]);
    lua_rawseti(L, -2, i);
  }
  return 1;
}


/* number, ticks -> : takes that many ticks, while 'place' has this number */
static int accuracy_work (lua_State *L) {
  uint64_t ticks = (uint64_t)lua_tointegerx(L, 2, NULL), begun;
  sig_atomic_t before = place;
  place = (sig_atomic_t)(lua_tointegerx(L, 1, NULL) % PLACES);
  begun = platform_ticks();
  while (platform_ticks() - begun < ticks) ;
  place = before;
  return 0;
}

/* }====================================================== */


int luaopen_accuracy_spin (lua_State *L);
int luaopen_accuracy_spin (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"spin", accuracy_spin}, {"spun", accuracy_spun},
    {"rate", accuracy_rate}, {"sample", accuracy_sample},
    {"work", accuracy_work}, {NULL, NULL}
  };
  uint64_t begun = platform_ticks();
  int i;
  for (i = 1; i < READINGS; i++) platform_ticks();
  reading = (platform_ticks() - begun) / READINGS;
  luaL_newlib(L, functions);
  return 1;
}

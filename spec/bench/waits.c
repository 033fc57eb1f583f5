/*
** Ways to wait, each for so many milliseconds. Each function returns whether
** a signal ended the wait early.
*/

#define _GNU_SOURCE

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#if defined(__linux__)
#include <sys/epoll.h>
#endif
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "lauxlib.h"
#include "lua.h"


static int waits_ended (lua_State *L, int status) {
  lua_pushboolean(L, status < 0 && errno == EINTR);
  return 1;
}


static int waits_poll (lua_State *L) {
  return waits_ended(L, poll(NULL, 0, (int)luaL_checkinteger(L, 1)));
}


static int waits_select (lua_State *L) {
  struct timeval t = {0, 0};
  t.tv_usec = (suseconds_t)luaL_checkinteger(L, 1) * 1000;
  return waits_ended(L, select(0, NULL, NULL, NULL, &t));
}


static int waits_usleep (lua_State *L) {
  return waits_ended(L, usleep((useconds_t)luaL_checkinteger(L, 1) * 1000));
}


/* from a socket to which nobody writes */
static int waits_recv (lua_State *L) {
  static int ends[2] = {-1, -1};
  struct timeval t = {0, 0};
  char byte;
  if (ends[0] < 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return luaL_error(L, "no sockets");
  t.tv_usec = (suseconds_t)luaL_checkinteger(L, 1) * 1000;
  setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
  return waits_ended(L, (int)recv(ends[0], &byte, 1, 0));
}


#if defined(__linux__)

static int waits_epoll (lua_State *L) {
  static int set = -1;
  struct epoll_event event;
  if (set < 0) set = epoll_create1(EPOLL_CLOEXEC);
  return waits_ended(L, epoll_wait(set, &event, 1,
                                   (int)luaL_checkinteger(L, 1)));
}


static int waits_semaphore (lua_State *L) {
  static sem_t semaphore;
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  t.tv_nsec += (long)luaL_checkinteger(L, 1) * 1000000;
  t.tv_sec += t.tv_nsec / 1000000000;
  t.tv_nsec %= 1000000000;
  return waits_ended(L, sem_timedwait(&semaphore, &t));
}

#endif


int luaopen_bench_waits (lua_State *L);
int luaopen_bench_waits (lua_State *L) {
  static const luaL_Reg functions[] = {
    {"poll", waits_poll}, {"select", waits_select},
    {"usleep", waits_usleep}, {"recv", waits_recv},
#if defined(__linux__)
    {"epoll_wait", waits_epoll}, {"sem_timedwait", waits_semaphore},
#endif
    {NULL, NULL}
  };
  luaL_newlib(L, functions);
  return 1;
}

/*
** A module whose functions wait in the system for some milliseconds, each in
** another call. They return what the call has returned, its errno, and for
** how many nanoseconds it has waited.
*/

#define _DEFAULT_SOURCE

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>


static long long now (clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}


static int answer (lua_State *L, long result, long long began) {
  int error = errno;
  lua_pushinteger(L, (lua_Integer)result);
  lua_pushinteger(L, result < 0 ? error : 0);
  lua_pushinteger(L, (lua_Integer)(now(CLOCK_MONOTONIC) - began));
  return 3;
}


static int wait_poll (lua_State *L) {
  int ms = (int)luaL_checkinteger(L, 1);
  long long began = now(CLOCK_MONOTONIC);
  return answer(L, poll(NULL, 0, ms), began);
}


static int wait_nanosleep (lua_State *L) {
  struct timespec t = {0, 0};
  long long began = now(CLOCK_MONOTONIC);
  t.tv_nsec = (long)luaL_checkinteger(L, 1) * 1000000;
  return answer(L, nanosleep(&t, NULL), began);
}


static int wait_select (lua_State *L) {
  struct timeval t = {0, 0};
  long long began = now(CLOCK_MONOTONIC);
  t.tv_usec = (suseconds_t)luaL_checkinteger(L, 1) * 1000;
  return answer(L, select(0, NULL, NULL, NULL, &t), began);
}


/* milliseconds, and a file to wait for, or none */
static int wait_epoll (lua_State *L) {
  int ms = (int)luaL_checkinteger(L, 1), files = epoll_create1(0), n;
  int file = (int)luaL_optinteger(L, 2, -1);
  struct epoll_event event = {EPOLLIN, {NULL}};
  long long began = now(CLOCK_MONOTONIC);
  if (file >= 0) epoll_ctl(files, EPOLL_CTL_ADD, file, &event);
  n = answer(L, epoll_wait(files, &event, 1, ms), began);
  close(files);
  return n;
}


static int wait_semaphore (lua_State *L) {
  sem_t sem;
  struct timespec t;
  long long began = now(CLOCK_MONOTONIC);
  long long until = now(CLOCK_REALTIME) + luaL_checkinteger(L, 1) * 1000000;
  t.tv_sec = (time_t)(until / 1000000000);
  t.tv_nsec = (long)(until % 1000000000);
  sem_init(&sem, 0, 0);
  return answer(L, sem_timedwait(&sem, &t), began);
}


/* a file: waits for a byte there */
static int wait_read (lua_State *L) {
  char byte;
  long long began = now(CLOCK_MONOTONIC);
  return answer(L, read((int)luaL_checkinteger(L, 1), &byte, 1), began);
}


/* a file of the io library: its descriptor */
static int file_number (lua_State *L) {
  luaL_Stream *s = (luaL_Stream *)luaL_checkudata(L, 1, LUA_FILEHANDLE);
  lua_pushinteger(L, fileno(s->f));
  return 1;
}


int luaopen_waiting (lua_State *L) {
  static const luaL_Reg list[] = {
    {"poll", wait_poll}, {"nanosleep", wait_nanosleep},
    {"select", wait_select}, {"epoll_wait", wait_epoll},
    {"sem_timedwait", wait_semaphore}, {"read", wait_read},
    {"file", file_number}, {NULL, NULL}
  };
  luaL_newlib(L, list);
  return 1;
}

/*
** What the specs need from a host that Lua cannot do itself: loops of
** lua_pcall, states and threads of their own, memory that runs out.
*/

#define _DEFAULT_SOURCE		/* strdup, fork, kill */

#include <errno.h>
#include <execinfo.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "cprof.h"
#include "sealed.h"
#include "zones.h"


/* n, f, g: calls f and g in turn, n times, whatever they raise */
static int host_loop (lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1), i;
  for (i = 0; i < n; i++) {
    int which;
    for (which = 2; which <= 3; which++) {
      lua_pushvalue(L, which);
      if (lua_pcall(L, 0, 0, 0) != LUA_OK) lua_pop(L, 1);
    }
  }
  return 0;
}


/* n, f: a loop of lua_pcall with a collection after each */
static int host_collect (lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1), i;
  for (i = 0; i < n; i++) {
    lua_pushvalue(L, 2);
    if (lua_pcall(L, 0, 0, 0) != LUA_OK) lua_pop(L, 1);
    lua_gc(L, LUA_GCCOLLECT, 0);
  }
  return 0;
}


/* f: calls it from C */
static int host_call (lua_State *L) {
  lua_settop(L, 1);
  lua_call(L, 0, 0);
  return 0;
}


/* -> seconds of processor time of this thread, without cprof's own */
static int host_clock (lua_State *L) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  lua_pushnumber(L, (lua_Number)t.tv_sec + (lua_Number)t.tv_nsec / 1e9);
  return 1;
}


/* f, g, mark: closes the zone of its caller between the calls of f and g */
static int host_leaves (lua_State *L) {
  lua_pushvalue(L, 1);
  lua_call(L, 0, 0);
  cprof_leave(L, (uint32_t)lua_tointeger(L, 3));
  lua_pushvalue(L, 2);
  lua_call(L, 0, 0);
  return 0;
}


/* f, g: opens the zone "left", which a callee closes, see host_leaves */
static int host_enters (lua_State *L) {
  lua_settop(L, 2);
  lua_pushcfunction(L, host_leaves);
  lua_insert(L, 1);
  lua_pushinteger(L, cprof_entername(L, "left"));
  lua_call(L, 3, 0);
  return 0;
}


/* thread, ...: resumes it from C, without coroutine.resume; how it ended */
static int host_resume (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  int results, status;
  status = lua_resume(co, L, lua_gettop(co) - (lua_status(co) == LUA_OK),
                      &results);
  if (status == LUA_OK || status == LUA_YIELD) lua_pop(co, results);
  lua_pushinteger(L, status);
  return 1;
}


/* thread, f: the thread, whose function has ended, begins again with f */
static int host_begin (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  lua_settop(L, 2);
  lua_settop(co, 0);
  lua_xmove(L, co, 1);
  return 0;
}


/* { thread, ... }, n: resumes them in turn, n times, from one C function */
static int host_schedule (lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 2), i, k;
  lua_Integer threads = (lua_Integer)lua_rawlen(L, 1);
  for (i = 0; i < n; i++) {
    for (k = 1; k <= threads; k++) {
      int results;
      lua_State *co;
      lua_rawgeti(L, 1, k);
      co = lua_tothread(L, -1);
      lua_pop(L, 1);
      if (lua_status(co) == LUA_OK && lua_gettop(co) == 0) continue;
      if (lua_resume(co, L, 0, &results) <= LUA_YIELD)
        lua_pop(co, results);
    }
  }
  return 0;
}


/* sets a hook of the host's own, and removes it again */
static int host_sethook (lua_State *L) {
  lua_sethook(L, NULL, 0, 0);
  return 0;
}


/* {======================================================
** Memory that runs out
** ======================================================= */

typedef struct Memory {
  long left;		/* requests to be granted; negative: all */
  long asked;
  size_t used;
  size_t most;		/* bytes to be in use; 0: any number */
  int once;		/* only one request fails */
  int counts;
  long refused;
  int hook;		/* the first one that was refused came from the hook */
  size_t from, to;	/* sizes of the last request that was refused */
  int again;		/* was that request repeated at once, as Lua does? */
} Memory;

static lua_State *host_state_armed;	/* specs run in one thread */


/* Is the hook of the state among the callers? */
static int host_inhook (void) {
  union { lua_Hook f; void *p; } hook;
  void *at[256];
  int i, n;
  hook.f = host_state_armed ? lua_gethook(host_state_armed) : NULL;
  if (hook.f == NULL) return 0;
  n = backtrace(at, 256);
  for (i = 0; i < n; i++)
    if (_Unwind_FindEnclosingFunction((char *)at[i] - 1) == hook.p) return 1;
  return 0;
}


static void *host_refuse (Memory *m, size_t from, size_t to) {
  if (m->refused++ == 0) m->hook = host_inhook();
  if (m->once) m->left = -1;
  m->from = from;
  m->to = to;
  return NULL;
}


static void *host_alloc (void *ud, void *p, size_t from, size_t to) {
  Memory *m = ud;
  void *new;
  if (p == NULL) from = 0;
  if (to == 0) {
    free(p);
    m->used -= from;
    return NULL;
  }
  if (to > from) {
    if (m->counts) m->asked++;
    if (m->left == 0 || (m->most > 0 && m->used + to - from > m->most))
      return host_refuse(m, from, to);
    if (m->to != 0 && m->from == from && m->to == to) m->again = 1;
    m->to = 0;
    if (m->left > 0) m->left--;
  }
  new = realloc(p, to);
  if (new != NULL) m->used += to - from;
  return new;
}


static int host_run (lua_State *L) {
  const char *code = lua_touserdata(L, 1);
  luaL_openlibs(L);
  luaL_requiref(L, "cprof.core", luaopen_cprof_core, 0);
  lua_pop(L, 1);
  if (luaL_loadstring(L, code) != LUA_OK) return lua_error(L);
  lua_call(L, 0, 1);
  return 1;
}


/* LUA_PATH of this process is in the environment, so new states have it */
static int host_protected (lua_State *L, const char *code) {
  lua_pushcfunction(L, host_run);
  lua_pushlightuserdata(L, (void *)code);
  return lua_pcall(L, 1, 1, 0);
}


/*
** code, which, n, once: runs code in a new state, where the memory of the
** recorder ("cprof") or of the state ("lua") fails at request n and, without
** 'once', from then on (n < 0: never); requests count from where the code
** calls 'arm' until it calls 'disarm'. Returns what the code returned or raised,
** how it ended, requests asked for, and bytes that were not given back after
** the state was closed.
*/
static Memory *host_armed;	/* specs run in one thread */
static long host_failat;
static int host_failonce;

/* The code after 'arm' is run by child processes, one for each request. */
typedef struct Children {
  lua_State *L;		/* a table on top gets what they give */
  long from, upto, step;
  const char *path;	/* a file that none of them finds */
  int fd;		/* in a child: where it tells how it ended */
} Children;

static Children *host_children;

#define HOST_SECONDS	60	/* for a child */


/* What a child has written, and how it ended. */
static void host_gather (lua_State *L, long n, pid_t pid, int fd) {
  luaL_Buffer b;
  char text[4096];
  ssize_t size;
  int status = 0;
  luaL_buffinit(L, &b);
  while ((size = read(fd, text, sizeof text)) > 0)
    luaL_addlstring(&b, text, (size_t)size);
  close(fd);
  waitpid(pid, &status, 0);
  luaL_pushresult(&b);
  lua_createtable(L, 0, 3);
  lua_insert(L, -2);
  lua_setfield(L, -2, "said");
  lua_pushinteger(L, n);
  lua_setfield(L, -2, "request");
  lua_pushinteger(L, status);
  lua_setfield(L, -2, "status");
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}


/*
** Forks a child for each request. Returns in the children, where that request
** is to fail.
*/
static void host_fork_each (Children *c) {
  long n;
  for (n = c->from; n <= c->upto; n += c->step) {
    int fds[2];
    pid_t pid;
    if (c->path) (void)remove(c->path);
    if (pipe(fds) != 0) return;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
      close(fds[0]);
      c->fd = fds[1];
      host_failat = n;
      alarm(HOST_SECONDS);
      return;
    }
    close(fds[1]);
    host_gather(c->L, n, pid, fds[0]);
  }
}


static int host_arm (lua_State *L) {
  (void)L;
  if (host_children != NULL && host_children->fd < 0)
    host_fork_each(host_children);
  host_armed->asked = 0;
  host_armed->counts = 1;
  host_armed->once = host_failonce;
  host_armed->left = host_failat;
  return 0;
}


static int host_disarm (lua_State *L) {
  (void)L;
  host_armed->counts = 0;
  host_armed->left = -1;
  return 0;
}


/* the request that is to fail; negative: none */
static int host_request (lua_State *L) {
  lua_pushinteger(L, host_failat);
  return 1;
}


/*
** -> number of memory requests refused so far; was the first one made in the
** hook?; was the last one granted when it was repeated?
*/
static int host_refused (lua_State *L) {
  lua_pushinteger(L, host_armed->refused);
  lua_pushboolean(L, host_armed->hook);
  lua_pushboolean(L, host_armed->again);
  return 3;
}


/* n: from now on, the armed allocator grants n bytes more, at most */
static int host_limit (lua_State *L) {
  host_armed->most = host_armed->used + (size_t)luaL_checkinteger(L, 1);
  return 0;
}


/* bytes that the armed allocator has granted and are in use */
static int host_used (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)host_armed->used);
  return 1;
}


/* Ends a child: tells the parent status, bytes left, and a text. */
static void host_tell (int fd, int status, size_t left, const char *text) {
  FILE *f = fdopen(fd, "w");
  fprintf(f, "%d %lu %s", status, (unsigned long)left, text);
  fclose(f);
  _exit(0);
}


static int host_memory (lua_State *L) {
  const char *code = luaL_checkstring(L, 1);
  int lua = strcmp(luaL_checkstring(L, 2), "lua") == 0;
  Memory own = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}, state;
  const char *text;
  int status;
  lua_State *S;
  state = own;
#if LUA_VERSION_NUM >= 505
  S = lua_newstate(host_alloc, &state, 0);
#else
  S = lua_newstate(host_alloc, &state);
#endif
  host_failat = (long)luaL_checkinteger(L, 3);
  host_failonce = lua_toboolean(L, 4);
  host_armed = lua ? &state : &own;
  host_state_armed = S;
  lua_register(S, "arm", host_arm);
  lua_register(S, "disarm", host_disarm);
  lua_register(S, "refused", host_refused);
  lua_register(S, "request", host_request);
  lua_register(S, "limit", host_limit);
  lua_register(S, "used", host_used);
  cprof_setalloc(S, host_alloc, &own);
  status = host_protected(S, code);
  state.left = own.left = -1;
  state.most = own.most = 0;
  text = lua_pushstring(L, luaL_tolstring(S, -1, NULL));
  lua_pushinteger(L, status);
  lua_pushinteger(L, lua ? state.asked : own.asked);
  host_state_armed = NULL;
  lua_close(S);
  if (host_children != NULL && host_children->fd >= 0)
    host_tell(host_children->fd, status, own.used + state.used, text);
  lua_pushinteger(L, (lua_Integer)(own.used + state.used));
  return 4;
}


/*
** code, which, once, from, upto, step, path: 'host_memory' for these requests,
** each in a child process of its own that has run until 'arm'. Returns a list:
** request, result as text ("status left result"), and how the child ended.
*/
static int host_starve (lua_State *L) {
  Children c;
  c.L = L;
  c.from = (long)luaL_checkinteger(L, 4);
  c.upto = (long)luaL_checkinteger(L, 5);
  c.step = (long)luaL_checkinteger(L, 6);
  c.path = luaL_optstring(L, 7, NULL);
  c.fd = -1;
  lua_pushcfunction(L, host_memory);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 2);
  lua_pushinteger(L, -1);
  lua_pushvalue(L, 3);
  host_children = &c;
  lua_newtable(L);
  lua_replace(L, 1);
  c.L = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, c.L, 1);
  lua_replace(L, 2);
  lua_call(L, 4, 0);
  host_children = NULL;
  lua_pushvalue(L, 1);
  return 1;
}

/* }====================================================== */


/* {======================================================
** States and threads
** ======================================================= */

typedef struct Job {
  pthread_t thread;
  const char *code;
  char *result;
} Job;


static void *host_job (void *ud) {
  Job *job = ud;
  lua_State *S = luaL_newstate();
  host_protected(S, job->code);
  job->result = strdup(luaL_tolstring(S, -1, NULL));
  lua_close(S);
  return NULL;
}


/* code, n: runs code in n states of n threads at once; their results */
static int host_threads (lua_State *L) {
  const char *code = luaL_checkstring(L, 1);
  int n = (int)luaL_checkinteger(L, 2), i;
  Job *jobs = lua_newuserdatauv(L, (size_t)n * sizeof *jobs, 0);
  for (i = 0; i < n; i++) {
    jobs[i].code = code;
    pthread_create(&jobs[i].thread, NULL, host_job, &jobs[i]);
  }
  lua_createtable(L, n, 0);
  for (i = 0; i < n; i++) {
    pthread_join(jobs[i].thread, NULL);
    lua_pushstring(L, jobs[i].result);
    lua_rawseti(L, -2, i + 1);
    free(jobs[i].result);
  }
  return 1;
}


static int state_gc (lua_State *L) {
  lua_State **box = luaL_checkudata(L, 1, ZONES_STATE);
  if (*box) lua_close(*box);
  *box = NULL;
  return 0;
}


/* code -> the results of running it in the state */
static int state_run (lua_State *L) {
  lua_State **box = luaL_checkudata(L, 1, ZONES_STATE);
  lua_State *S = *box;
  if (luaL_loadstring(S, luaL_checkstring(L, 2)) == LUA_OK)
    lua_pcall(S, 0, 1, 0);
  lua_pushstring(L, luaL_tolstring(S, -1, NULL));
  lua_settop(S, 0);
  return 1;
}


static const char state_resume_kept = 0;	/* address: key */

/* code: runs it in a coroutine that C resumes; how that ended */
static int state_resume (lua_State *L) {
  lua_State **box = luaL_checkudata(L, 1, ZONES_STATE);
  lua_State *co = lua_newthread(*box);
  int results, status = luaL_loadstring(co, luaL_checkstring(L, 2));
  if (status == LUA_OK) {
    lua_rawsetp(*box, LUA_REGISTRYINDEX, &state_resume_kept);
    status = lua_resume(co, NULL, 0, &results);
  }
  lua_settop(*box, 0);
  lua_pushinteger(L, status);
  return 1;
}


typedef struct Run {
  lua_State *S;
  const char *code;
} Run;


static void *state_thread (void *ud) {
  Run *run = ud;
  if (run->code == NULL) lua_close(run->S);
  else if (luaL_dostring(run->S, run->code) != LUA_OK) return run->S;
  return NULL;
}


/* code: runs it in the state, or without code closes it, in a thread of
** its own; true when nothing was raised */
static int state_elsewhere (lua_State *L) {
  lua_State **box = luaL_checkudata(L, 1, ZONES_STATE);
  pthread_t thread;
  Run run;
  void *failed;
  run.S = *box;
  run.code = luaL_optstring(L, 2, NULL);
  pthread_create(&thread, NULL, state_thread, &run);
  pthread_join(thread, &failed);
  if (run.code == NULL) *box = NULL;
  lua_pushboolean(L, failed == NULL);
  return 1;
}


/* a new state with cprof in it */
static int host_state (lua_State *L) {
  lua_State **box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = luaL_newstate();
  luaL_setmetatable(L, ZONES_STATE);
  luaL_openlibs(*box);
  luaL_requiref(*box, "cprof.core", luaopen_cprof_core, 0);
  luaL_requiref(*box, "spec_zones", luaopen_spec_zones, 0);
  lua_settop(*box, 0);
  return 1;
}

/* }====================================================== */


/* {======================================================
** A child that is killed
** ======================================================= */

/*
** Tells the parent the number of the step that the child has reached, so that
** the parent can kill the child before or after a given step.
*/
static int host_announce (lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  int fd = (int)lua_tointeger(L, lua_upvalueindex(1));
  if (write(fd, &n, sizeof n) != (ssize_t)sizeof n) _exit(1);
  return 0;
}


static void host_doomed (lua_State *L, int fd) {
  lua_settop(L, 1);
  lua_pushinteger(L, fd);
  lua_pushcclosure(L, host_announce, 1);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK)
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
  fflush(NULL);
  _exit(2);
}


/*
** f, us, n: runs f(announce) in a child, which is killed 'us' microseconds
** after its announcement n, or the first one. The last two numbers that it
** announced, and how it ended.
*/
static int host_kill (lua_State *L) {
  lua_Integer us = luaL_checkinteger(L, 2), n, last = 0, before = 0;
  struct timespec wait = {us / 1000000, us % 1000000 * 1000};
  lua_Integer left = luaL_optinteger(L, 3, 1);
  int fds[2], status = 0;
  pid_t pid;
  if (pipe(fds) != 0) return luaL_error(L, "no pipe");
  fflush(NULL);
  pid = fork();
  if (pid == 0) {
    close(fds[0]);
    host_doomed(L, fds[1]);
  }
  close(fds[1]);
  while (read(fds[0], &n, sizeof n) == (ssize_t)sizeof n) {
    if (--left == 0) {
      nanosleep(&wait, NULL);
      kill(pid, SIGKILL);
    }
    before = last;
    last = n;
  }
  close(fds[0]);
  waitpid(pid, &status, 0);
  lua_pushinteger(L, before);
  lua_pushinteger(L, last);
  lua_pushinteger(L, status);
  return 3;
}

/* }====================================================== */


/* status: the process ends at once */
static int host_exit (lua_State *L) {
  _exit((int)luaL_checkinteger(L, 1));
  return 0;
}


static void host_nap (lua_Number s) {
  struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
  while (nanosleep(&t, &t) != 0) ;
}


/*
** seconds, path: sleeps, so that no event comes; with a path, makes that file
** when this function runs
*/
static int host_sleep (lua_State *L) {
  const char *path = luaL_optstring(L, 2, NULL);
  FILE *f = path != NULL ? fopen(path, "w") : NULL;
  if (f != NULL) fclose(f);
  host_nap(luaL_checknumber(L, 1));
  return 0;
}


/* before, after: seconds to sleep before and after SIGINT comes */
static int host_interrupt (lua_State *L) {
  host_nap(luaL_checknumber(L, 1));
  raise(SIGINT);
  host_nap(luaL_checknumber(L, 2));
  return 0;
}


/*
** path: waits until the file is there, as a program that gets no processor:
** signals are pending meanwhile, though it does not block them
*/
static int host_starved (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  pid_t child = vfork();  /* this process waits for its end */
  if (child == 0) {
    while (access(path, F_OK) != 0) usleep(10000);
    _exit(0);
  }
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) ;
  return 0;
}


/* Computes until the thread has used this many ms more of processor time. */
static void host_compute (lua_Integer ms) {
  struct timespec t;
  int64_t until = 0, now;
  volatile int sum = 0;
  int i;
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    if (until == 0) until = now + ms * 1000000;
    for (i = 0; i < 1000; i++) sum += i;
  } while (now < until);
}


/*
** ms, ms of computing before (or nil) -> did this wait end early, with EINTR?
*/
static int host_poll (lua_State *L) {
  int status;
  host_compute(luaL_optinteger(L, 2, 0));
  status = poll(NULL, 0, (int)luaL_checkinteger(L, 1));
  lua_pushboolean(L, status < 0 && errno == EINTR);
  return 1;
}


#define HOST_ALARM	5000	/* microseconds until it comes */
#define HOST_HANDLER	10	/* ms for which its handler computes */

static volatile sig_atomic_t host_polls, host_alarmed;

static void host_handlealarm (int number) {
  (void)number;
  host_alarmed = host_polls;
  host_compute(HOST_HANDLER);
}


/*
** ms -> did this wait end early, with EINTR, for a signal whose handler blocks
** all others for a while? nil: the signal came before the wait.
*/
static int host_alarmedpoll (lua_State *L) {
  struct itimerval alarm;
  struct sigaction a, before;
  int status;
  memset(&a, 0, sizeof a);
  memset(&alarm, 0, sizeof alarm);
  a.sa_handler = host_handlealarm;
  sigfillset(&a.sa_mask);
  alarm.it_value.tv_usec = HOST_ALARM;
  host_polls = host_alarmed = 0;
  sigaction(SIGALRM, &a, &before);
  setitimer(ITIMER_REAL, &alarm, NULL);
  host_polls = 1;
  status = poll(NULL, 0, (int)luaL_checkinteger(L, 1));
  if (host_alarmed) lua_pushboolean(L, status < 0 && errno == EINTR);
  else lua_pushnil(L);
  /* the wait may have ended before the alarm */
  memset(&alarm, 0, sizeof alarm);
  setitimer(ITIMER_REAL, &alarm, NULL);
  sigaction(SIGALRM, &before, NULL);
  return 1;
}


/* path, size: cuts a file */
static int host_truncate (lua_State *L) {
  int status = truncate(luaL_checkstring(L, 1),
                        (off_t)luaL_checkinteger(L, 2));
  lua_pushboolean(L, status == 0);
  return 1;
}


/*
** true in the child, which goes to the folder that is given, if any; in the
** parent false, and the id of the child
*/
static int host_fork (lua_State *L) {
  const char *folder = luaL_optstring(L, 1, ".");
  pid_t pid;
  fflush(NULL);
  pid = fork();
  lua_pushboolean(L, pid == 0);
  if (pid == 0 && chdir(folder) == 0) return 1;
  lua_pushinteger(L, pid);
  return 2;
}


/* the id of this process */
static int host_process (lua_State *L) {
  lua_pushinteger(L, getpid());
  return 1;
}


/*
** number of a thread -> ns for which it may run at a time while others wait for
** its processor; nil: the system does not say
*/
static int host_turn (lua_State *L) {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } a;
  memset(&a, 0, sizeof a);
#if defined(SYS_sched_getattr)
  if (syscall(SYS_sched_getattr, (pid_t)luaL_checkinteger(L, 1), &a, sizeof a,
              0) != 0)
    a.runtime = 0;
#endif
  if (a.runtime > 0) lua_pushinteger(L, (lua_Integer)a.runtime);
  else lua_pushnil(L);
  return 1;
}


/* signal: this process gets it */
static int host_signal (lua_State *L) {
  kill(getpid(), (int)luaL_checkinteger(L, 1));
  return 0;
}


static volatile sig_atomic_t host_masked;

static void host_catch (int number) {
  sigset_t mask;
  (void)number;
  sigprocmask(SIG_BLOCK, NULL, &mask);
  host_masked = sigismember(&mask, SIGUSR1);
}


/*
** signal -> : sets a handler for one signal, which SIGUSR1 cannot interrupt;
** nothing -> was SIGUSR1 blocked in the handler?
*/
static int host_handle (lua_State *L) {
  struct sigaction action;
  if (lua_isnoneornil(L, 1)) {
    lua_pushboolean(L, host_masked);
    return 1;
  }
  memset(&action, 0, sizeof action);
  action.sa_handler = host_catch;
  action.sa_flags = (int)SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction((int)luaL_checkinteger(L, 1), &action, NULL);
  return 0;
}


/* signal: this thread blocks it */
static int host_block (lua_State *L) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, (int)luaL_checkinteger(L, 1));
  pthread_sigmask(SIG_BLOCK, &one, NULL);
  return 0;
}


/* Closes all files but the first three, as daemons do. */
static int host_closefiles (lua_State *L) {
  int fd;
  (void)L;
  for (fd = 3; fd < 1024; fd++) close(fd);
  return 0;
}


/* path: the folder of this process */
static int host_folder (lua_State *L) {
  lua_pushboolean(L, chdir(luaL_checkstring(L, 1)) == 0);
  return 1;
}


/* path: the root of this process. Is it? For root only */
static int host_root (lua_State *L) {
  lua_pushboolean(L, chroot(luaL_checkstring(L, 1)) == 0 && chdir("/") == 0);
  return 1;
}


static int host_wait (lua_State *L) {
  int status;
  (void)wait(&status);
  lua_pushinteger(L, status);
  return 1;
}


/* words: replaces this process by another program */
static int host_exec (lua_State *L) {
  const char *words[8] = {NULL};
  int i, n = lua_gettop(L);
  for (i = 0; i < n && i < 7; i++) words[i] = luaL_checkstring(L, i + 1);
  execv(words[0], (char *const *)(void *)words);
  return 0;
}


/* integer -> what errno was; errno is the integer then */
static int host_errno (lua_State *L) {
  lua_pushinteger(L, errno);
  errno = (int)luaL_checkinteger(L, 1);
  return 1;
}


/*
** mask, count: waits until a signal has set another hook, then sets mask and
** count for it, as a call of 'lua_sethook' does that the signal interrupted
*/
static int host_tear (lua_State *L) {
  lua_Hook before = lua_gethook(L);
  time_t ends = time(NULL) + 5;
  while (*(lua_Hook volatile *)&before == lua_gethook(L))
    if (time(NULL) > ends) return luaL_error(L, "no hook was set");
  lua_sethook(L, lua_gethook(L), (int)luaL_checkinteger(L, 1),
              (int)luaL_checkinteger(L, 2));
  return 0;
}


/* returns what it is given */
static int host_echo (lua_State *L) {
  return lua_gettop(L);
}


int spec_host_exported (lua_State *L);
int spec_host_exported (lua_State *L) {
  return lua_gettop(L) - 0;
}


/* two functions that no table holds, the second with a symbol */
static int host_nameless (lua_State *L) {
  lua_pushcfunction(L, host_echo);
  lua_pushcfunction(L, spec_host_exported);
  return 2;
}


/* {======================================================
** Allocators that come while others are in use
** ======================================================= */

typedef struct Wrapped {
  lua_Alloc alloc;
  void *ud;
} Wrapped;

static Wrapped host_wrapped;	/* specs run in one thread */


static void *host_pass (void *ud, void *p, size_t from, size_t to) {
  Wrapped *w = ud;
  return w->alloc(w->ud, p, from, to);
}


/* Sets an allocator that calls the state's own one. */
static int host_wrap (lua_State *L) {
  host_wrapped.alloc = lua_getallocf(L, &host_wrapped.ud);
  lua_setallocf(L, host_pass, &host_wrapped);
  return 0;
}


/* Sets the state's own allocator again. */
static int host_unwrap (lua_State *L) {
  lua_setallocf(L, host_wrapped.alloc, host_wrapped.ud);
  return 0;
}


static void *host_plain (void *ud, void *p, size_t from, size_t to) {
  (void)ud;
  (void)from;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}


/* Replaces the state's allocator by another one, until 'unwrap'. */
static int host_replace (lua_State *L) {
  host_wrapped.alloc = lua_getallocf(L, &host_wrapped.ud);
  lua_setallocf(L, host_plain, NULL);
  return 0;
}


/* -> a number that identifies the state's allocator */
static int host_allocator (lua_State *L) {
  void *ud;
  lua_Alloc alloc = lua_getallocf(L, &ud);
  lua_Integer n;
  memcpy(&n, &alloc, sizeof n);
  lua_pushinteger(L, n ^ (lua_Integer)(intptr_t)ud);
  return 1;
}


/* n, signal: makes n userdata of 100 bytes, all in C; then raises SIGINT */
static int host_userdata (lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  while (n-- > 0) {
    lua_newuserdatauv(L, 100, 0);
    lua_pop(L, 1);
  }
  if (lua_toboolean(L, 2)) raise(SIGINT);
  return 0;
}


/* what, KB: what a host tells the collector, which is no call in Lua */
static int host_collector (lua_State *L) {
  static const char *const names[] = {"step", "stop", "restart", NULL};
  static const int what[] = {LUA_GCSTEP, LUA_GCSTOP, LUA_GCRESTART};
  lua_gc(L, what[luaL_checkoption(L, 1, NULL, names)],
         (int)luaL_optinteger(L, 2, 0));
  return 0;
}

/* }====================================================== */


int luaopen_spec_host (lua_State *L);
int luaopen_spec_host (lua_State *L) {
  static const luaL_Reg state[] = {
    {"run", state_run}, {"resume", state_resume}, {"elsewhere", state_elsewhere},
    {"close", state_gc}, {"__gc", state_gc}, {NULL, NULL}
  };
  static const luaL_Reg host[] = {
    {"loop", host_loop}, {"sethook", host_sethook},
    {"sealed", sealed_file},
    {"collect", host_collect}, {"call", host_call},
    {"enters", host_enters}, {"clock", host_clock},
    {"resume", host_resume},
  {"begin", host_begin}, {"schedule", host_schedule},
    {"memory", host_memory}, {"starve", host_starve},
    {"threads", host_threads},
    {"state", host_state}, {"fork", host_fork}, {"wait", host_wait},
    {"process", host_process}, {"turn", host_turn}, {"signal", host_signal},
    {"kill", host_kill}, {"handle", host_handle},
    {"truncate", host_truncate}, {"exit", host_exit}, {"sleep", host_sleep},
    {"poll", host_poll}, {"alarmedpoll", host_alarmedpoll},
    {"starved", host_starved},
    {"interrupt", host_interrupt},
    {"nameless", host_nameless}, {"wrap", host_wrap},
    {"unwrap", host_unwrap}, {"replace", host_replace},
    {"allocator", host_allocator}, {"userdata", host_userdata},
    {"collector", host_collector},
    {"block", host_block}, {"closefiles", host_closefiles},
    {"folder", host_folder}, {"root", host_root}, {"exec", host_exec},
    {"tear", host_tear},
    {"errno", host_errno},
    {NULL, NULL}
  };
  luaL_newmetatable(L, ZONES_STATE);
  luaL_setfuncs(L, state, 0);
  luaL_setfuncs(L, zones_methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, host);
  return 1;
}

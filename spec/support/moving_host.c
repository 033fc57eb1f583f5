/*
** A state that moves from one thread to another while the handler of a
** signal is held up in the first one. By the linker's --wrap, the handler
** stops where it reads the clock, and goes on when the other thread waits
** for it. Its argument says what is tried.
*/

#define _DEFAULT_SOURCE		/* kill, syscall */

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "cprof.h"


static pthread_t first;
static int holds;	/* does the test hold up a handler of the first
			   thread? */
static int hold;	/* is the next handler of the first thread held up? */
static int released;	/* may the handler that is held up go on? */
static int idle;	/* turns of the first thread's loop */
static int looks;	/* does the first thread ask in its loop which state
			   it runs? */
static int ended;	/* is the second thread done? */
static int ticks[2];	/* by thread: readings of the clock in its handlers */
static sem_t held;

#define get(v)	__atomic_load_n(&(v), __ATOMIC_SEQ_CST)
#define set(v, x)	__atomic_store_n(&(v), (x), __ATOMIC_SEQ_CST)
#define count(v)	__atomic_fetch_add(&(v), 1, __ATOMIC_SEQ_CST)

int __real_clock_gettime (clockid_t clock, struct timespec *t);
int __wrap_clock_gettime (clockid_t clock, struct timespec *t);
int __real_sched_yield (void);
int __wrap_sched_yield (void);


static int isfirst (void) {
  return pthread_equal(pthread_self(), first);
}


/* Handlers of cprof's have all signals blocked. */
static int inhandler (void) {
  sigset_t set;
  pthread_sigmask(SIG_BLOCK, NULL, &set);
  return sigismember(&set, SIGTERM);
}


int __wrap_clock_gettime (clockid_t clock, struct timespec *t) {
  if (inhandler()) {
    count(ticks[!isfirst()]);
    if (isfirst() && get(hold)) {
      set(hold, 0);
      sem_post(&held);
      while (!get(released)) __real_sched_yield();
    }
  }
  return __real_clock_gettime(clock, t);
}


/* The thread that waits for the handler calls this. */
int __wrap_sched_yield (void) {
  if (!isfirst()) set(released, 1);
  return __real_sched_yield();
}


static void say (const char *what, int is) {
  printf("%s: %s\n", what, is ? "yes" : "no");
}


static void run (lua_State *L, const char *code) {
  if (luaL_dostring(L, code) != LUA_OK) puts(lua_tostring(L, -1));
  lua_settop(L, 0);
}


static void start (lua_State *L, const char *mode, const char *clock,
                   const char *timer) {
  cprof_Options o = {0};
  o.mode = mode;
  o.clock = clock;
  o.timer = timer;
  if (cprof_start(L, &o) != LUA_OK) puts(lua_tostring(L, -1));
}


/* The first thread waits for this in its handler. */
static void await (void) {
  while (sem_wait(&held) != 0) ;
}


/* {======================================================
** What the second thread does
** ======================================================= */

static int second_ticks (lua_State *L) {
  lua_pushinteger(L, get(ticks[1]));
  return 1;
}


/* Waits until the first thread has taken all ticks that were sent to it. */
static void settle (void) {
  int from = get(idle);
  while (get(idle) < from + 2) __real_sched_yield();
}


/* -> turns of the first thread's loop since its handler went on */
static int first_goes (lua_State *L) {
  int before = get(idle);
  set(released, 1);
  while (get(idle) == before) __real_sched_yield();
  lua_pushboolean(L, lua_gethook(L) == NULL);
  return 1;
}


static void second_stop (lua_State *L) {
  await();
  cprof_stop(L);
  say("stop waits for the handler", get(released));
  lua_close(L);
  set(released, 1);
}


static void second_close (lua_State *L) {
  await();
  lua_close(L);
  say("closing waits for the handler", get(released));
  set(released, 1);
}


static void second_move (lua_State *L) {
  int before;
  await();
  cprof_thread(L);
  say("the move waits for the handler", get(released));
  set(released, 1);
  settle();
  before = get(ticks[0]);
  /* ticks that come when others have the processor give no samples */
  run(L, "local function away() for i = 1, 1e4 do end end\n"
         "local function found()\n"
         "  for _, f in ipairs(require 'cprof'.snapshot().functions) do\n"
         "    if f.name == 'away' then return 'yes' end\n"
         "  end\n"
         "end\n"
         "local from, ends = ticks(), os.time() + 300\n"
         "repeat\n"
         "  for _ = 1, 100 do away() end\n"
         "until found() and ticks() >= from + 100 or os.time() > ends\n"
         "print('what ran there is sampled: ' .. (found() or 'no'))");
  say("it is recorded", cprof_running(L));
  cprof_stop(L);
  run(L, "local p = require 'cprof'.snapshot()\n"
         "print('ended: ' .. tostring(p.meta.ended))\n");
  say("the first thread has ticks", get(ticks[0]) > before);
  lua_close(L);
}


/* Nobody tells cprof of the move. */
static void second_steal (lua_State *L) {
  await();
  lua_register(L, "goes", first_goes);
  run(L, "local un = goes()\n"
         "print('the handler touches the state: ' .. (un and 'no' or 'yes'))");
  cprof_thread(L);
  say("it is recorded", cprof_running(L));
  run(L, "print(require 'cprof'.snapshot().meta.ended)");
  lua_close(L);
}


static void mask (int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGURG);
  pthread_sigmask(how, &set, NULL);
}


/* The signal comes to the first thread. */
static void second_listen (lua_State *L) {
  int before;
  cprof_thread(L);
  mask(SIG_BLOCK);
  kill(getpid(), SIGURG);
  before = get(idle);
  while (get(idle) < before + 2) __real_sched_yield();
  say("the first thread sets a hook", lua_gethook(L) != NULL);
  mask(SIG_UNBLOCK);
  say("the second thread sets a hook", lua_gethook(L) != NULL);
  lua_close(L);
}


static lua_State *found;

static void second_current (lua_State *L) {
  int before;
  cprof_thread(L);
  before = get(idle);
  while (get(idle) < before + 2) __real_sched_yield();
  say("the first thread is said to run it", get(found) != NULL);
  say("the second thread is said to run it", cprof_current() == L);
  lua_close(L);
}


/* How many files of delays are open; 'mine': of this thread, else of others. */
static int delays (int mine) {
  char name[64], to[256], own[64];
  int fd, n = 0;
  sprintf(own, "/task/%ld/schedstat", (long)syscall(SYS_gettid));
  for (fd = 0; fd < 256; fd++) {
    ssize_t length;
    sprintf(name, "/proc/self/fd/%d", fd);
    length = readlink(name, to, sizeof to - 1);
    to[length > 0 ? length : 0] = '\0';
    if (strstr(to, "/schedstat") != NULL && !strstr(to, own) == !mine) n++;
  }
  return n;
}


static void second_delays (lua_State *L) {
  say("the first thread's delays are read", delays(0) > 0);
  cprof_thread(L);
  run(L, "string.rep('x', 10)");
  say("they are read on", delays(0) > 0);
  say("the second thread's are", delays(1) > 0);
  lua_close(L);
  say("a file stays open", delays(0) + delays(1) > 0);
}


static void *turn (void *L) {
  cprof_thread((lua_State *)L);
  run((lua_State *)L, "string.rep('x', 10)");
  say("its delays are read", delays(1) > 0);
  return NULL;
}


/* Threads one after another: the last one may have the first one's memory. */
static void second_turns (lua_State *L) {
  pthread_t thread;
  int i;
  for (i = 0; i < 3; i++) {
    pthread_create(&thread, NULL, turn, L);
    pthread_join(thread, NULL);
  }
  cprof_thread(L);
  lua_close(L);
  say("a file stays open", delays(0) + delays(1) > 0);
}


/* This thread has used less processor time than the first one. */
static void second_clock (lua_State *L) {
  cprof_thread(L);
  run(L, "string.rep('x', 10)");
  cprof_stop(L);
  run(L, "local p = require 'cprof'.snapshot()\n"
         "print('steps back: ' .. p.meta.clock_backwards)\n"
         "print('longer than what ran: ' ..\n"
         "  (p.meta.wall_ns < 1e9 and 'no' or 'yes'))");
  lua_close(L);
}

/* }====================================================== */


/* {======================================================
** The first thread
** ======================================================= */

static void first_sample (lua_State *L) {
  start(L, "sample", NULL, NULL);
  run(L, "for i = 1, 100 do end");
  holds = 1;
}


static void first_listen (lua_State *L) {
  if (cprof_listen(L) != LUA_OK) puts(lua_tostring(L, -1));
}


static void first_interruptible (lua_State *L) {
  looks = 1;
  if (cprof_interruptible(L) != LUA_OK) puts(lua_tostring(L, -1));
}


static void first_call (lua_State *L) {
  start(L, "call", NULL, NULL);
}


static void first_watched (lua_State *L) {
  start(L, "sample", NULL, "thread");
}


static void first_clock (lua_State *L) {
  while (clock() < CLOCKS_PER_SEC / 5) ;
  start(L, "call", "cpu", NULL);
}


static const struct {
  const char *name;
  void (*first) (lua_State *L);
  void (*second) (lua_State *L);
} ways[] = {
  {"stop", first_sample, second_stop},
  {"close", first_sample, second_close},
  {"move", first_sample, second_move},
  {"steal", first_sample, second_steal},
  {"listen", first_listen, second_listen},
  {"current", first_interruptible, second_current},
  {"delays", first_call, second_delays},
  {"turns", first_call, second_turns},
  {"watched", first_watched, second_turns},
  {"clock", first_clock, second_clock}
};

static int way;


static void *second (void *L) {
  ways[way].second((lua_State *)L);
  set(ended, 1);
  return NULL;
}


int main (int n, char **words) {
  lua_State *L = luaL_newstate();
  pthread_t thread;
  if (n < 2) return 1;
  first = pthread_self();
  sem_init(&held, 0, 0);
  while (strcmp(words[1], ways[way].name) != 0) way++;
  luaL_openlibs(L);
  cprof_open(L);
  lua_register(L, "ticks", second_ticks);
  ways[way].first(L);
  pthread_create(&thread, NULL, second, L);
  set(hold, holds);  /* not before: a handler could not be let go */
  while (!get(ended)) {
    if (looks) set(found, cprof_current());
    count(idle);
    __real_sched_yield();
  }
  pthread_join(thread, NULL);
  return 0;
}

/* }====================================================== */

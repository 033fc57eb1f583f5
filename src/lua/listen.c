/*
** See listen.h
*/

#define _DEFAULT_SOURCE		/* sigaction, syscall */

#include "lua/listen.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "lua/lstate.h"
#include "record/attach.h"
#include "record/running.h"
#include "record/sample.h"


#define LISTENER	"cprof.listener"

/* address: the key in the registry of the function that is called */
static const char LISTEN = 0;

/* The program's own hook in a coroutine, from before ours was set. */
typedef struct ListenHook {
  lua_State *L;		/* NULL: the slot is free */
  lua_Hook hook;
  int mask, count;
  int left;		/* instructions until its next count event */
} ListenHook;

#define LISTEN_HOOKS	8

/* by what it was asked; bits */
#define LISTEN_SIGNAL	1
#define LISTEN_ALARM	2
#define LISTEN_REQUEST	4	/* the command has left one */

/* A signal concerns the process, so there is one for all states. */
typedef struct Listener {
  lua_State *volatile main;	/* NULL: nobody listens */
  pthread_t thread;		/* the one that runs the state */
  long process;
  int number;
  Running running;
  volatile sig_atomic_t asked;	/* by what, until the hook has run */
  ListenHook hooks[LISTEN_HOOKS];
  int oldest;	/* of these; a coroutine may never have its event */
} Listener;

static Listener listener;


/* {======================================================
** The hook
** ======================================================= */

static void listen_event (lua_State *L, lua_Debug *ar);


static ListenHook *listen_slot (const lua_State *L) {
  int i;
  for (i = 0; i < LISTEN_HOOKS; i++)
    if (listener.hooks[i].L == L) return &listener.hooks[i];
  return NULL;
}


/* A coroutine that was made while another one had our hook has it, too. */
static void listen_inherited (lua_State *L) {
  Recorder *r = recorder_get(L);
  if (r != NULL && r->state == STATE_RUNNING && lua_checkstack(L, 4))
    attach_new(r, L, L);
}


/*
** Gives L its own hook back: the program's, or the recorder's. Where the
** recorder's is there meanwhile, ours is what it took for the program's.
** Returns the program's, with none in it where that is not known.
*/
static ListenHook listen_takeoff (lua_State *L) {
  ListenHook none = ZEROS, *slot = listen_slot(L);
  ListenHook was = slot != NULL ? *slot : none;
  if (slot != NULL) slot->L = NULL;
  if (lua_gethook(L) != listen_event) {
    if (attach_is(L))
      attach_own(recorder_get(L), L, was.hook, was.mask, was.count);
  }
  else if (was.hook != NULL) {
    lua_sethook(L, was.hook, was.mask, was.count);
    if (was.mask & LUA_MASKCOUNT && listener.running.at != NULL)
      internals_setcount(L, listener.running.at, was.left);
  }
  else if (!attach_back(recorder_get(L), L)) listen_inherited(L);
  return was;
}


/* The program's hook has its event where it was behind the recorder's. */
static void listen_pass (const ListenHook *was, lua_State *L,
                         lua_Debug *ar) {
  int event = ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int top = lua_gettop(L);
  if (was->hook == NULL || event == LUA_HOOKCOUNT ||
      !(was->mask & (1 << event)))
    return;
  was->hook(L, ar);
  lua_settop(L, top);
}


/* Calls the function of the Lua part; its errors are its own to tell. */
static void listen_tell (lua_State *L, const char *what) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &LISTEN);
  lua_pushstring(L, what);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
}


/*
** The first event after a signal. Hooks are off while this one runs, so
** the function is not recorded, and is called once.
*/
static void listen_event (lua_State *L, lua_Debug *ar) {
  lua_State *main = listener.main;
  int asked, alone = lua_gethook(L) == listen_event;
  ListenHook was = listen_takeoff(L);
  if (alone) attach_pass(L, ar);
  else listen_pass(&was, L, ar);  /* the recorder has had it */
  asked = listener.asked;
  if (asked == 0 || main == NULL || !lua_checkstack(L, LUA_MINSTACK)) return;
  listener.asked = 0;
  if (lua_gethook(main) == listen_event) listen_takeoff(main);
  if (asked & LISTEN_ALARM) listen_tell(L, "alarm");
  if (asked & LISTEN_REQUEST) listen_tell(L, "request");
  if (asked & LISTEN_SIGNAL) listen_tell(L, "signal");
}

/* }====================================================== */


/* {======================================================
** The signal's handler
**
** It may interrupt anything: Lua, its allocator, a program's C code. It
** touches 'listener', which is written elsewhere only while the handler is
** not installed or by the hook, which runs in the same thread; hot_current,
** a thread-local pointer to a struct that outlives its use here; what
** running.h and sample_hold say; and calls lua_gethook and lua_sethook,
** which Lua allows in a handler, for coroutines that are not collected.
** ======================================================= */

/*
** The coroutine that runs, as far as is known. What a host has resumed
** itself is known while it is recorded, and may have been collected since.
*/
static lua_State *listen_running (const Recorder *r) {
  if (r != NULL && r->hot->L != NULL &&
      running_is(&listener.running, r->hot->L))
    return r->hot->L;
  return running_find(&listener.running);
}


/* Keeps a hook of the program's; the oldest one makes room. */
static void listen_keep (lua_State *L, lua_Hook hook) {
  ListenHook *slot = listen_slot(L);
  if (hook == NULL || attach_is(L)) {
    if (slot != NULL) slot->L = NULL;
    return;
  }
  if (slot == NULL) slot = listen_slot(NULL);
  if (slot == NULL) {
    slot = &listener.hooks[listener.oldest];
    listener.oldest = (listener.oldest + 1) % LISTEN_HOOKS;
  }
  slot->hook = hook;
  slot->mask = lua_gethookmask(L);
  slot->count = lua_gethookcount(L);
  if (listener.running.at != NULL)
    slot->left = internals_count(L, listener.running.at);
  slot->L = L;
}


static void listen_set (Recorder *r, lua_State *L) {
  sample_hold(r, L);
  if (lua_gethook(L) != listen_event) listen_keep(L, lua_gethook(L));
  lua_sethook(L, listen_event, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT |
              (lua_gethookmask(L) & LUA_MASKLINE), 1);
  sample_release(r);
}


/* The recorder of the state that listens, if this thread records it. */
static Recorder *listen_recorder (const lua_State *main) {
  Recorder *r = hot_current->recorder;
  return r != NULL && r->main == main ? r : NULL;
}


/* Is this another thread than the one that runs the state? */
static int listen_elsewhere (void) {
  return listener.process == platform_process() &&
         !pthread_equal(pthread_self(), listener.thread);
}


static void listen_handle (int number, siginfo_t *info, void *context) {
  int error = errno;
  lua_State *main = listener.main, *running;
  Recorder *r;
  (void)context;
  if (main == NULL) return;
  if (info->si_code == SI_TIMER) listener.asked |= LISTEN_ALARM;
  else if (info->si_code == SI_QUEUE) listener.asked |= LISTEN_REQUEST;
  else if (info->si_code == SI_USER) listener.asked |= LISTEN_SIGNAL;
  /* else it was passed on, see below */
  if (listen_elsewhere()) pthread_kill(listener.thread, number);
  else {
    r = listen_recorder(main);
    running = listen_running(r);
    listen_set(r, running);
    if (running != main) listen_set(r, main);
  }
  errno = error;
}

/* }====================================================== */


/* {======================================================
** The alarm: the same signal after some seconds, by a timer of its own.
** Where there is none, whoever asked for the recording ends it, too.
** ======================================================= */

#if defined(__linux__)

/* the kernel's number of it: calls of the kernel need no library */
static int alarm_timer = -1;
static long alarm_process;	/* a child of a fork has no timer */

static void alarm_clear (void) {
  if (alarm_timer >= 0 && alarm_process == platform_process())
    syscall(SYS_timer_delete, alarm_timer);
  alarm_timer = -1;
}


static int alarm_set (int number, double seconds) {
  struct sigevent event;
  struct itimerspec at;
  memset(&event, 0, sizeof event);
  memset(&at, 0, sizeof at);
  alarm_process = platform_process();
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = number;
  at.it_value.tv_sec = (time_t)seconds;
  at.it_value.tv_nsec = 1 + (long)((seconds - (double)(time_t)seconds) * 1e9);
  if (at.it_value.tv_nsec > 999999999) at.it_value.tv_nsec = 999999999;
  if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &alarm_timer) != 0) {
    alarm_timer = -1;
    return 0;
  }
  return syscall(SYS_timer_settime, alarm_timer, 0, &at, NULL) == 0;
}

#else

static void alarm_clear (void) {
}


static int alarm_set (int number, double seconds) {
  (void)number; (void)seconds;
  return 0;
}

#endif

/* }====================================================== */


/* A signal that is on its way when nobody listens any more does nothing. */
static void listen_end (void) {
  struct sigaction action;
  if (listener.main == NULL) return;
  alarm_clear();
  listener.main = NULL;
  if (sigaction(listener.number, NULL, &action) == 0 &&
      action.sa_flags & SA_SIGINFO && action.sa_sigaction == listen_handle)
    signal(listener.number, SIG_IGN);
  running_end(&listener.running);
}


static int listen_handled (int number) {
  struct sigaction action;
  if (sigaction(number, NULL, &action) != 0) return 1;
  if (action.sa_flags & SA_SIGINFO) return 1;
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}


static int listen_install (int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = listen_handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  return sigaction(number, &action, NULL) == 0;
}


static int listen_fail (lua_State *L, const char *why) {
  lua_pushnil(L);
  lua_pushstring(L, why);
  return 2;
}


/*
** (number of a signal, function) -> what stops listening when it is
** collected; or nil and a message. The function is called with what has
** come: "signal", "request" or "alarm".
*/
static int listen_listen (lua_State *L) {
  int number = (int)luaL_checkinteger(L, 1);
  Library library;
  luaL_checktype(L, 2, LUA_TFUNCTION);
  if (listener.main != NULL)
    return listen_fail(L, "a Lua state of this process listens already");
  if (listen_handled(number))
    return listen_fail(L, "the program handles this signal itself");
  if (!library_find(&library, &lstate_recorder(L)->recording.memory))
    return listen_fail(L, "not enough memory");
  lua_pushvalue(L, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &LISTEN);
  lua_newuserdatauv(L, 0, 0);
  luaL_setmetatable(L, LISTENER);
  memset(&listener, 0, sizeof listener);
  listener.thread = pthread_self();
  listener.process = platform_process();
  listener.number = number;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  running_begin(&listener.running, lua_tothread(L, -1), &library);
  listener.main = lua_tothread(L, -1);
  lua_pop(L, 1);
  if (listen_install(number)) return 1;
  listener.main = NULL;
  return listen_fail(L, strerror(errno));
}


static int listen_gc (lua_State *L) {
  luaL_checkudata(L, 1, LISTENER);
  listen_end();
  return 0;
}


/* seconds -> can there be an alarm? nil: there is to be none */
static int listen_alarm (lua_State *L) {
  double seconds = luaL_optnumber(L, 1, 0);
  alarm_clear();
  lua_pushboolean(L, listener.main != NULL && seconds > 0 &&
                     seconds < 1e8 && alarm_set(listener.number, seconds));
  return 1;
}


static const luaL_Reg listen_list[] = {
  {"listen", listen_listen},
  {"alarm", listen_alarm},
  {NULL, NULL}
};

const luaL_Reg *listen_functions (void) {
  return listen_list;
}


void listen_open (lua_State *L) {
  luaL_newmetatable(L, LISTENER);
  lua_pushcfunction(L, listen_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}

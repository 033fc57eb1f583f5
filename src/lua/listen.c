/*
** See listen.h
*/

#define _DEFAULT_SOURCE		/* sigaction, syscall, MAP_FIXED */

#include "lua/listen.h"

#include "follow/attach.h"
#include "follow/lend.h"
#include "follow/running.h"
#include "lua/lstate.h"
#include "record/hook.h"

#if PLATFORM_SIGNALS

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if PLATFORM_TIMERS
#include <sys/syscall.h>
#endif


#define LISTENER	"cprof.listener"

/* address: the key in the registry of the function that is called */
static const char LISTEN = 0;

/* The program's own hook in a coroutine, from before ours was set. */
typedef struct ListenHook {
  LentHook own;
  int left;		/* instructions until its next count event */
} ListenHook;

#define LISTEN_HOOKS	8

#define LISTEN_STATES	32	/* of a process that listen at once */

/* by what it was asked; bits */
#define LISTEN_SIGNAL	1
#define LISTEN_ALARM	2
#define LISTEN_REQUEST	4	/* the command has left one */

typedef struct Listener {
  lua_State *volatile main;	/* NULL: nobody listens */
  pthread_t thread;		/* the one that runs the state ... */
#if PLATFORM_TIMERS
  long id;	/* ... and its number, which may be that of none later on */
#endif
  long process;
  int number;
  const void *box;	/* whose collection ends it */
  Running running;
  volatile sig_atomic_t asked;	/* by what, until the hook has run */
  ListenHook hooks[LISTEN_HOOKS];
  int oldest;	/* of these; a coroutine may never have its event */
#if PLATFORM_TIMERS
  timer_t timer;	/* the alarm's */
  long timed;	/* the process that has it; 0: none. No child of a fork has */
#endif
} Listener;

/* A signal concerns the process: its handler finds all states here. */
static Listener listeners[LISTEN_STATES];
static int listen_within[LISTEN_STATES];	/* handlers that look at each */
static pthread_mutex_t listen_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t listen_once = PTHREAD_ONCE_INIT;


/* {======================================================
** The lock, which no child of a fork may find taken by another thread
** ======================================================= */

static void listen_acquire (void) {
  pthread_mutex_lock(&listen_lock);
}


static void listen_release (void) {
  pthread_mutex_unlock(&listen_lock);
}


/* The threads whose handlers looked at listeners are gone. */
static void listen_forked (void) {
  memset(listen_within, 0, sizeof listen_within);
  listen_release();
}


static void listen_watchforks (void) {
  pthread_atfork(listen_acquire, listen_release, listen_forked);
}

/* }====================================================== */


/* The one of the state whose main thread this is; NULL: it does not listen. */
static Listener *listen_main (const lua_State *main) {
  Listener *l = listeners, *end = listeners + LISTEN_STATES;
  while (l < end && l->main != main) l++;
  return l < end ? l : NULL;
}


/* The one of L's state; there is a slot free on the stack. */
static Listener *listen_of (lua_State *L) {
  const lua_State *main;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  main = lua_tothread(L, -1);
  lua_pop(L, 1);
  return listen_main(main);
}


/* How many listen, or, with a signal, listen to that. */
static int listen_count (int number) {
  int i, n = 0;
  for (i = 0; i < LISTEN_STATES; i++)
    n += listeners[i].main != NULL &&
         (number == 0 || listeners[i].number == number);
  return n;
}


/* How many began to listen in this process, and not in one it is a fork of. */
static int listen_countours (void) {
  long process = platform_process();
  int i, n = 0;
  for (i = 0; i < LISTEN_STATES; i++)
    n += listeners[i].main != NULL && listeners[i].process == process;
  return n;
}


/* {======================================================
** The hook
** ======================================================= */

static void listen_event (lua_State *L, lua_Debug *ar);


/* Adds to what handlers of several threads add to. */
static void listen_ask (Listener *l, int asks) {
#if defined(__GNUC__)
  __atomic_fetch_or(&l->asked, asks, __ATOMIC_SEQ_CST);
#else
  l->asked |= asks;
#endif
}


/* Takes that, at once, so that nothing that is added meanwhile is lost. */
static int listen_take (Listener *l) {
#if defined(__GNUC__)
  return __atomic_exchange_n(&l->asked, 0, __ATOMIC_SEQ_CST);
#else
  int asked = l->asked;
  l->asked = 0;
  return asked;
#endif
}


/* Is there anything of it? */
static int listen_asked (const Listener *l) {
#if defined(__GNUC__)
  return __atomic_load_n(&l->asked, __ATOMIC_SEQ_CST) != 0;
#else
  return l->asked != 0;
#endif
}


static ListenHook *listen_slot (Listener *l, const lua_State *L) {
  int i;
  for (i = 0; i < LISTEN_HOOKS; i++)
    if (l->hooks[i].own.L == L) return &l->hooks[i];
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
static LentHook listen_takeoff (Listener *l, lua_State *L) {
  ListenHook *slot = l != NULL ? listen_slot(l, L) : NULL;
  ListenHook none = ZEROS, kept = slot != NULL ? *slot : none;
  LentHook was = kept.own;
  if (slot != NULL) slot->own.L = NULL;
  if (lua_gethook(L) != listen_event) {
    if (hooks_is(hook_functions(), lua_gethook(L)))
      attach_own(recorder_get(L), L, was.hook, was.mask, was.count);
  }
  else if (was.hook != NULL) {
    lua_sethook(L, was.hook, was.mask, was.count);
    if (was.mask & LUA_MASKCOUNT && l->running.at != NULL)
      internals_setcount(L, l->running.at, kept.left);
  }
  else if (!attach_back(recorder_get(L), L)) listen_inherited(L);
  return was;
}


/* The program's hook has its event where it was behind the recorder's. */
static void listen_pass (const LentHook *was, lua_State *L,
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
  Listener *l = listen_of(L);
  int asked, alone = lua_gethook(L) == listen_event;
  LentHook was = listen_takeoff(l, L);
  if (alone) attach_pass(L, ar);
  else listen_pass(&was, L, ar);  /* the recorder has had it */
  if (l == NULL || !lua_checkstack(L, LUA_MINSTACK)) return;
  asked = listen_take(l);
  if (asked == 0) return;
  if (lua_gethook(l->main) == listen_event) listen_takeoff(l, l->main);
  if (asked & LISTEN_ALARM) listen_tell(L, "alarm");
  if (asked & LISTEN_REQUEST) listen_tell(L, "request");
  if (asked & LISTEN_SIGNAL) listen_tell(L, "signal");
}

/* }====================================================== */


/* {======================================================
** What tells others that a signal has come: a digit of a file that is
** mapped as long as the process lives, also when its files are closed
** ======================================================= */

#define LISTEN_COUNTED	4096	/* bytes of the file that are mapped */

static char *volatile listen_counted;	/* NULL: there is no file */
static size_t listen_digit;


static void listen_tally (void) {
  char *digit = listen_counted;
  if (digit == NULL) return;
  digit += listen_digit;
  *digit = *digit >= '0' && *digit < '9' ? (char)(*digit + 1) : '0';
}


void listen_countin (int fd, size_t offset) {
  void *at;
  if (offset >= LISTEN_COUNTED) return;
  listen_acquire();
  at = mmap(listen_counted, LISTEN_COUNTED, PROT_READ | PROT_WRITE,
            MAP_SHARED | (listen_counted != NULL ? MAP_FIXED : 0), fd, 0);
  listen_digit = offset;
  listen_counted = at != MAP_FAILED ? cast(char *, at) : NULL;
  listen_tally();
  listen_release();
}

/* }====================================================== */


/* {======================================================
** The signal's handler
**
** It may interrupt anything: Lua, its allocator, a program's C code. It
** touches 'listeners', each of which is written elsewhere only while it has
** no state, or by the hook of that, which runs in the same thread; of those
** of other threads it only sets 'asked'; 'listen_within'; the digit above;
** hot_current, a thread-local pointer to a struct that outlives its use
** here; what running.h and lend_hold say; and calls lua_gethook and
** lua_sethook, which Lua allows in a handler, for coroutines that are not
** collected.
** ======================================================= */

/*
** The coroutine that runs, as far as is known. What a host has resumed
** itself is known while it is recorded, and may have been collected since.
*/
static lua_State *listen_running (const Listener *l, const Recorder *r) {
  if (r != NULL && r->hot->L != NULL && running_is(&l->running, r->hot->L))
    return r->hot->L;
  return running_find(&l->running);
}


/* Keeps a hook of the program's; the oldest one makes room. */
static void listen_keep (Listener *l, lua_State *L, lua_Hook hook) {
  ListenHook *slot = listen_slot(l, L);
  if (hook == NULL || hooks_is(hook_functions(), hook)) {
    if (slot != NULL) slot->own.L = NULL;
    return;
  }
  if (slot == NULL) slot = listen_slot(l, NULL);
  if (slot == NULL) {
    slot = &l->hooks[l->oldest];
    l->oldest = (l->oldest + 1) % LISTEN_HOOKS;
  }
  slot->own.L = NULL;
  platform_fence();
  if (l->running.at != NULL)
    slot->left = internals_count(L, l->running.at);
  lend_note(&slot->own, L);
}


static void listen_set (Listener *l, Recorder *r, lua_State *L) {
  lend_hold(r != NULL ? r->lender : NULL, L);
  if (lua_gethook(L) != listen_event) listen_keep(l, L, lua_gethook(L));
  lua_sethook(L, listen_event, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT |
              (lua_gethookmask(L) & LUA_MASKLINE), 1);
  lend_release(r != NULL ? r->lender : NULL);
}


/* The recorder of the state that listens, if this thread records it. */
static Recorder *listen_recorder (const lua_State *main) {
  Recorder *r = hot_own()->recorder;
  return r != NULL && r->main == main ? r : NULL;
}


/* Is this another thread than the one that runs the state? */
static int listen_elsewhere (const Listener *l) {
  pthread_t thread = __atomic_load_n(&l->thread, __ATOMIC_SEQ_CST);
  return l->process == platform_process() &&
         !pthread_equal(pthread_self(), thread);
}


static void listen_arm (Listener *l, lua_State *main) {
  Recorder *r = listen_recorder(main);
  lua_State *running;
  if (running_elsewhere(&l->running)) return;
  running = listen_running(l, r);
  listen_set(l, r, running);
  if (running != main) listen_set(l, r, main);
}


/* What a signal asks of a state; 0: nothing, or it was passed on. */
static int listen_asks (const Listener *l, const siginfo_t *info) {
  switch (info->si_code) {
    case SI_TIMER: return info->si_value.sival_ptr == l ? LISTEN_ALARM : 0;
    case SI_QUEUE: return LISTEN_REQUEST;
    case SI_USER: return LISTEN_SIGNAL;
    default: return 0;
  }
}


/*
** Passes the signal on to the thread that runs the state. Where that is gone,
** nobody but this one could say that it has come.
*/
static void listen_forward (const Listener *l) {
#if PLATFORM_TIMERS
  if (syscall(SYS_tgkill, l->process, l->id, l->number) != 0) listen_tally();
#else
  if (pthread_kill(l->thread, l->number) != 0) listen_tally();
#endif
}


static void listen_receive (Listener *l, int number, const siginfo_t *info) {
  lua_State *main = l->main;
  int asks = listen_asks(l, info);
  if (main == NULL || l->number != number) return;
  if (asks != 0) listen_ask(l, asks);
  if (!listen_elsewhere(l)) {
    if (asks != 0) listen_tally();
    if (listen_asked(l)) listen_arm(l, main);
  }
  else if (asks != 0) listen_forward(l);
}


/* Whoever moves or ends a listener waits until nobody is within. */
static void listen_handle (int number, siginfo_t *info, void *context) {
  int error = errno, i;
  (void)context;
  for (i = 0; i < LISTEN_STATES; i++) {
    __atomic_fetch_add(&listen_within[i], 1, __ATOMIC_SEQ_CST);
    listen_receive(&listeners[i], number, info);
    __atomic_fetch_sub(&listen_within[i], 1, __ATOMIC_SEQ_CST);
  }
  errno = error;
}


/* Waits until no handler goes by what it has read of a listener before. */
static void listen_await (const Listener *l) {
  const int *within = &listen_within[l - listeners];
  while (__atomic_load_n(within, __ATOMIC_SEQ_CST) > 0) sched_yield();
}

/* }====================================================== */


void listen_again (lua_State *L) {
  Listener *l = lua_checkstack(L, 1) ? listen_of(L) : NULL;
  if (l != NULL && listen_asked(l)) listen_arm(l, l->main);
}


int listen_pending (lua_State *L, lua_Hook f) {
  if (f != listen_event) return 0;
  listen_again(L);
  return 1;
}


void listen_enter (lua_State *L) {
  Listener *l = lua_checkstack(L, 1) ? listen_of(L) : NULL;
  if (l == NULL) return;
  if (listen_elsewhere(l)) {
#if PLATFORM_TIMERS
    l->id = syscall(SYS_gettid);
#endif
    __atomic_store_n(&l->thread, pthread_self(), __ATOMIC_SEQ_CST);
    listen_await(l);
  }
  running_enter(&l->running);
  if (listen_asked(l)) listen_arm(l, l->main);
}


/* {======================================================
** The alarm: the same signal after some seconds, by a timer of its own.
** Where there is none, whoever asked for the recording ends it, too.
** ======================================================= */

#if PLATFORM_TIMERS

static void alarm_clear (Listener *l) {
  if (l->timed == platform_process()) timer_delete(l->timer);
  l->timed = 0;
}


static int alarm_set (Listener *l, double seconds) {
  struct sigevent event;
  struct itimerspec at;
  memset(&event, 0, sizeof event);
  memset(&at, 0, sizeof at);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = l->number;
  event.sigev_value.sival_ptr = l;
  at.it_value.tv_sec = (time_t)seconds;
  at.it_value.tv_nsec = 1 + (long)((seconds - (double)(time_t)seconds) * 1e9);
  if (at.it_value.tv_nsec > 999999999) at.it_value.tv_nsec = 999999999;
  if (timer_create(CLOCK_MONOTONIC, &event, &l->timer) != 0) return 0;
  l->timed = platform_process();
  return timer_settime(l->timer, 0, &at, NULL) == 0;
}

#else

static void alarm_clear (Listener *l) {
  (void)l;
}


static int alarm_set (Listener *l, double seconds) {
  (void)l; (void)seconds;
  return 0;
}

#endif

/* }====================================================== */


static int listen_is (const struct sigaction *a) {
  return a->sa_flags & SA_SIGINFO && a->sa_sigaction == listen_handle;
}


/*
** A signal that is on its way when nobody listens any more does nothing. What
** would do nothing anyway is not ignored also by programs that are run then.
*/
static void listen_leave (int number) {
  struct sigaction action;
  int ignored = number == SIGURG || number == SIGWINCH;
  if (sigaction(number, NULL, &action) == 0 && listen_is(&action))
    signal(number, ignored ? SIG_DFL : SIG_IGN);
}


static void listen_end (Listener *l) {
  Running running;
  if (l->main == NULL) return;
  alarm_clear(l);
  listen_acquire();
  running = l->running;  /* another thread may have the place next */
  l->main = NULL;
  listen_await(l);
  if (listen_count(l->number) == 0) listen_leave(l->number);
  listen_release();
  running_end(&running);
}


static int listen_handled (int number) {
  struct sigaction action;
  if (sigaction(number, NULL, &action) != 0) return 1;
  if (listen_is(&action)) return 0;
  if (action.sa_flags & SA_SIGINFO) return 1;
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}


static int listen_install (int number) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = listen_handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&action.sa_mask);
  return sigaction(number, &action, NULL) == 0;
}


static int listen_fail (lua_State *L, const char *why) {
  lua_pushnil(L);
  lua_pushstring(L, why);
  return 2;
}


/* Takes part from here on. 0: there is no room. */
static Listener *listen_begin (const Listener *with, lua_State *main) {
  Listener *l;
  listen_acquire();
  l = listen_main(NULL);
  if (l != NULL) {
    *l = *with;
    platform_fence();  /* handlers read it without the lock */
    l->main = main;
  }
  listen_release();
  return l;
}


/*
** (number of a signal, function) -> what stops listening when it is
** collected, number of states that this process has made listen; or nil and
** a message. The
** function is called with what has come: "signal", "request" or "alarm".
*/
static int listen_listen (lua_State *L) {
  Listener with, *l;
  Library library;
  lua_State *main;
  pthread_once(&listen_once, listen_watchforks);
  memset(&with, 0, sizeof with);
  with.number = (int)luaL_checkinteger(L, 1);
  with.thread = pthread_self();
#if PLATFORM_TIMERS
  with.id = syscall(SYS_gettid);
#endif
  with.process = platform_process();
  luaL_checktype(L, 2, LUA_TFUNCTION);
  if (listen_of(L) != NULL)
    return listen_fail(L, "this Lua state listens already");
  if (listen_handled(with.number))
    return listen_fail(L, "the program handles this signal itself");
  if (!library_find(&library, &lstate_recorder(L)->recording.memory))
    return listen_fail(L, "not enough memory");
  lua_settop(L, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &LISTEN);
  with.box = lua_newuserdatauv(L, 1, 0);
  luaL_setmetatable(L, LISTENER);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  main = lua_tothread(L, -1);
  lua_pop(L, 1);
  running_begin(&with.running, main, &library);
  l = listen_begin(&with, main);
  if (l == NULL) {
    running_end(&with.running);
    return listen_fail(L, "too many Lua states of this process listen");
  }
  if (!listen_install(with.number)) {
    const char *why = strerror(errno);
    listen_end(l);
    return listen_fail(L, why);
  }
  lua_pushinteger(L, listen_countours());
  return 2;
}


/* -> number of those that go on to listen when this one has ended to */
static int listen_unlisten (lua_State *L) {
  Listener *l = listen_of(L);
  if (l != NULL) listen_end(l);
  lua_pushinteger(L, listen_countours());
  return 1;
}


/* The state may have begun to listen again. */
static int listen_gc (lua_State *L) {
  Listener *l = listen_of(L);
  if (l != NULL && l->box == lua_touserdata(L, 1)) listen_end(l);
  return 0;
}


/* -> number of states that listen */
static int listen_states (lua_State *L) {
  lua_pushinteger(L, listen_count(0));
  return 1;
}


/* seconds -> can there be an alarm? nil: there is to be none */
static int listen_alarm (lua_State *L) {
  double seconds = luaL_optnumber(L, 1, 0);
  Listener *l = listen_of(L);
  if (l != NULL) alarm_clear(l);
  lua_pushboolean(L, l != NULL && seconds > 0 && seconds < 1e8 &&
                     alarm_set(l, seconds));
  return 1;
}


static const luaL_Reg listen_list[] = {
  {"listen", listen_listen},
  {"alarm", listen_alarm},
  {"unlisten", listen_unlisten},
  {"listening", listen_states},
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

#endif

/*
** See listen.h
*/

#define _DEFAULT_SOURCE		/* sigaction, syscall, MAP_FIXED */

#include "system/listen.h"

#include "base/release.h"
#include "base/savedhook.h"
#include "follow/attach.h"
#include "follow/hookswap.h"
#include "follow/running.h"
#include "record/hook.h"
#include "system/system.h"

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

/* its address: the key in the registry of the function to call */
static const char LISTEN = 0;

/* the program's hook in a coroutine, saved while ours replaces it */
typedef struct ListenHook {
  SavedHook own;
  int left;		/* instructions until its next count event */
} ListenHook;

#define LISTEN_HOOKS	8

#define LISTEN_STATES	32	/* most states of a process that can listen */

/* what has come; bits */
#define LISTEN_SIGNAL	1
#define LISTEN_ALARM	2
#define LISTEN_REQUEST	4	/* the command has left a request */

typedef struct Listener {
  lua_State *volatile main;	/* main thread of the state; NULL: free entry */
  pthread_t thread;		/* the thread that runs the state */
#if PLATFORM_TIMERS
  long id;	/* that thread's number, safe to use after its end */
#endif
  PlatformSelf owner;	/* the process that it is in */
  int number;
  const void *box;	/* the userdata whose collection ends listening */
  Running running;
  volatile sig_atomic_t asked;	/* the request that waits for the hook */
  ListenHook hooks[LISTEN_HOOKS];
  int oldest;	/* index; replaced next, as some may wait for ever */
#if PLATFORM_TIMERS
  timer_t timer;	/* the alarm's */
  PlatformSelf timed;	/* the process that made 'timer', for a fork has no
			   timers; with process 0: there is none */
#endif
} Listener;

/* Signals are sent to the process, so the handler needs all states. */
static Listener listeners[LISTEN_STATES];
static int listen_within[LISTEN_STATES];	/* handlers now using each */


/* In the child of a fork: other threads, and their handlers, are gone. */
static void listen_forked (void) {
  memset(listen_within, 0, sizeof listen_within);
}


/* The listener of the state with this main thread; NULL: there is none. */
static Listener *listen_main (const lua_State *main) {
  Listener *l = listeners, *end = listeners + LISTEN_STATES;
  while (l < end && l->main != main) l++;
  return l < end ? l : NULL;
}


/* The listener of L's state, or NULL. Needs a free slot on L's stack. */
static Listener *listen_of (lua_State *L) {
  const lua_State *main;
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  main = lua_tothread(L, -1);
  lua_pop(L, 1);
  return listen_main(main);
}


/* The number of listeners: to this signal, or with 0 to any. */
static int listen_count (int number) {
  int i, n = 0;
  for (i = 0; i < LISTEN_STATES; i++)
    n += listeners[i].main != NULL &&
         (number == 0 || listeners[i].number == number);
  return n;
}


/* The number of listeners of this process, without those of its parents. */
static int listen_countours (void) {
  int i, n = 0;
  for (i = 0; i < LISTEN_STATES; i++)
    n += listeners[i].main != NULL && platform_isself(&listeners[i].owner);
  return n;
}


/* {======================================================
** The hook
** ======================================================= */

static void listen_event (lua_State *L, lua_Debug *ar);


/* Adds to 'l->asked', which handlers in several threads may do at a time. */
static void listen_ask (Listener *l, int asks) {
  __atomic_fetch_or(&l->asked, asks, __ATOMIC_SEQ_CST);
}


/* Reads and clears it in one step, so that nothing added is lost. */
static int listen_take (Listener *l) {
  return __atomic_exchange_n(&l->asked, 0, __ATOMIC_SEQ_CST);
}


/* Does anything wait for the hook? */
static int listen_asked (const Listener *l) {
  return __atomic_load_n(&l->asked, __ATOMIC_SEQ_CST) != 0;
}


static ListenHook *listen_slot (Listener *l, const lua_State *L) {
  int i;
  for (i = 0; i < LISTEN_HOOKS; i++)
    if (l->hooks[i].own.L == L) return &l->hooks[i];
  return NULL;
}


/*
** L has our hook without a signal: it inherited it from its creator. Gives it
** the recorder's, if it is recorded.
*/
static void listen_inherited (lua_State *L) {
  Recorder *r = recorder_get(L);
  if (r != NULL && r->state == STATE_RUNNING && lua_checkstack(L, 4))
    attach_new(r, L, L);
}


/*
** Removes our hook from L, and puts back what it replaced: the program's hook,
** or the recorder's. If a recording has begun since, the recorder's hook is
** set, and ours was mistaken for the program's: corrects that. Returns the
** program's hook, which is NULL if there is none, or it is not known.
*/
static SavedHook listen_unhook (Listener *l, lua_State *L) {
  ListenHook *slot = l != NULL ? listen_slot(l, L) : NULL;
  ListenHook none = ZEROS, kept = slot != NULL ? *slot : none;
  SavedHook was = kept.own;
  if (slot != NULL) slot->own.L = NULL;
  if (lua_gethook(L) != listen_event) {
    if (hooks_is(hook_functions(), lua_gethook(L)))
      attach_setown(recorder_get(L), L, was.hook, was.mask, was.count);
  }
  else if (was.hook != NULL) {
    savedhook_set(&was, L);
    if (was.mask & LUA_MASKCOUNT && l->running.at != NULL)
      internals_setcount(L, l->running.at, kept.left);
  }
  else if (!attach_back(recorder_get(L), L)) listen_inherited(L);
  return was;
}


/*
** Calls the program's hook for the event, where the recorder has called ours in
** its place.
*/
static void listen_pass (const SavedHook *was, lua_State *L,
                         lua_Debug *ar) {
  int event = ar->event == LUA_HOOKTAILCALL ? LUA_HOOKCALL : ar->event;
  int top = lua_gettop(L);
  if (was->hook == NULL || event == LUA_HOOKCOUNT ||
      !(was->mask & (1 << event)))
    return;
  was->hook(L, ar);
  lua_settop(L, top);
}


/* Calls the function of the Lua part, which reports errors itself. */
static void listen_call (lua_State *L, const char *what) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &LISTEN);
  lua_pushstring(L, what);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
}


static void listen_rearm (Listener *l);


/*
** Lua 5.4.0 and 5.4.1 look for the line of the instruction that ran last, even
** if line events have just ended. If the last function to run was Lua code
** that this hook has called, they read outside of the program's function and
** may crash. lua_sethook corrects their note of that instruction.
*/
static void listen_forget (lua_State *L) {
  if (release_number() >= 50402 || lua_gethook(L) != NULL) return;
  lua_sethook(L, NULL, 0, 0);
}


/*
** The hook: the first event after a signal. Lua calls no hooks within a hook,
** so the function is not recorded, and is called once.
*/
static void listen_event (lua_State *L, lua_Debug *ar) {
  Listener *l = listen_of(L);
  int asked, alone = lua_gethook(L) == listen_event;
  SavedHook was = listen_unhook(l, L);
  if (alone) attach_pass(L, ar, 1);
  else listen_pass(&was, L, ar);  /* the recorder has seen the event */
  if (l == NULL || !lua_checkstack(L, LUA_MINSTACK)) return;
  asked = listen_take(l);
  if (asked == 0) return;
  if (lua_gethook(l->main) == listen_event) listen_unhook(l, l->main);
  if (asked & LISTEN_ALARM) listen_call(L, "alarm");
  if (asked & LISTEN_REQUEST) listen_call(L, "request");
  if (asked & LISTEN_SIGNAL) listen_call(L, "signal");
  listen_forget(L);
  /* a signal that came meanwhile may have set a hook that is gone again */
  listen_rearm(l);
}

/* }====================================================== */


/* {======================================================
** A digit in a file tells other processes that a signal has come. The file is
** mapped as long as the process lives, even if the program closes it.
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
  platform_acquire();
  at = mmap(listen_counted, LISTEN_COUNTED, PROT_READ | PROT_WRITE,
            MAP_SHARED | (listen_counted != NULL ? MAP_FIXED : 0), fd, 0);
  listen_digit = offset;
  listen_counted = at != MAP_FAILED ? cast(char *, at) : NULL;
  listen_tally();
  platform_release();
}

/* }====================================================== */


/* {======================================================
** The signal's handler
**
** It may interrupt anything: Lua, its allocator, a program's C code. It reads
** and writes
**   - 'listeners'. Outside of handlers, an entry is written only while it is
**     free, or by the hook of its state, which runs in the same thread. Of a
**     state in another thread, the handler only sets 'asked';
**   - 'listen_within', and the digit above;
**   - hot_current, a thread-local pointer to a struct that is not freed while
**     the handler uses it;
**   - what running.h and hookswap_block say.
** It calls lua_gethook and lua_sethook, which Lua allows in a handler, for
** coroutines that are not collected.
** ======================================================= */

/*
** The coroutine that runs, as far as is known. One that a host has resumed is
** known only while it is recorded; it may have been collected since.
*/
static lua_State *listen_running (const Listener *l, const Recorder *r) {
  if (r != NULL && r->hot->L != NULL && running_is(&l->running, r->hot->L))
    return r->hot->L;
  return running_find(&l->running);
}


/* Saves 'hook' of L, if it is the program's; the oldest one makes room. */
static void listen_savehook (Listener *l, lua_State *L, lua_Hook hook) {
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
  savedhook_save(&slot->own, L);
}


static void listen_set (Listener *l, Recorder *r, lua_State *L) {
  hookswap_block(r != NULL ? r->hookswap : NULL, L);
  if (lua_gethook(L) != listen_event) listen_savehook(l, L, lua_gethook(L));
  lua_sethook(L, listen_event, LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT |
              (lua_gethookmask(L) & LUA_MASKLINE), 1);
  hookswap_unblock(r != NULL ? r->hookswap : NULL);
}


/* The recorder of that state, if this thread records it; or NULL. */
static Recorder *listen_recorder (const lua_State *main) {
  Recorder *r = hot_own()->recorder;
  return r != NULL && r->main == main ? r : NULL;
}


/* Is this another thread than the one that runs the state? */
static int listen_elsewhere (const Listener *l) {
  pthread_t thread = __atomic_load_n(&l->thread, __ATOMIC_SEQ_CST);
  return platform_isself(&l->owner) &&
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


/* What a signal asks of a state; 0: nothing, or another thread passed it on. */
static int listen_asks (const Listener *l, const siginfo_t *info) {
  switch (info->si_code) {
    case SI_TIMER: return info->si_value.sival_ptr == l ? LISTEN_ALARM : 0;
    case SI_QUEUE: return LISTEN_REQUEST;
    case SI_USER: return LISTEN_SIGNAL;
    default: return 0;
  }
}


/*
** Passes the signal on to the thread that runs the state. If that has ended,
** counts the signal here, as nobody else can.
*/
static void listen_forward (const Listener *l) {
#if PLATFORM_TIMERS
  if (syscall(SYS_tgkill, l->owner.process, l->id, l->number) != 0)
    listen_tally();
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


/* The handler. 'listen_within' tells 'listen_await' what it is using. */
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


/*
** Waits until no handler is using the listener: later ones see what this thread
** has changed before.
*/
static void listen_await (const Listener *l) {
  const int *within = &listen_within[l - listeners];
  while (__atomic_load_n(within, __ATOMIC_SEQ_CST) > 0) sched_yield();
}

/* }====================================================== */


/*
** Sets the hook outside of the handler, if anything waits for it. Signals wait
** meanwhile: a handler would set it in between, and it would then be saved as
** the program's.
*/
static void listen_rearm (Listener *l) {
  sigset_t all, before;
  sigfillset(&all);
  if (!listen_asked(l) || pthread_sigmask(SIG_BLOCK, &all, &before) != 0)
    return;
  listen_arm(l, l->main);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}


void listen_again (lua_State *L) {
  Listener *l = lua_checkstack(L, 1) ? listen_of(L) : NULL;
  if (l != NULL) listen_rearm(l);
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
  listen_rearm(l);
}


/* {======================================================
** The alarm: a timer sends the same signal after some seconds, to end a
** recording. Where there are no timers, the command that asked for the
** recording has to end it.
** ======================================================= */

#if PLATFORM_TIMERS

static void alarm_clear (Listener *l) {
  if (platform_isself(&l->timed)) timer_delete(l->timer);
  l->timed.process = 0;
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
  l->timed = platform_self();
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
** Removes the handler, so that a late signal does nothing. Signals that do
** nothing by default get their default action: an ignored signal would stay
** ignored in programs that this process runs.
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
  platform_acquire();
  running = l->running;  /* another thread may use the entry next */
  l->main = NULL;
  listen_await(l);
  if (listen_count(l->number) == 0) listen_leave(l->number);
  platform_release();
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


/*
** Adds a listener, a copy of '*with'. NULL: there is no room. Sets '*states' to
** the number of states of this process that listen: if several threads begin at
** once, only one of them gets 1.
*/
static Listener *listen_begin (const Listener *with, lua_State *main,
                               int *states) {
  Listener *l;
  platform_acquire();
  l = listen_main(NULL);
  if (l != NULL) {
    *l = *with;
    platform_fence();  /* handlers read it without the lock */
    l->main = main;
  }
  *states = listen_countours();
  platform_release();
  return l;
}


/*
** number of a signal, function -> userdata that stops listening when it is
** collected, number of states of this process that listen; or nil and a
** message. The function is called with what has come: "signal", "request" or
** "alarm".
*/
static int listen_listen (lua_State *L) {
  const Recorder *r = recorder_get(L);
  Listener with, *l;
  Library library;
  lua_State *main;
  int states;
  platform_atfork(listen_forked);
  memset(&with, 0, sizeof with);
  with.number = (int)luaL_checkinteger(L, 1);
  with.thread = pthread_self();
#if PLATFORM_TIMERS
  with.id = syscall(SYS_gettid);
#endif
  with.owner = platform_self();
  luaL_checktype(L, 2, LUA_TFUNCTION);
  if (listen_of(L) != NULL)
    return system_fail(L, "this Lua state is already listening");
  if (listen_handled(with.number))
    return system_fail(L, "the program handles this signal itself");
  if (r == NULL) return system_fail(L, RECORDER_CLOSED);
  if (!library_find(&library, &r->recording.memory))
    return system_fail(L, "not enough memory");
  lua_settop(L, 2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &LISTEN);
  with.box = lua_newuserdatauv(L, 1, 0);
  luaL_setmetatable(L, LISTENER);
  lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
  main = lua_tothread(L, -1);
  lua_pop(L, 1);
  running_begin(&with.running, main, &library);
  l = listen_begin(&with, main, &states);
  if (l == NULL) {
    running_end(&with.running);
    return system_fail(L, "too many Lua states of this process listen");
  }
  if (!listen_install(with.number)) {
    const char *why = strerror(errno);
    listen_end(l);
    return system_fail(L, why);
  }
  lua_pushinteger(L, states);
  return 2;
}


/* -> : stops listening; number of states of this process that still listen */
static int listen_unlisten (lua_State *L) {
  Listener *l = listen_of(L);
  if (l != NULL) listen_end(l);
  lua_pushinteger(L, listen_countours());
  return 1;
}


/* Stops listening, unless the state has begun again with another userdata. */
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


/* seconds -> boolean: is the alarm set? With nil, removes the alarm. */
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

void listen_open (lua_State *L) {
  system_class(L, LISTENER, listen_gc);
  luaL_setfuncs(L, listen_list, 0);
}

#endif

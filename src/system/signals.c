/*
** See signals.h
*/

#define _DEFAULT_SOURCE		/* sigaction, vfork */

#include "system/signals.h"

#include "base/savedhook.h"
#include "follow/attach.h"
#include "record/current.h"
#include "record/hook.h"
#include "record/samplehook.h"
#include "sample/sample.h"
#include "system/listen.h"
#include "system/system.h"

#if PLATFORM_SIGNALS

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>


/* the program to run before a signal kills this process */
typedef struct SignalCommand {
  char *const *words;	/* the first one is the path of the program */
  const char *folder;	/* where it runs */
  PlatformSelf owner;	/* this process, but not a forked child of it */
} SignalCommand;

/* Signals are sent to the process, so all states share these. */
static const SignalCommand *volatile signals_command;
static volatile sig_atomic_t signals_interrupted;
static const char *volatile signals_file;	/* being written; or NULL */

/* the hook that the one of Ctrl-C has replaced */
static SavedHook signals_own;


/* {======================================================
** Ending the process
** ======================================================= */

/*
** Runs the command and waits for it. All that it calls, except vfork, is
** async-signal-safe by POSIX. fork would run handlers of pthread_atfork, which
** need not be. Some systems deprecate vfork, hence the pragmas.
*/
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

static void signals_run (const SignalCommand *c) {
  pid_t child = vfork();
  if (child == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (chdir(c->folder) == 0) execv(c->words[0], c->words);
    _exit(127);
  }
  while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) ;
}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif


/*
** Where this thread records, divides the time since the last event, which may
** have been long ago: the program may have waited for the signal.
*/
static void signals_divide (void) {
  Hot *h = hot_own();
  const Recorder *r = h->recorder;
  if (r != NULL && r->state == STATE_RUNNING) hot_killed(h);
}


void signals_die (int number) {
  sigset_t one;
  signal(number, SIG_DFL);
  raise(number);
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}


static void signals_end (int number) {
  const SignalCommand *c = signals_command;
  if (c != NULL && platform_isself(&c->owner)) {
    signals_divide();
    signals_run(c);
  }
  signals_die(number);
}

/* }====================================================== */


/* {======================================================
** Ctrl-C raises an error in the coroutine that runs. If that is caught,
** recording goes on.
** ======================================================= */

/* The coroutine that has resumed L and waits for it; NULL: not known. */
static lua_State *signals_resumer (const Running *x, const lua_State *L) {
  lua_State *from = x->main, *to;
  if (x->at == NULL) return NULL;
  while ((to = running_awaited(x, from)) != NULL && to != L) from = to;
  return to != NULL ? from : NULL;
}


/*
** Raises the error. A traceback made outside of a coroutine, as by the
** interpreter, does not show the functions in it. So the message has them.
*/
static int signals_error (lua_State *L, const Recorder *r) {
  lua_State *at = L;
  luaL_where(L, 1);
  lua_pushliteral(L, "interrupted!");
  lua_concat(L, 2);
  while (r != NULL && at != NULL && at != r->main) {
    luaL_traceback(L, at, lua_tostring(L, -1), 0);
    lua_remove(L, -2);
    at = signals_resumer(&r->following, at);
  }
  return lua_error(L);
}


/*
** The hook, at the next instruction: puts back the hook that it has replaced,
** and raises the error.
*/
static void signals_raise (lua_State *L, lua_Debug *ar) {
  Recorder *r = recorder_get(L);
  const SavedHook *own = &signals_own;
  int sampled = r != NULL && recorder_samples(r);
  if (sampled || (own->hook != NULL && !hooks_is(hook_functions(), own->hook)))
    savedhook_set(own, L);
  else attach_restore(r, L);
  if (sampled) samplehook_unblock(r, L, ar);
  listen_again(L);
  signals_error(L, r);
}


/* The coroutine to interrupt; NULL: not now, the signal is raised again. */
static lua_State *signals_target (Recorder *r) {
  return recorder_samples(r) ? sample_interrupt(r, SIGINT) : current_find(r);
}


/* Saves the hook of L, and sets the one that raises the error. */
static void signals_set_hook (lua_State *L) {
  savedhook_save(&signals_own, L);
  lua_sethook(L, signals_raise, LUA_MASKCALL | LUA_MASKRET |
              LUA_MASKLINE | LUA_MASKCOUNT, 1);
}


int signals_again (lua_State *L, lua_Hook f) {
  if (f != signals_raise) return 0;
  signals_set_hook(L);
  return 1;
}


/*
** Interrupts what this thread runs: sets a hook, which is all that Lua allows
** in a handler. 0: there is no recorder in this thread, or this is not the
** first Ctrl-C.
*/
static int signals_interrupt (void) {
  Recorder *r = hot_own()->recorder;
  lua_State *L;
  if (r == NULL || signals_interrupted) return 0;
  L = signals_target(r);
  if (L == NULL) return 1;
  signals_interrupted = 1;
  signals_set_hook(L);
  return 1;
}

/* }====================================================== */


/*
** The handler. For SIGINT, it calls lua_sethook, lua_gethook and the like, and
** what 'current_find' and 'sample_interrupt' call, see there. For others, and
** the second SIGINT, it calls 'signals_end', and with it clock_gettime, pread,
** strtoull and getrusage.
*/
static void signals_handle (int number) {
  int error = errno;
  if (number != SIGINT || !signals_interrupt()) signals_end(number);
  errno = error;
}


int signals_ignored (int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 &&
         !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}


/*
** Sets the handler of a signal. It blocks the others, so that one report is not
** printed in the middle of another.
*/
static void signals_set (int number, void (*handler) (int)) {
  struct sigaction action;
  int i;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  for (i = 0; i < SIGNALS_REPORTED; i++)
    sigaddset(&action.sa_mask, signals_fatal[i]);
  sigaction(number, &action, NULL);
}


char **signals_words (lua_State *L, int list) {
  lua_Integer n = luaL_len(L, list), i;
  char **words = cast(char **, lua_newuserdatauv(L,
                      ((size_t)n + 1) * sizeof *words, 1));
  for (i = 1; i <= n; i++) {
    lua_rawgeti(L, list, i);
    words[i - 1] = (char *)luaL_checkstring(L, -1);
    lua_pop(L, 1);
  }
  words[n] = NULL;
  lua_pushvalue(L, list);  /* keeps the strings */
  lua_setiuservalue(L, -2, 1);
  return words;
}


/*
** list of words, folder -> : the command to run in the folder before a signal
** kills this process; nil: none
*/
static int signals_onkill (lua_State *L) {
  static const char key = 0;
  SignalCommand *c = NULL;
  int i;
  lua_settop(L, 2);
  if (!lua_isnil(L, 1)) {
    luaL_checktype(L, 1, LUA_TTABLE);
    c = cast(SignalCommand *, lua_newuserdatauv(L, sizeof *c, 2));
    c->folder = luaL_checkstring(L, 2);
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, 3, 1);
    c->words = signals_words(L, 1);
    lua_setiuservalue(L, 3, 2);
    c->owner = platform_self();
  }
  signals_command = c;
  for (i = 0; i < SIGNALS_REPORTED; i++)
    if (!signals_ignored(signals_fatal[i]))  /* by nohup, say */
      signals_set(signals_fatal[i], c ? signals_handle : SIG_DFL);
  lua_settop(L, 3);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  return 0;
}


/* boolean -> : whether SIGINT raises an error; a second one always kills */
static int signals_interruptible (lua_State *L) {
  Recorder *r = recorder_get(L);
  int on = lua_toboolean(L, 1);
  if (on && r == NULL) return luaL_error(L, "cprof: " RECORDER_CLOSED);
  if (on && !current_begin(r)) return luaL_error(L, "not enough memory");
  signals_interrupted = 0;
  signals_set(SIGINT, on ? signals_handle : SIG_DFL);
  return 0;
}


/* {======================================================
** Ctrl-C that a command waits for
** ======================================================= */

#define SIGNALS_TAKEN	2	/* how many are taken for one */

static volatile sig_atomic_t signals_counted;
static struct sigaction signals_former;	/* what SIGINT did before */

static void signals_unlink (void) {
  const char *path = signals_file;
  if (path != NULL) unlink(path);
}


/*
** Counts SIGINT. Whoever presses Ctrl-C again does not want to wait any more:
** then it does what it did before. Calls unlink, sigaction and raise.
*/
static void signals_count (int number) {
  if (signals_counted < SIGNALS_TAKEN) {
    signals_counted++;
    return;
  }
  signals_unlink();
  sigaction(number, &signals_former, NULL);
  raise(number);
}


/* When Lua ends, the handler is about to be unloaded. */
static int signals_leave (lua_State *L) {
  (void)L;
  signals_set(SIGINT, SIG_IGN);
  return 0;
}


/* -> : from now on, SIGINT is counted; the third one is not */
static int signals_await (lua_State *L) {
  static const char key = 0;
  struct sigaction now;
  sigaction(SIGINT, NULL, &now);
  signals_counted = 0;
  if (now.sa_handler == signals_count) return 0;
  signals_former = now;
  lua_newuserdatauv(L, 1, 0);
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, signals_leave);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);
  signals_set(SIGINT, signals_count);
  return 0;
}


/* -> boolean: has SIGINT come since it is counted? */
static int signals_came (lua_State *L) {
  lua_pushboolean(L, signals_counted > 0);
  return 1;
}

/* }====================================================== */


/* {======================================================
** Files that are being written
** ======================================================= */

/* signals that remove them; blocked meanwhile by each other */
static const int signals_removing[] = {SIGTERM, SIGHUP, SIGINT};

#define SIGNALS_REMOVING	3

static int signals_tidies;	/* is this process a command? */
static struct sigaction signals_before[SIGNALS_REMOVING];


/* Calls unlink, and what 'signals_die' does. */
static void signals_remove (int number) {
  signals_unlink();
  signals_die(number);
}


static void signals_takeover (void) {
  int i;
  for (i = 0; i < SIGNALS_REMOVING; i++) {
    int number = signals_removing[i];
    sigaction(number, NULL, &signals_before[i]);
    if (!signals_ignored(number) &&
        signals_before[i].sa_handler != signals_count)
      signals_set(number, signals_remove);
  }
}


static void signals_giveback (void) {
  int i;
  for (i = 0; i < SIGNALS_REMOVING; i++)
    sigaction(signals_removing[i], &signals_before[i], NULL);
}


void signals_unfinished (const char *path) {
  int before = signals_file != NULL;
  if (!signals_tidies) return;
  if (before && path == NULL) signals_giveback();
  signals_file = path;
  if (!before && path != NULL) signals_takeover();
}


/* path or nil -> : see 'signals_unfinished' */
static int signals_setunfinished (lua_State *L) {
  static const char key = 0;
  const char *path = luaL_optstring(L, 1, NULL);
  lua_settop(L, 1);
  signals_unfinished(path);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &key);  /* keeps the path */
  return 0;
}


/* -> : this process is a command */
static int signals_tidy (lua_State *L) {
  (void)L;
  signals_tidies = 1;
  return 0;
}

/* }====================================================== */


static const luaL_Reg signals_list[] = {
  {"await_interrupt", signals_await},
  {"interrupted", signals_came},
  {"interruptible", signals_interruptible},
  {"onkill", signals_onkill},
  {"tidy", signals_tidy},
  {"unfinished", signals_setunfinished},
  {NULL, NULL}
};

void signals_open (lua_State *L) {
  luaL_setfuncs(L, signals_list, 0);
}

#endif

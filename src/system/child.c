/*
** Programs that a command starts as child processes.
*/

#define _DEFAULT_SOURCE		/* kill, setenv */

#include "system/system.h"
#include "system/signals.h"

#if PLATFORM_SIGNALS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* the program that was started last; 0: it has ended */
static volatile pid_t child_process;


void child_end (int number) {
  if (child_process > 0) kill(child_process, number);
  signals_die(number);
}


/* where a program reads from and writes to; NULL: see 'child_spawn' */
typedef struct ChildFiles {
  const char *input;
  const char *output;
  int inherits;	/* does it have both outputs of this process? */
} ChildFiles;


/* Both outputs go to one file, so that they stay in order. */
static int child_start (char **words, const ChildFiles *files,
                        pid_t *process) {
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;
  const char *input = files->input, *output = files->output;
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  if (input != NULL)
    error = posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
  if (!error && output != NULL)
    error = posix_spawn_file_actions_addopen(&actions, 1, output, flags,
                                             0600);
  if (!error && !files->inherits)
    error = posix_spawn_file_actions_adddup2(&actions, output != NULL ? 1 : 2,
                                             output != NULL ? 2 : 1);
  if (!error)
    error = posix_spawnp(process, words[0], &actions, NULL, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}


/*
** words: a list, input: path or nil, outputs: path, nil or true -> id of the
** process; or nil and a message. Without a path, the program reads from this
** process's standard input. It writes to this process's standard error with
** nil, and to both of its outputs with true. If this process was told to
** ignore SIGCHLD, it no longer does: exit statuses would be lost.
*/
static int child_spawn (lua_State *L) {
  ChildFiles files;
  pid_t process;
  int error;
  files.input = luaL_optstring(L, 2, NULL);
  files.inherits = lua_isboolean(L, 3) && lua_toboolean(L, 3);
  files.output = files.inherits ? NULL : luaL_optstring(L, 3, NULL);
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argcheck(L, luaL_len(L, 1) > 0, 1, "no words");
  if (signals_ignored(SIGCHLD)) signal(SIGCHLD, SIG_DFL);
  error = child_start(signals_words(L, 1), &files, &process);
  if (error) return system_fail(L, strerror(error));
  child_process = process;
  lua_pushinteger(L, process);
  return 1;
}


/* process -> exit status, or 128 + a signal's number; nil: it still runs */
static int child_status (lua_State *L) {
  pid_t process = (pid_t)luaL_checkinteger(L, 1);
  int status;
  pid_t ended;
  luaL_argcheck(L, process > 0, 1, "no process");
  ended = waitpid(process, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return 0;
  if (process == child_process) child_process = 0;
  lua_pushinteger(L, ended < 0 ? 0 : WIFSIGNALED(status)
                     ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
  return 1;
}


/*
** process, "INT", "TERM" or "KILL" -> : sends it that signal, if it is the
** one that was started last
*/
static int child_signal (lua_State *L) {
  static const char *const names[] = {"INT", "TERM", "KILL", NULL};
  static const int numbers[] = {SIGINT, SIGTERM, SIGKILL};
  pid_t process = (pid_t)luaL_checkinteger(L, 1);
  int number = numbers[luaL_checkoption(L, 2, NULL, names)];
  if (process == child_process) kill(process, number);
  return 0;
}


/*
** -> : from now on, a SIGTERM or SIGHUP that ends this process is also sent to
** the program that was started last, unless this process ignores the signal
*/
static int child_share (lua_State *L) {
  int i;
  (void)L;
  for (i = SIGNALS_FORWARDED; i < SIGNALS_REPORTED; i++)
    if (!signals_ignored(signals_fatal[i]))
      signal(signals_fatal[i], child_end);
  return 0;
}


/* open file -> : programs that are started do not inherit it */
static int child_closed (lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 1);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return 0;
}


/*
** name, value or nil -> : sets a variable of the environment, for programs that
** are started, or removes it. False: there is no memory for it.
*/
static int child_setenv (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const char *value = luaL_optstring(L, 2, NULL);
  lua_pushboolean(L, (value != NULL ? setenv(name, value, 1)
                                    : unsetenv(name)) == 0);
  return 1;
}


static const luaL_Reg child_list[] = {
  {"spawn", child_spawn},
  {"status", child_status},
  {"signal_child", child_signal},
  {"share_signals", child_share},
  {"closed_by_exec", child_closed},
  {"setenv", child_setenv},
  {NULL, NULL}
};

void child_open (lua_State *L) {
  luaL_setfuncs(L, child_list, 0);
}

#endif

/*
** Signals that end the program, for the command. Ctrl-C raises an error in the
** program, as in the standalone interpreter; a command that samples another
** program asks whether it came. Before a signal kills the process, another
** process reports what is in the recording's file.
*/

#ifndef signals_h
#define signals_h

#include <lauxlib.h>
#include <signal.h>

#include "base/platform.h"


#if PLATFORM_SIGNALS
/*
** Signals that end a process, and can be caught. Before the first
** SIGNALS_REPORTED of them end the command, it reports what it has recorded.
** From SIGNALS_FORWARDED on, they are forwarded to child processes.
*/
static const int signals_fatal[] = {
  SIGPIPE, SIGTERM, SIGHUP,
  SIGINT, SIGQUIT, SIGABRT, SIGSEGV, SIGFPE, SIGILL
};

#define SIGNALS_FORWARDED	1
#define SIGNALS_REPORTED	3
#define SIGNALS_FATAL	((int)(sizeof signals_fatal / sizeof *signals_fatal))

/*
** Lets a signal kill the process. Only this one is unblocked, so that no other
** blocked signal kills it instead. May be called in a signal handler.
*/
CPROF_I void signals_die (int number);

/*
** Handles a signal that ends this process: sends it to the program that was
** started last (child.c), too, if that still runs.
*/
CPROF_I void child_end (int number);

/* Was this process told to ignore a signal, by nohup, say? */
CPROF_I int signals_ignored (int number);

/*
** Pushes a userdata with the strings of a list as an array ended by NULL. It
** keeps the strings.
*/
CPROF_I char **signals_words (lua_State *L, int list);

/*
** Only in processes of the command: 'path' is being written, so it is removed
** before a signal ends this process; NULL: it is finished. Keeps the pointer.
*/
CPROF_I void signals_unfinished (const char *path);

/*
** If 'f' is the hook that Ctrl-C has set in L, sets it again, in place of
** the hook that L has by now. 0: 'f' is another one.
*/
CPROF_I int signals_again (lua_State *L, lua_Hook f);
#else
#define signals_unfinished(path)	((void)(path))
#endif

#endif

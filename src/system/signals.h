/*
** Signals that end the program, for the command. Ctrl-C raises an error in the
** program, as in the standalone interpreter; a command that samples another
** program asks whether it came. Before a signal kills the process, another
** process reports what is in the recording's file.
*/

#ifndef signals_h
#define signals_h

#include <lauxlib.h>

#include "base/platform.h"


#if PLATFORM_SIGNALS
/* Was this process told to ignore a signal, by nohup, say? */
CPROF_I int signals_ignored (int number);

/*
** Pushes a userdata with the strings of a list as an array ended by NULL. It
** keeps the strings.
*/
CPROF_I char **signals_words (lua_State *L, int list);

/*
** If 'f' is the hook that Ctrl-C has set in L, sets it again, in place of
** the hook that L has by now. 0: 'f' is another one.
*/
CPROF_I int signals_again (lua_State *L, lua_Hook f);
#endif

#endif

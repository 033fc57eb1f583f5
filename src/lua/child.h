/*
** A program that a command starts beside itself.
*/

#ifndef child_h
#define child_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *child_functions (void);

#if PLATFORM_SIGNALS
/* Sends the program that was started last a signal, if it still runs. */
CPROF_I void child_tell (int number);
#endif

#endif

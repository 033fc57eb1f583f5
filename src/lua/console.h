/*
** The terminal as a screen that a command draws on, with single key presses.
** The terminal is restored also when a signal ends the process, unless that
** cannot be caught.
*/

#ifndef console_h
#define console_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *console_functions (void);

#endif

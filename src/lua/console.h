/*
** The terminal as a screen that a command draws on, key by key. However the
** process ends, as long as it is told, the terminal is left as it was.
*/

#ifndef console_h
#define console_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *console_functions (void);

#endif

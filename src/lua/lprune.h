/*
** Smaller trees, for the Lua part.
*/

#ifndef lprune_h
#define lprune_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *lprune_functions (void);

#endif

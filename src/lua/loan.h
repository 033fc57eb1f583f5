/*
** The metatables that all values of a type share, of which a program may
** have made anything: cprof's Lua part exchanges them for its own meanwhile.
*/

#ifndef loan_h
#define loan_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *loan_functions (void);

#endif

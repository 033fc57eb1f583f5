/*
** The metatables of strings and other types, which all values of a type share.
** A program may have changed them, so cprof's Lua part replaces them by its own
** while it runs: a loan.
*/

#ifndef loan_h
#define loan_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *loan_functions (void);

/* loan -> loan: sets cprof's metatables; and the program's again */
CPROF_I int loan_borrow (lua_State *L);
CPROF_I int loan_giveback (lua_State *L);

#endif

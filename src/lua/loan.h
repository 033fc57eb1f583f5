/*
** The metatables that all values of a type share, of which a program may
** have made anything: cprof's Lua part exchanges them for its own meanwhile.
*/

#ifndef loan_h
#define loan_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *loan_functions (void);

/* loan -> loan: makes the exchange, if it is not made yet; and undoes it */
CPROF_I int loan_borrow (lua_State *L);
CPROF_I int loan_giveback (lua_State *L);

#endif

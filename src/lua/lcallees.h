/*
** The callees of single nodes, for viewers that open a tree node by node.
*/

#ifndef lcallees_h
#define lcallees_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I const luaL_Reg *lcallees_functions (void);

/* Makes the metatable. */
CPROF_I void lcallees_open (lua_State *L);

#endif

/*
** Texts of modules that are loaded when the program ends: in memory of C,
** for by then their files may be out of reach, and Lua's collector would
** have more to do meanwhile.
*/

#ifndef texts_h
#define texts_h

#include <lauxlib.h>

#include "base/platform.h"


/* the Lua functions of this */
CPROF_I const luaL_Reg *texts_functions (void);

#endif

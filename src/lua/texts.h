/*
** Texts by name, in memory of C, so that Lua's collector does not have to
** look at them: of modules that are loaded when the program ends, where
** their files may be out of reach; and where functions are found.
*/

#ifndef texts_h
#define texts_h

#include <lauxlib.h>

#include "base/platform.h"


/* The text of this name from now on. May raise an error. */
CPROF_I void texts_set (lua_State *L, const char *name, const char *text,
                        size_t size);

/* NULL: there is none of this name. */
CPROF_I const char *texts_get (lua_State *L, const char *name, size_t *size);

/* the Lua functions of this */
CPROF_I const luaL_Reg *texts_functions (void);

#endif

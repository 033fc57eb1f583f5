/*
** Which release of Lua runs? It need not be the one that cprof was compiled
** for. Nor do headers always tell: those of 5.4.1 to 5.4.3 give the release
** number of 5.4.0.
*/

#ifndef release_h
#define release_h

#include <stddef.h>

#include <lua.h>

#include "base/platform.h"

#if LUA_MAXINTEGER < 0x7fffffffffffffff || LUA_FLOAT_TYPE == LUA_FLOAT_FLOAT
#error "cprof needs a Lua with 64-bit numbers: LUA_32BITS has no room for ns"
#endif


/*
** The release as text: "5.4.4", of 'length' characters. It comes from the
** running Lua's lua_ident, where that is exported, or else from the headers
** that cprof was compiled with.
*/
CPROF_I const char *release_text (size_t *length);

/* The release as a number: 50404 */
CPROF_I int release_number (void);

#endif

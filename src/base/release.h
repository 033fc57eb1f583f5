/*
** Which release of Lua runs? Its headers, when this was compiled, may have
** been those of another one; those of 5.4.1 to 5.4.3 have the number of
** 5.4.0, too.
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
** "5.4.4", of 'length' characters: what the Lua that runs says of itself,
** where it exports that; else, what this was compiled with.
*/
CPROF_I const char *release_text (size_t *length);

/* The release as a number: 50404 */
CPROF_I int release_number (void);

#endif

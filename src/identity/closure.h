/*
** Closures that nothing but themselves identifies: a weak table in the
** registry tells their functions.
*/

#ifndef closure_h
#define closure_h

#include <lua.h>

#include "base/platform.h"


/* Makes the table, empty. Raises an error when out of memory. */
CPROF_I void closure_init (lua_State *L);

/* The function id of the closure on top of L; 0: it has none. */
CPROF_I uint32_t closure_get (lua_State *L);

/*
** Stores it. When that fails (memory, C stack), the closure will just be
** identified once more.
*/
CPROF_I void closure_set (lua_State *L, uint32_t func);

#endif

/*
** Functions of closures that neither lines nor code identify. A weak table
** in the registry maps each such closure to the id of its function.
*/

#ifndef closure_h
#define closure_h

#include <lua.h>

#include "base/platform.h"


/* Makes the table anew. Raises an error when out of memory. */
CPROF_I void closure_init (lua_State *L);

/* The function id of the closure on top of L; 0: none is stored. */
CPROF_I uint32_t closure_get (lua_State *L);

/*
** Stores the function id of the closure on top of L. If that fails (memory,
** C stack), the closure is identified again when it is next met.
*/
CPROF_I void closure_set (lua_State *L, uint32_t func);

#endif

/*
** Collections: may anything have been freed since a certain moment? Until
** then, the address of something that was alive is its own.
*/

#ifndef collection_h
#define collection_h

#include <lua.h>

#include "base/platform.h"


/* Raises an error when the state of L is out of memory. */
CPROF_I void collection_init (lua_State *L);

/*
** Has the garbage collector freed nothing that was alive when this was last
** not true? The first time, and when in doubt, it is not. Raises no errors.
*/
CPROF_I int collection_none (lua_State *L);

#endif

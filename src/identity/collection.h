/*
** Collections: has the garbage collector freed anything since a certain
** moment? As long as it has not, an address still means the same object.
*/

#ifndef collection_h
#define collection_h

#include <lua.h>

#include "base/platform.h"


/* Makes the first mark. Raises an error when L's state is out of memory. */
CPROF_I void collection_init (lua_State *L);

/*
** A number that changes with each cycle of the collector; 0: a cycle is about
** to end, and no address is certain. Runs no Lua code, raises no errors.
*/
CPROF_I uint64_t collection_now (lua_State *L);

/*
** Tells the wrapped allocator (heap/allocations.c) which of the next
** allocations are for marks, not for the program's objects: none, the next
** userdata (after which the wrapper sets none), or all.
*/
enum { COLLECTION_NONE, COLLECTION_USERDATA, COLLECTION_ALL };

#if defined(CPROF_AMALGAMATION)
static PLATFORM_THREAD int collection_marks;
#else
CPROF_I PLATFORM_THREAD int collection_marks;
#endif

#endif

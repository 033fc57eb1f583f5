/*
** Collections: has the garbage collector freed anything since a certain
** moment? Until then, the address of something that was alive is its own.
*/

#ifndef collection_h
#define collection_h

#include <lua.h>

#include "base/platform.h"


/* Raises an error when the state of L is out of memory. */
CPROF_I void collection_init (lua_State *L);

/*
** A number that is another one after each cycle of the collector; 0: one is
** about to end, and nothing is sure. Runs nothing, and raises no errors.
*/
CPROF_I uint64_t collection_now (lua_State *L);

/*
** What is about to be allocated for this, and not for the program: a
** userdata, after which whoever has seen it sets none, or all.
*/
enum { COLLECTION_NONE, COLLECTION_USERDATA, COLLECTION_ALL };

#if defined(CPROF_AMALGAMATION)
static PLATFORM_THREAD int collection_marks;
#else
CPROF_I PLATFORM_THREAD int collection_marks;
#endif

#endif

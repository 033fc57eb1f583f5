/*
** The core as Lua sees it: the functions of "cprof.core", which the Lua
** part (lua/cprof) builds on. It checks all options and names.
*/

#ifndef lcore_h
#define lcore_h

#include <lua.h>

#include "cost/calibrations.h"
#include "profile/snapshot.h"
#include "record/recorder.h"


#define CORE_INTERNALS	64	/* room for C functions of the profiler */

/* what belongs to a state, beside its recorder */
typedef struct Core {
  Recorder *recorder;
  Overhead overhead;	/* of what is recorded, or was last */
  Calibrations calibrations;
  lua_CFunction internal[CORE_INTERNALS];
} Core;

/* That of L's state, made if need be. May raise an error. */
CPROF_I Core *lcore_get (lua_State *L);

/* Calls of 'f' are charged to its caller, as of all functions here. */
CPROF_I void lcore_internal (Core *c, lua_CFunction f);

/*
** Stops recording, measures costs again, and completes the file. 0:
** nothing is being recorded.
*/
CPROF_I int lcore_stop (lua_State *L);

#endif

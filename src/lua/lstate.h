/*
** What belongs to a Lua state, beside its recorder.
*/

#ifndef lstate_h
#define lstate_h

#include <lauxlib.h>

#include "cost/calibrations.h"
#include "follow/recorder.h"
#include "profile/snapshot.h"


#define INTERNALS_MAX	192	/* C functions of the profiler's own */

typedef struct Core {
  Overhead overhead;	/* of what is recorded, or was last */
  Calibrations calibrations;
  lua_CFunction internal[INTERNALS_MAX];
} Core;

/* That of L's state, made if need be. May raise an error. */
CPROF_I Core *lstate_get (lua_State *L);

/*
** The recorder of L's state. Finalizers that run late, when the state is
** closed, find none: then an error is raised.
*/
CPROF_I Recorder *lstate_recorder (lua_State *L);

/*
** The Lua part, which stands on top, is kept, for what a script does to the
** modules that are loaded concerns no host. Pushes it; 0: it is not loaded.
*/
CPROF_I void lstate_setmodule (lua_State *L);
CPROF_I int lstate_pushmodule (lua_State *L);

/* Calls of these functions are charged to their callers. */
CPROF_I void lstate_internal (lua_State *L, lua_CFunction f);
CPROF_I void lstate_internals (lua_State *L, const luaL_Reg *list);

#endif

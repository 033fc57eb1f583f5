/*
** The data of a Lua state, in addition to its recorder.
*/

#ifndef lstate_h
#define lstate_h

#include <lauxlib.h>

#include "cost/calibrate.h"
#include "cost/compensate.h"
#include "follow/recorder.h"


#define INTERNALS_MAX	192	/* C functions of the profiler's own */

/* when a zone or a frame began, see lslow.h */
typedef struct SlowMark {
  uint64_t begun;	/* ticks; 0: nobody asks how long it takes */
  uint64_t own;		/* 'own' of SlowCalls by then */
  uint64_t epoch;	/* epoch of the recording, see Hot */
} SlowMark;

typedef struct SlowCalls {
  uint64_t zone_ns, frame_ns;	/* budgets; 0: there is none */
  uint64_t own;		/* ticks that the Lua part took to handle slow zones
			   and frames */
  SlowMark frame[LOOPS_MOST];	/* by loop: the frame that runs */
} SlowCalls;

typedef struct Core {
  SlowCalls slow;
  Overhead overhead;	/* overhead of the current or last recording */
  Calibrations calibrations;
  lua_CFunction internal[INTERNALS_MAX];
} Core;

/* The Core of L's state, made if need be. May raise an error. */
CPROF_I Core *lstate_get (lua_State *L);

/*
** The recorder of L's state. Raises an error if it is gone: in finalizers that
** run late, when the state is closed.
*/
CPROF_I Recorder *lstate_recorder (lua_State *L);

/* Runs a deferred collection, in which a finalizer may do anything. */
CPROF_I void lstate_settle (const Recorder *r, lua_State *L);

/*
** Keeps the Lua part, which is on top; and pushes it (0: it is not loaded). So
** hosts find it whatever a script does to package.loaded.
*/
CPROF_I void lstate_setmodule (lua_State *L);
CPROF_I int lstate_pushmodule (lua_State *L);

/* Adds the profiler's own functions: their time is charged to their callers. */
CPROF_I void lstate_internal (lua_State *L, lua_CFunction f);

/* Makes the metatable 'name' of these functions of the profiler's own. */
CPROF_I void lstate_class (lua_State *L, const char *name,
                           const luaL_Reg *methods);

/*
** Calls 'f' with the topmost 'arguments' while the collector is stopped, so
** that no finalizer can change what 'f' reads. The results replace the
** arguments; returns their number. Raises errors of 'f' again.
*/
CPROF_I int lstate_nogc (lua_State *L, lua_CFunction f, int arguments);

#endif

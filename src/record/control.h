/*
** Start and stop, pause and resume, reset, and the end of a host's frame. Each
** is called from a C function that Lua has called in the coroutine L, or by
** the host while no Lua code runs.
*/

#ifndef control_h
#define control_h

#include "follow/recorder.h"


/*
** Starts a recording; none may be running or paused in L's state. 0: out of
** memory. It may also raise Lua's memory error.
*/
CPROF_I int control_start (Recorder *r, lua_State *L, const Options *o);

/*
** All of these return 0 when there is nothing to do. After a stop, the
** recording stays in its store until that is told to finish. The callback of a
** trace can only stop; the callback of a filter can do none of these.
*/
CPROF_I int control_stop (Recorder *r, lua_State *L);

/* 'own': for the profiler's own work, whose time is left out entirely. */
CPROF_I int control_pause (Recorder *r, lua_State *L, int own);
CPROF_I int control_resume (Recorder *r, lua_State *L);
CPROF_I int control_reset (Recorder *r, lua_State *L);

/* Sets hooks again, as another event function was chosen. */
CPROF_I void control_hookall (Recorder *r, lua_State *L);

/*
** Brings all figures up to date. Afterwards, as after 'control_stop', a
** deferred collection may be due; see nogc.h.
*/
CPROF_I void control_settle (Recorder *r, lua_State *L);

/* 'control_settle'; also ends the recording if its store is damaged. */
CPROF_I void control_check (Recorder *r, lua_State *L);

/*
** Notes that this thread runs L's state from now on. If recording cannot go on
** in this thread, it ends.
*/
CPROF_I void control_enter (Recorder *r, lua_State *L);

/*
** Is a recording running or paused? In the child of a fork, it goes on in a
** store of its own, if the parent's store gives it one; else it ends.
*/
CPROF_I int control_active (Recorder *r, lua_State *L);

/* The recorder of L's state, if recording is running there; or NULL. */
CPROF_I Recorder *control_recorder (lua_State *L);

/* Brings times up to date; recording must be running or paused. */
CPROF_I void control_charge (Recorder *r);

#endif

/*
** Start and stop, pause and resume, reset, and the end of a frame. Each is
** called from a C function that Lua has called in the coroutine L, or by
** the host where nothing runs.
*/

#ifndef control_h
#define control_h

#include "follow/recorder.h"


/*
** Nothing may be recorded in L's state at present. 0: out of memory. May
** raise an error of Lua's for that, too.
*/
CPROF_I int control_start (Recorder *r, lua_State *L, const Options *o);

/*
** All of these return 0 when there is nothing to do. What was stopped
** remains in its store until that is told to finish. A trace that is being
** told of an event can only stop; a filter can do nothing.
*/
CPROF_I int control_stop (Recorder *r, lua_State *L);
CPROF_I int control_pause (Recorder *r, lua_State *L);
CPROF_I int control_resume (Recorder *r, lua_State *L);

/*
** Pauses until 'control_resume' for the profiler's own work: that time is
** no part of the recording.
*/
CPROF_I int control_suspend (Recorder *r, lua_State *L);
CPROF_I int control_reset (Recorder *r, lua_State *L);

/*
** Ends a frame of the host, which is kept and averaged if 'record'. 0: no
** frame could be ended, for nothing is being recorded.
*/
CPROF_I int control_frame (Recorder *r, lua_State *L, int record);

/*
** Brings all figures up to this moment. A collection may be due after it,
** and after 'control_stop'; see nogc.h.
*/
CPROF_I void control_settle (Recorder *r, lua_State *L);

/* control_settle, and ends the recording if its counts are not trusted. */
CPROF_I void control_check (Recorder *r, lua_State *L);

/*
** This thread runs L's state from now on, whichever did before. Recording
** ends where it cannot go on there.
*/
CPROF_I void control_enter (Recorder *r, lua_State *L);

/*
** Is something being recorded, or paused? The child of a fork goes on in a
** store of its own, if there is one; else recording ends there.
*/
CPROF_I int control_active (Recorder *r, lua_State *L);

/* The recorder that runs in L's state, or NULL. */
CPROF_I Recorder *control_recorder (lua_State *L);

/* Brings figures up to this moment, while it records or pauses. */
CPROF_I void control_charge (Recorder *r);

#endif

/*
** Start and stop, pause and resume, reset. Each is called from a C
** function that Lua has called in the coroutine L.
*/

#ifndef recorder_h
#define recorder_h

#include "recording.h"


/*
** 0: out of memory. Nothing may be recorded in L's state at present, and
** what it costs, or why that is not known, is in 'r' already.
*/
CPROF_I int recorder_start (Recording *r, lua_State *L, const Options *o);

/*
** All of these give 0 when they find nothing to do. What was stopped stays
** in its file until keep_finish.
*/
CPROF_I int recorder_stop (Recording *r, lua_State *L);
CPROF_I int recorder_pause (Recording *r, lua_State *L);
CPROF_I int recorder_resume (Recording *r, lua_State *L);
CPROF_I int recorder_reset (Recording *r);

/*
** Ends a period, which goes to history and averages if 'record'. 0: none
** could be ended, for nothing is being recorded.
*/
CPROF_I int recorder_frame (Recording *r, lua_State *L, int record);

/* brings all figures up to this moment */
CPROF_I void recorder_settle (Recording *r, lua_State *L);

#endif

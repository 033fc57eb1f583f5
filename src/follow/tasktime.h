/*
** When coroutines run and are suspended, for the counters of count/tasks.h.
** Times are without overhead, as those of calltime.h. All of these do nothing
** where tasks are not counted.
*/

#ifndef tasktime_h
#define tasktime_h

#include "follow/recorder.h"


/*
** To be called when the function on top is called. Notes calls of
** 'coroutine.close'.
*/
CPROF_I void tasktime_called (Recorder *r, lua_State *L);

/*
** To be called when the function of frame 'f' of L returns, if it makes or
** closes coroutines. 0: out of memory.
*/
CPROF_I int tasktime_returned (Recorder *r, lua_State *L, Frame *f);

/* Charges the time up to the last event to the current coroutine. */
CPROF_I void tasktime_charge (Recorder *r);

/*
** To be called when another coroutine runs than that of 's', which may have
** ended; its frames are still there. 0: out of memory.
*/
CPROF_I int tasktime_leave (Recorder *r, lua_State *running, Stack *s);

/*
** To be called when L runs again, whose stack is the current one. 0: out of
** memory.
*/
CPROF_I int tasktime_enter (Recorder *r, lua_State *L);

/* To be called before the frames of 's' lose their nodes. */
CPROF_I void tasktime_forget (Recorder *r, lua_State *L, Stack *s);

/*
** To be called when recording begins or goes on, with the stacks as they are.
** 0: out of memory.
*/
CPROF_I int tasktime_begin (Recorder *r, lua_State *L);

/*
** Adds the time for which suspended coroutines have been suspended until now.
*/
CPROF_I void tasktime_settle (Recorder *r, lua_State *L);

#endif

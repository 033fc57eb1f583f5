/*
** When coroutines run and are suspended, for the counters of count/tasks.h.
** Times are without overhead, as those of calltime.h. All of these do nothing
** where tasks are not counted.
*/

#ifndef tasktime_h
#define tasktime_h

#include "follow/recorder.h"


/* The function on top is called: 'coroutine.close', if anything. */
CPROF_I void tasktime_called (Recorder *r, lua_State *L);

/*
** The function of the frame 'f' of L returns, which makes coroutines or closes
** one. 0: out of memory.
*/
CPROF_I int tasktime_returned (Recorder *r, lua_State *L, const Frame *f);

/* The time up to the last event was the current coroutine's. */
CPROF_I void tasktime_charge (Recorder *r);

/*
** 's' is left, with its frames as they are, and may have ended. 0: out of
** memory.
*/
CPROF_I int tasktime_leave (Recorder *r, lua_State *running, Stack *s);

/* The current stack goes on, which is that of L. 0: out of memory. */
CPROF_I int tasktime_enter (Recorder *r, lua_State *L);

/* The frames of 's' are about to lose their nodes. */
CPROF_I void tasktime_forget (Recorder *r, lua_State *L, Stack *s);

/*
** Recording begins, or goes on, with the stacks as they are now. 0: out of
** memory.
*/
CPROF_I int tasktime_begin (Recorder *r, lua_State *L);

/* Adds the time in which coroutines that are suspended were so until now. */
CPROF_I void tasktime_settle (Recorder *r, lua_State *L);

#endif

/*
** Intervals: after so long, the function that the options have is called
** at the next event, when that is complete. Recording may end there, and
** begin anew.
*/

#ifndef interval_h
#define interval_h

#include "follow/recorder.h"


/* What was begun goes on for so long. */
CPROF_I void interval_begin (Recorder *r);

/*
** Called in an event now and then: sets the hook that ends the interval, if
** it is over.
*/
CPROF_I void interval_check (const Hot *h, lua_State *L);

/*
** Ends the interval here, if it is over: in a hook, when the event is
** complete.
*/
CPROF_I void interval_end (Recorder *r, lua_State *L);

/* That hook. */
CPROF_I void interval_event (lua_State *L, lua_Debug *ar);

#endif

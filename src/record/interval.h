/*
** Intervals: when an interval is over, 'elapsed' of the options is called
** after the next event. It may end the recording, and begin another one. It is
** also called after a call that took longer than a budget (follow/calltime.h).
*/

#ifndef interval_h
#define interval_h

#include "follow/recorder.h"


/* Begins an interval of the length in the options, if they have one. */
CPROF_I void interval_begin (Recorder *r);

/*
** To be called in an event now and then: if the interval is over, sets the
** one-shot hook 'interval_event'.
*/
CPROF_I void interval_check (const Hot *h, lua_State *L);

/*
** In a hook, after the event is complete: calls 'elapsed' if the interval is
** over, and begins the next interval.
*/
CPROF_I void interval_end (Recorder *r, lua_State *L);

/* The one-shot hook that ends an interval. */
CPROF_I void interval_event (lua_State *L, lua_Debug *ar);

#endif

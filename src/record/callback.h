/*
** Callbacks: the filters and the trace that the options have are Lua code,
** called in the middle of an event. Meanwhile nothing is recorded, and what
** they do cannot control the recorder, but a trace can stop it.
*/

#ifndef callback_h
#define callback_h

#include "follow/recorder.h"


/* Returns the coroutine that is recorded, for 'callback_end'. */
CPROF_I lua_State *callback_begin (Recorder *r, Callback c);

/* Is something still recorded? */
CPROF_I int callback_end (Recorder *r, lua_State *running);

/*
** 'callback_begin' for a filter. Garbage is collected when the event is
** complete, so that finalizers are not restricted like the filter.
*/
CPROF_I lua_State *callback_filter (Recorder *r, lua_State *L);

#endif

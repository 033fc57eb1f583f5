/*
** Callbacks: the filters and the trace in the options are Lua code, which is
** called in the middle of an event. While one runs, nothing is recorded, and
** it cannot control the recorder, except that a trace can stop it.
*/

#ifndef callback_h
#define callback_h

#include "follow/recorder.h"


/* To be called before a callback. Returns 'running' for 'callback_end'. */
CPROF_I lua_State *callback_begin (Recorder *r, Callback c);

/* To be called after it. 0: the callback has stopped the recording. */
CPROF_I int callback_end (Recorder *r, lua_State *running);

/*
** 'callback_begin' for a filter. Also defers collections until the event is
** complete: finalizers must not be restricted like the filter.
*/
CPROF_I lua_State *callback_filter (Recorder *r, lua_State *L);

#endif

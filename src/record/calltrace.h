/*
** Mode trace: calls the trace of the options each time a function or zone is
** entered or left, and for each step of the collector, where it is driven.
** Functions that were running when recording began, or that a resync found, are
** not reported. The time that the trace takes is overhead.
*/

#ifndef calltrace_h
#define calltrace_h

#include "follow/recorder.h"


/* {======================================================
** Callbacks: the filters and the trace in the options are Lua code, which is
** called in the middle of an event. While one runs, nothing is recorded, and
** it cannot control the recorder, except that a trace can stop it.
** ======================================================= */

/*
** To be called before a filter. Returns 'running' for 'callback_end'. Also
** defers collections until the event is complete: finalizers must not be
** restricted like the filter.
*/
CPROF_I lua_State *callback_filter (Recorder *r, lua_State *L);

/* To be called after a callback. 0: it has stopped the recording. */
CPROF_I int callback_end (Recorder *r, lua_State *running);

/* }====================================================== */


/* These do nothing in other modes, or when recording has ended. */

/* Reports that 'f', the new top of the current stack, was entered. */
CPROF_I void calltrace_enter (Recorder *r, lua_State *L, Frame *f);

/* Reports that the frames of the current stack above 'top' were left. */
CPROF_I void calltrace_leave (Recorder *r, lua_State *L, const Frame *top);

/*
** Reports that 'func', the zone of the garbage collector, was entered and left
** in the current stack: a step of the collector took 'took' ns, up to the last
** event.
*/
CPROF_I void calltrace_step (Recorder *r, lua_State *L, uint32_t func,
                             uint64_t took);

/* Reports that all frames of 's' were left, as its coroutine is dead. */
CPROF_I void calltrace_end (Recorder *r, lua_State *L, Stack *s);

#endif

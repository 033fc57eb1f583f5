/*
** The call trace of mode trace: tells each enter and leave as it happens.
** Functions that ran before recording began, or that were found by a
** resync, are not reported. The time it takes is overhead.
*/

#ifndef calltrace_h
#define calltrace_h

#include "follow/recorder.h"


/* Both do nothing in other modes, or when recording has ended. */

/* 'f' is the new top of the current stack. */
CPROF_I void calltrace_enter (Recorder *r, lua_State *L, Frame *f);

/* The frames of the current stack above 'top' were left. */
CPROF_I void calltrace_leave (Recorder *r, lua_State *L, const Frame *top);

/* All frames of 's' were left: its coroutine is dead. */
CPROF_I void calltrace_end (Recorder *r, lua_State *L, Stack *s);

#endif

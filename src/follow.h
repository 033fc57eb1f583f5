/*
** Following the shadow stack, to tell each enter and leave as it happens.
** Functions that were there before recording began, or that were found
** later, are not told of.
**
** The time it takes is the profiler's own.
*/

#ifndef follow_h
#define follow_h

#include "recording.h"


/* all of these do nothing unless the recording traces, and runs */

/* 'f' is the new top of the current stack */
CPROF_I void follow_enter (Recording *r, lua_State *L, Frame *f);

/* the frames of the current stack above 'top' were left */
CPROF_I void follow_leave (Recording *r, lua_State *L, const Frame *top);

#endif

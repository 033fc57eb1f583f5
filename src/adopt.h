/*
** Finding out what runs: functions that were called before recording
** began, or unseen, are adopted; they appear with no call of their own.
*/

#ifndef adopt_h
#define adopt_h

#include "recording.h"


/* 's' is the stack that runs from now on */
CPROF_I void adopt_current (Recording *r, Stack *s);

/* room for one more frame on the current stack; 0: out of memory */
CPROF_I int adopt_room (Hot *h);

/*
** Puts the frames of 's' on top of the frame 'under', or of the root if
** that is NULL, in states of their own. 0: out of memory.
*/
CPROF_I int adopt_rebase (Recording *r, Stack *s, const Frame *under);

/*
** The same, and makes the frames of 's' those that are really there, down
** to 'level', where 0 is the function that runs. Frames that were known
** stay, with their zones; others are adopted. 0: out of memory.
*/
CPROF_I int adopt_sync (Recording *r, lua_State *running, Stack *s, int level,
                        const Frame *under);

/*
** The current stack's frame of the function at 'ci', which L runs at
** 'level' and which is on top then: frames above it were left by an error,
** which no event tells of, but for the first where a tail call 'replaced'
** it. If it has none, an event must have been missed, and what runs is
** found out anew. NULL: out of memory.
*/
CPROF_I Frame *adopt_unwind (Hot *h, lua_State *L, CallAddress ci, int level,
                             int replaced);

/* the line that the function of 'ar' is at; 0: not to be told */
CPROF_I uint32_t adopt_line (lua_State *at, lua_Debug *ar);

#endif

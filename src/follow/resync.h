/*
** Resync: finds out what runs where no events told. 'resync_stack' reads what
** runs in a coroutine: at the start, or where that is older than the recording.
** 'resync_unwind' finds the function of an event that does not fit the frame on
** top: after an error, that is a frame below; else an event was missed, and
** the coroutine is read. Functions that are found by reading get a node, but
** no call is counted.
*/

#ifndef resync_h
#define resync_h

#include "follow/recorder.h"


/*
** Makes the frames of 's' those of the functions that really run there, from
** the bottom up to 'level', where level 0 is the running function. Frames
** that are right stay, with their zones. 'under' as in 'shadow_rebase'. 0: out
** of memory.
*/
CPROF_I int resync_stack (Recorder *r, lua_State *running, Stack *s, int level,
                          const Frame *under);

/*
** Makes the frame of the function at 'ci', which runs at 'level' of L, the
** top of the current stack, and returns it. An error has ended the functions
** above it; with 'replaced', a tail call has ended the first of them. If there
** is no such frame, an event was missed, and the stack is resynced. NULL: out
** of memory.
*/
CPROF_I Frame *resync_unwind (Hot *h, lua_State *L, CallAddress ci, int level,
                              int replaced);

/*
** 'resync_unwind' outside of events, where calls without events are normal,
** as in finalizers: a missing frame is not noted as a missed event.
*/
CPROF_I Frame *resync_here (Hot *h, lua_State *L, CallAddress ci, int level);

/* The current line of the function of 'ar'; 0: not known. */
CPROF_I uint32_t resync_line (lua_State *at, lua_Debug *ar);

#endif

/*
** Resync: finds out what runs, where events did not tell: at the start, in
** coroutines made before it, and after errors. Functions that are found
** this way appear without a call.
*/

#ifndef resync_h
#define resync_h

#include "follow/recorder.h"


/* Makes 's' the current stack. */
CPROF_I void resync_current (Recorder *r, Stack *s);

/* Room for one more frame on the current stack. 0: out of memory. */
CPROF_I int resync_room (Hot *h);

/*
** Puts the frames of 's' on top of the frame 'under' (NULL: the root), in
** nodes of their own. 0: out of memory.
*/
CPROF_I int resync_rebase (Recorder *r, Stack *s, const Frame *under);

/*
** Finds out what runs, and makes the frames of 's' those that really run,
** down to 'level', where 0 is the running function. Known frames stay, with
** their zones. 0: out of memory.
*/
CPROF_I int resync_stack (Recorder *r, lua_State *running, Stack *s, int level,
                          const Frame *under);

/*
** The frame of the function at 'ci', which runs at 'level' of L, in the
** current stack; it becomes the top. An error left the frames above it,
** but for the first one, which a tail call 'replaced'. Where there is no
** such frame, an event was missed: the stack is resynced. NULL: out of
** memory.
*/
CPROF_I Frame *resync_unwind (Hot *h, lua_State *L, CallAddress ci, int level,
                              int replaced);

/*
** resync_unwind where no event tells: calls may have been unseen, as in
** finalizers.
*/
CPROF_I Frame *resync_here (Hot *h, lua_State *L, CallAddress ci, int level);

/* The line that the function of 'ar' is at; 0: not known. */
CPROF_I uint32_t resync_line (lua_State *at, lua_Debug *ar);

#endif

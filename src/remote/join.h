/*
** One stack of two: the C stack of a thread, and the calls of Lua that it
** runs. A call that Lua marks as fresh is the first one of a C frame of the
** function that runs Lua's instructions; so each such frame stands for the
** calls down to the next fresh one. Calls of C functions lie between.
*/

#ifndef remote_join_h
#define remote_join_h

#include <stdint.h>

#include "base/platform.h"

#if PLATFORM_WATCH


#define JOIN_C		1	/* a C function */
#define JOIN_FRESH	2	/* the first call of a C frame */
#define JOIN_LAST	4	/* the last call of its thread of Lua */
#define JOIN_MAIN	8	/* of a main thread */

#define JOIN_NONE	UINT32_MAX

typedef struct JoinCall {
  uint64_t code;	/* address of a C function */
  int marks;
} JoinCall;

typedef struct JoinFrame {
  uint64_t start;	/* beginning of the function */
  int interpreter;	/* does it run Lua's instructions? */
  int calls;		/* does it call C functions for the interpreter? */
} JoinFrame;

/*
** an item of the joined stack: a call, a frame, or both if it is a C function
** that Lua has called; with neither, frames are missing here
*/
typedef struct JoinItem {
  uint32_t call, frame;	/* indices; JOIN_NONE: the item has no call, or frame */
} JoinItem;

/*
** Joins calls and frames, both innermost first. 'whole': are these all frames
** of the thread? Sets up to 'calls' + 'frames' + 1 items, and returns their
** number; 0: they do not fit together. Frames that call C functions for the
** interpreter are left out; where it is found which ones these are, it sets
** their 'calls'.
*/
CPROF_I uint32_t join_stacks (const JoinCall *call, uint32_t calls,
                              JoinFrame *frame, uint32_t frames, int whole,
                              JoinItem *item);

#endif

#endif

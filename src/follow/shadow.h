/*
** The shadow stacks of a recorder: which one is current, where its frames are
** in the call tree, and what ends with them. stack.h has the stacks
** themselves; resync.h finds out what belongs on them.
*/

#ifndef shadow_h
#define shadow_h

#include "follow/calltime.h"


/* Makes 's' the current stack. */
CPROF_I void shadow_enter (Recorder *r, Stack *s);

/* Makes room for a frame on the current stack. 0: out of memory. */
CPROF_I int shadow_room (Hot *h);

/*
** Sets the line that excluded functions at the bottom of 's' are charged to:
** that of the frame 'under', from which 's' was resumed.
*/
CPROF_I void shadow_baseline (Recorder *r, Stack *s, const Frame *under);

/*
** Moves the frames of 's' to nodes below that of the frame 'under' (NULL: the
** root), as 's' was resumed from there; or below 'maker' of 's'. 0: out of
** memory.
*/
CPROF_I int shadow_rebase (Recorder *r, Stack *s, const Frame *under);

/*
** Ends the calls of the frames of 's' above 'from', up to 'top'. The caller
** removes the frames.
*/
static INLINE void shadow_drop (const Hot *h, const Stack *s, Frame *from,
                                Frame *top) {
  if (h->distribution) calltime_ended(h, s, from, top);
  if (s->counted) stack_deactivate(from, top);
}

/*
** Makes 'f' the top of the current stack, and returns it. Of the calls above
** it, the first 'returned' ones have returned, or were replaced by a tail call;
** the others have ended without an event.
*/
static INLINE Frame *shadow_unwind (Hot *h, Frame *f, int returned) {
  shadow_drop(h, h->recorder->current, f, h->top);
  if (!h->fold) stack_unreturned(f + returned, h->top);
  *h->running = f->node;
  return h->top = f;
}

#endif

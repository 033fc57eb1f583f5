/*
** Mode "count": what a count event does for each instruction.
*/

#ifndef instructions_h
#define instructions_h

#include "follow/recorder.h"


/*
** An instruction of the function that was counted last. Its time, if that
** is the word, is one: 'ticks' are the instructions that were counted.
*/
static INLINE void instructions_add (Hot *h, CallAddress ci) {
  Counting *c = &h->counting;
  size_t to = internals_behind(ci, c->code);
  size_t from = *c->at, way = to - from - 1;
  c->ticks++;
  c->list[to].count++;
  c->list[from].next[way < 2 ? way : 2]++;
  *c->at = (uint32_t)to;
}

/*
** Another function's than the one that was counted last, in the frame 'f':
** from here on, its are counted. 0: its are not.
*/
CPROF_I int instructions_enter (Hot *h, Frame *f, CallAddress ci);

/* What the instruction that runs has allocated; NULL: it is not counted. */
CPROF_I InstructionAllocated *instructions_running (const Hot *h);

/* The frame of the function on top of 's', below its zones. */
static inline Frame *instructions_frame (const Stack *s) {
  Frame *f = s->top;
  while (f > s->base && f->is.flags & FRAME_ZONE) f--;
  return f;
}

/* Are those of the function of this frame counted? */
CPROF_I int instructions_wanted (const Recorder *r, const Frame *f);

#endif

/*
** Mode "count": the counters of instructions, and the function whose
** instructions are counted at present.
*/

#ifndef instructions_h
#define instructions_h

#include "follow/recorder.h"


/*
** Counts an instruction of the function of 'h->counting', and one tick of the
** clock, which in this mode is the number of instructions.
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
** Makes the function of frame 'f', which runs at 'ci', the one whose
** instructions are counted. 0: this function has no counters that fit it.
*/
CPROF_I int instructions_enter (Hot *h, Frame *f, CallAddress ci);

/* Counters of what the current instruction allocates; NULL: it has none. */
CPROF_I InstructionAllocated *instructions_running (const Hot *h);

/* The frame of the function on top of 's', below its zones. */
static inline Frame *instructions_frame (const Stack *s) {
  Frame *f = s->top;
  while (f > s->base && f->is.flags & FRAME_ZONE) f--;
  return f;
}

/* Are the instructions of the function of this frame counted? */
CPROF_I int instructions_wanted (const Recorder *r, const Frame *f);

#endif

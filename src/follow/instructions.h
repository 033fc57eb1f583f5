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
  size_t from = *c->at, skipped = to - from - 1;
  c->ticks++;
  c->list[to].count++;
  c->list[from].next[skipped < 2 ? skipped : 2]++;
  *c->at = (uint32_t)to;
}

/* Can the function of this frame have counters? */
static INLINE int instructions_may (const Frame *f) {
  return f->ci != NULL && !(f->is.flags & (FRAME_EXCLUDED | FRAME_ZONE));
}

static INLINE const Instructions *instructions_of (const Hot *h,
                                                   const Frame *f) {
  const Functions *fs = &h->recording->functions;
  return &functions_at(fs, f->is.func)->instructions;
}

/*
** Makes the function of frame 'f', which runs at 'ci', the one whose
** instructions are counted. 0: this function has no counters that fit it: they
** are used only if their number fits the prototype that runs. A function that
** was already running when recording began goes on after a call instruction.
*/
static INLINE int instructions_enter (Hot *h, Frame *f, CallAddress ci) {
  Counting *c = &h->counting;
  const Instructions *x;
  const void *proto;
  size_t to;
  if (unlikely(!instructions_may(f) || !internals_islua(ci))) return 0;
  x = instructions_of(h, f);
  proto = internals_prototype(ci);
  if (unlikely(x->list == NULL || internals_size(proto) != x->count - 1))
    return 0;
  c->ci = ci;
  c->code = internals_code(proto);
  c->list = x->list;
  c->at = &f->as.at;
  if (unlikely(f->as.at >= x->count)) f->as.at = 0;
  if (f->as.at == 0) {
    to = internals_behind(ci, c->code);
    if (unlikely(to > 2)) f->as.at = (uint32_t)to - 1;
  }
  return 1;
}

/* Counters of what the current instruction allocates; NULL: it has none. */
CPROF_I InstructionAllocated *instructions_running (const Hot *h);

/* The frame of the function on top of 's', below its zones. */
static inline Frame *instructions_frame (const Stack *s) {
  Frame *f = s->top;
  while (f > s->base && f->is.flags & FRAME_ZONE) f--;
  return f;
}

/* Are the instructions of the function of this frame counted? */
CPROF_I int instructions_wanted (const Hot *h, const Frame *f);

#endif

/*
** See instructions.h
*/

#include "follow/instructions.h"


static Instructions *instructions_of (const Recorder *r, const Frame *f) {
  static Instructions none = {NULL, 0, 0, 0};
  if (f->ci == NULL || f->is.flags & (FRAME_EXCLUDED | FRAME_ZONE))
    return &none;
  return &functions_at(&r->recording.functions, f->is.func)->instructions;
}


InstructionAllocated *instructions_running (const Hot *h) {
  const Frame *f = h->top;
  const Instructions *x;
  if (!h->counting.on) return NULL;
  x = instructions_of(h->recorder, f);
  return f->as.at < x->count ? instructions_allocated(x, f->as.at) : NULL;
}


int instructions_wanted (const Recorder *r, const Frame *f) {
  return instructions_of(r, f)->list != NULL;
}


/*
** The counters of the frame are used only if their number fits the prototype
** that runs. A function that was already running when recording began goes on
** after a call instruction.
*/
int instructions_enter (Hot *h, Frame *f, CallAddress ci) {
  Counting *c = &h->counting;
  const Instructions *x = instructions_of(h->recorder, f);
  const void *proto;
  size_t to;
  int isc;
  if (x->list == NULL) return 0;
  proto = internals_function(ci, &isc);
  if (isc || internals_size(proto) != x->count - 1) return 0;
  c->ci = ci;
  c->code = internals_code(proto);
  c->list = x->list;
  c->at = &f->as.at;
  to = internals_behind(ci, c->code);
  if (*c->at >= x->count) *c->at = 0;
  if (*c->at == 0 && to > 2) *c->at = (uint32_t)to - 1;
  return 1;
}

/*
** See instructions.h
*/

#include "follow/instructions.h"


InstructionAllocated *instructions_running (const Hot *h) {
  const Frame *f = h->top;
  const Instructions *x;
  if (!h->counting.on || !instructions_may(f)) return NULL;
  x = instructions_of(h, f);
  return f->as.at < x->count ? instructions_allocated(x, f->as.at) : NULL;
}


int instructions_wanted (const Hot *h, const Frame *f) {
  return instructions_may(f) && instructions_of(h, f)->list != NULL;
}

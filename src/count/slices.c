/*
** See slices.h
*/

#include "count/slices.h"


#define SLICES_SHIFT	10	/* a chunk of marks */


void slices_init (Slices *s, const Memory *m) {
  chunks_init(&s->nodes, m, sizeof(SliceMark), SLICES_SHIFT);
  chunks_init(&s->lines, m, sizeof(SliceMark), SLICES_SHIFT);
  chunks_init(&s->first, m, sizeof(uint32_t), SLICES_SHIFT);
  chunks_init(&s->waits, m, sizeof(uint64_t), SLICES_SHIFT);
}


void slices_free (Slices *s) {
  if (s->nodes.memory == NULL) return;
  chunks_free(&s->nodes);
  chunks_free(&s->lines);
  chunks_free(&s->first);
  chunks_free(&s->waits);
}


void slices_clear (Slices *s) {
  chunks_clear(&s->nodes);
  chunks_clear(&s->lines);
  chunks_clear(&s->first);
  chunks_clear(&s->waits);
}

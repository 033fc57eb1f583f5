/*
** See slices.h
*/

#include "count/slices.h"


#define SLICES_SHIFT	10	/* a chunk of marks */


void slices_init (Slices *s, const Memory *m) {
  ChunkSet *set = &s->set;
  chunkset_init(set, m, NULL);
  chunkset_add(set, &s->nodes, sizeof(SliceMark), SLICES_SHIFT, 0);
  chunkset_add(set, &s->lines, sizeof(SliceMark), SLICES_SHIFT, 0);
  chunkset_add(set, &s->first, sizeof(uint32_t), SLICES_SHIFT, 0);
  chunkset_add(set, &s->waits, sizeof(uint64_t), SLICES_SHIFT, 0);
}

/*
** See recording.h
*/

#include "count/recording.h"


uint32_t recording_owner (const Recording *r, uint32_t node) {
  NodePlace p = tree_whereis(&r->tree, node);
  while (functions_at(&r->functions, p.func)->kind == FUNCTION_ZONE &&
         p.parent < node)
    p = tree_whereis(&r->tree, node = p.parent);
  return p.func;
}


void recording_counters (Recording *r, const Pages *pages) {
  ChunkSet *s = &r->counters;
  chunkset_init(s, &r->memory, pages);
  tree_init(&r->tree, s);
  tally_init(&r->waits, s, BLOCK_WAITS);
  tally_init(&r->spots, s, BLOCK_SPOTS);
  tasks_init(&r->tasks, s);
  loops_init(&r->loops, s);
  axis_init(&r->axis, &r->memory, pages);
  slices_init(&r->slices, &r->memory);
  ring_init(&r->ring, &r->memory, pages != NULL ? &pages[BLOCK_RING] : NULL);
}


int recording_blank (Recording *r, const Memory *m, const Pages *pages) {
  r->memory = *m;
  r->figures = &r->own_figures;
  recording_counters(r, pages);
  return functions_blank(&r->functions, &r->memory);
}


void recording_freecounters (Recording *r) {
  chunkset_free(&r->counters);
  chunkset_free(&r->axis.set);
  chunkset_free(&r->slices.set);
  ring_free(&r->ring);
}


void recording_free (Recording *r) {
  recording_freecounters(r);
  functions_free(&r->functions);
  r->figures = &r->own_figures;
}

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
  const Memory *m = &r->memory;
  tree_init(&r->tree, m, pages);
  tally_init(&r->waits, m, blocks_of(pages, BLOCK_WAITS));
  tally_init(&r->spots, m, blocks_of(pages, BLOCK_SPOTS));
  tasks_init(&r->tasks, m, pages);
  loops_init(&r->loops, m, pages);
  axis_init(&r->axis, m, pages);
  ring_init(&r->ring, m, blocks_of(pages, BLOCK_RING));
  slices_init(&r->slices, m);
}


int recording_blank (Recording *r, const Memory *m, const Pages *pages) {
  r->memory = *m;
  r->figures = &r->own_figures;
  recording_counters(r, pages);
  return functions_blank(&r->functions, &r->memory);
}


void recording_freecounters (Recording *r) {
  tree_free(&r->tree);
  tally_free(&r->waits);
  tally_free(&r->spots);
  tasks_free(&r->tasks);
  loops_free(&r->loops);
  axis_free(&r->axis);
  ring_free(&r->ring);
  slices_free(&r->slices);
}


void recording_free (Recording *r) {
  recording_freecounters(r);
  functions_free(&r->functions);
  r->figures = &r->own_figures;
}

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


int recording_blank (Recording *r, const Memory *m) {
  r->memory = *m;
  r->figures = &r->own_figures;
  tree_init(&r->tree, &r->memory);
  tally_init(&r->waits, &r->memory, NULL);
  tally_init(&r->spots, &r->memory, NULL);
  tasks_init(&r->tasks, &r->memory, NULL, NULL);
  loops_init(&r->loops, &r->memory, NULL);
  axis_init(&r->axis, &r->memory, NULL, NULL);
  ring_init(&r->ring, &r->memory, NULL);
  slices_init(&r->slices, &r->memory);
  return functions_blank(&r->functions, &r->memory);
}


void recording_free (Recording *r) {
  tree_free(&r->tree);
  tally_free(&r->waits);
  tally_free(&r->spots);
  tasks_free(&r->tasks);
  loops_free(&r->loops);
  axis_free(&r->axis);
  ring_free(&r->ring);
  slices_free(&r->slices);
  functions_free(&r->functions);
  r->figures = &r->own_figures;
}

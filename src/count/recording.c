/*
** See recording.h
*/

#include "count/recording.h"


int recording_blank (Recording *r, const Memory *m) {
  r->memory = *m;
  r->figures = &r->own_figures;
  tree_init(&r->tree, &r->memory);
  waits_init(&r->waits, &r->memory, NULL);
  tasks_init(&r->tasks, &r->memory, NULL, NULL);
  loops_init(&r->loops, &r->memory, NULL);
  axis_init(&r->axis, &r->memory, NULL, NULL);
  return functions_blank(&r->functions, &r->memory);
}


void recording_free (Recording *r) {
  tree_free(&r->tree);
  waits_free(&r->waits);
  tasks_free(&r->tasks);
  loops_free(&r->loops);
  axis_free(&r->axis);
  functions_free(&r->functions);
  r->figures = &r->own_figures;
}

/*
** Prints the streaks of the two functions that run as coroutines, of samples
** that are given: what they found, as "a", "b", "scheduler" or "nothing"; when
** they were taken, and for how long they stand, in ms; whether they waited.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/streaks.h"


#define STREAKS_MS	1000000.0
#define STREAKS_NODES	5

static const char *const streaks_names[STREAKS_NODES] = {
  "root", "nothing", "scheduler", "a", "b"
};


static void *streaks_alloc (void *ud, void *p, size_t from, size_t to) {
  (void)ud; (void)from;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}


/* Adds the samples of the arguments. */
static int streaks_samples (Axis *a, char **arg) {
  for (; arg[0] != NULL; arg += 4) {
    AxisSample x = ZEROS;
    uint32_t node = 1;
    while (strcmp(streaks_names[node], arg[0]) != 0)
      if (++node == STREAKS_NODES) return 0;
    x.place = node == 1 ? AXIS_NOWHERE : axis_place(a, node, 0);
    x.samples = node != 1;
    x.ns = strtod(arg[2], NULL) * STREAKS_MS;
    x.waits = strcmp(arg[3], "waits") == 0;
    if (!axis_add(a, (uint64_t)(strtod(arg[1], NULL) * STREAKS_MS), &x))
      return 0;
  }
  return 1;
}


int main (int argc, char **argv) {
  const Memory m = {streaks_alloc, NULL};
  static const uint32_t body[STREAKS_NODES] = {0, 0, 0, 1, 1};
  ProfileNode list[STREAKS_NODES] = ZEROS;
  Nodes nodes = ZEROS;
  Streaks *out[STREAKS_NODES] = ZEROS;
  Recording r = ZEROS;
  AxisData d;
  uint32_t i, k;
  for (i = 0; i < STREAKS_NODES; i++) list[i].func = i;
  list[3].parent = list[4].parent = 2;
  nodes.list = list;
  nodes.count = STREAKS_NODES;
  axis_init(&r.axis, &m, NULL);
  axis_pace(&r.axis, STREAKS_MS, 1, 0, 0);
  if (argc % 4 != 1 || !streaks_samples(&r.axis, argv + 1)) return 1;
  r.figures = &r.own_figures;
  range_measure(&d, &r, 1, 0);
  d.chunk = calloc(d.chunks, sizeof *d.chunk);
  d.place = calloc(d.places, sizeof *d.place);
  if (d.chunk == NULL || d.place == NULL) return 1;
  range_copy(&d, &r);
  streaks_find(&d, &m, &nodes, body, 0, 1000 * STREAKS_MS, out);
  for (i = 3; i < STREAKS_NODES; i++)
    for (k = 0; out[i] != NULL && k < out[i]->count; k++) {
      const Streak *s = &out[i]->list[k];
      printf("%s %.0f to %.0f, %.0f\n", streaks_names[i],
             s->from / STREAKS_MS, s->to / STREAKS_MS, s->most / STREAKS_MS);
    }
  return 0;
}

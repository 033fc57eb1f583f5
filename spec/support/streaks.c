/*
** Prints the streaks of the two functions that run as coroutines, of samples
** that are given: what they found, as "a", "b", "scheduler" or "nothing"; when
** they were taken, and for how long they stand, in ms; whether they waited.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axisgiven.h"
#include "profile/streaks.h"


#define STREAKS_NODES	5

static const char *const streaks_names[STREAKS_NODES] = {
  "root", "nothing", "scheduler", "a", "b"
};


/* Adds the samples of the arguments. */
static int streaks_samples (Axis *a, char **arg) {
  for (; arg[0] != NULL; arg += 4) {
    AxisSample x = ZEROS;
    uint32_t node = 1;
    while (strcmp(streaks_names[node], arg[0]) != 0)
      if (++node == STREAKS_NODES) return 0;
    x.place = node == 1 ? AXIS_NOWHERE : axis_place(a, node, 0);
    x.samples = node != 1;
    x.ns = strtod(arg[2], NULL) * GIVEN_MS;
    x.waits = strcmp(arg[3], "waits") == 0;
    if (!axis_add(a, (uint64_t)(strtod(arg[1], NULL) * GIVEN_MS), &x))
      return 0;
  }
  return 1;
}


int main (int argc, char **argv) {
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
  given_begin(&r);
  if (argc % 4 != 1 || !streaks_samples(&r.axis, argv + 1) ||
      !given_read(&r, &d))
    return 1;
  streaks_find(&d, &given_memory, &nodes, body, 0, 1000 * GIVEN_MS, out);
  for (i = 3; i < STREAKS_NODES; i++)
    for (k = 0; out[i] != NULL && k < out[i]->count; k++) {
      const Streak *s = &out[i]->list[k];
      printf("%s %.0f to %.0f, %.0f\n", streaks_names[i],
             s->from / GIVEN_MS, s->to / GIVEN_MS, s->most / GIVEN_MS);
    }
  given_free(&r, &d);
  return 0;
}

/*
** For programs that give a time axis its samples, which come 1 ms apart at the
** rate that it expects, and then read it as a report does.
*/

#ifndef axisgiven_h
#define axisgiven_h

#include <stdlib.h>

#include "profile/range.h"


#define GIVEN_MS	1000000.0


static void *given_alloc (void *ud, void *p, size_t from, size_t to) {
  (void)ud; (void)from;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}

static const Memory given_memory = {given_alloc, NULL};


/* Begins the axis of '*r', which holds zeros. */
static void given_begin (Recording *r) {
  r->figures = &r->own_figures;
  axis_init(&r->axis, &given_memory, NULL);
  axis_pace(&r->axis, GIVEN_MS, 1, 0, 0);
}


/* Copies the axis to '*d'. 0: out of memory. */
static int given_read (Recording *r, AxisData *d) {
  range_measure(d, r, 1, 0);
  d->chunk = calloc(d->chunks + 1, sizeof *d->chunk);
  d->place = calloc(d->places + 1, sizeof *d->place);
  if (d->chunk == NULL || d->place == NULL) return 0;
  range_copy(d, r);
  return 1;
}


static void given_free (Recording *r, AxisData *d) {
  free(d->chunk);
  free(d->place);
  chunkset_free(&r->axis.set);
}

#endif

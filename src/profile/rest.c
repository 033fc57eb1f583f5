/*
** See rest.h
*/

#include "profile/rest.h"

#include "count/slicing.h"


/* Sets marks to what the slices of 'd' have. Returns the end of the last. */
static uint64_t rest_marks (Slices *s, const AxisData *d,
                            const Recording *r) {
  uint64_t last = 0;
  uint32_t i;
  for (i = 0; i < d->chunks; i++) {
    AxisCursor c;
    AxisSample x;
    axis_first(&c, &d->chunk[i]);
    while (axis_next(&c, 1, 0, &x)) {
      SliceMark *m = x.place != AXIS_NOWHERE
                   ? slicing_mark(s, r, &d->place[x.place]) : NULL;
      if (c.steps > last) last = c.steps;
      if (m == NULL) continue;
      m->self += (uint64_t)x.ns;
      m->count += x.samples;
      if (x.waits) m->waits = (int64_t)((uint64_t)m->waits - (uint64_t)x.ns);
    }
  }
  return last;
}


/* Sets 'paused' and 'preempted' of 'rest' to what the slices of 'd' have. */
static void rest_missed (Axis *rest, const AxisData *d) {
  uint32_t i;
  for (i = 0; i < d->chunks; i++) {
    AxisCursor c;
    AxisSample x;
    axis_first(&c, &d->chunk[i]);
    while (axis_next(&c, 1, 0, &x)) {
      if (x.place != AXIS_NOWHERE) continue;
      rest->paused += (uint64_t)x.ns;
      if (x.waits) rest->preempted += (uint64_t)x.ns;
    }
  }
}


void rest_make (Axis *rest, const AxisData *d, const Memory *m,
                const Recording *r, uint64_t end) {
  Slices s = ZEROS;
  slices_init(&s, m);
  slicing_room(&s, r);
  axis_init(rest, m, NULL, NULL);
  rest->step = 1;
  rest->limit = UINT32_MAX;
  rest->shift = d->places > 0 ? d->places - 1 : 0;
  rest->last = rest->begin = rest_marks(&s, d, r);
  rest_missed(rest, d);
  slicing_add(&s, rest, r, end);
}


void rest_append (AxisData *d, const Axis *rest) {
  uint32_t i;
  if (d->places == 0) d->places = 1;
  for (i = 1; i < rest->places.count; i++)
    d->place[d->places++] = cast(const AxisItem *,
                                 chunks_at(&rest->places, i))->is;
  for (i = 0; i < rest->list.count; i++) {
    d->chunk[d->chunks] = *cast(const AxisChunk *, chunks_at(&rest->list, i));
    d->chunk[d->chunks].number = d->chunks;
    d->chunk[d->chunks++].series = 0;
  }
}

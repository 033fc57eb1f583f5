/*
** See rest.h
*/

#include "profile/rest.h"

#include "count/slicing.h"


/*
** Sets marks, and what 'rest' knows of pauses, to what the slices of 'd' have.
** Returns the end of the last one.
*/
static uint64_t rest_known (Axis *rest, Slices *s, const AxisData *d,
                            const Recording *r) {
  uint64_t last = 0;
  uint32_t i;
  for (i = 0; i < d->chunks; i++) {
    AxisCursor c;
    AxisSample x;
    axis_first(&c, &d->chunk[i]);
    while (axis_next(&c, 1, 0, &x)) {
      SliceMark *m;
      if (c.steps > last) last = c.steps;
      if (x.place == AXIS_NOWHERE) {
        rest->paused += (uint64_t)x.ns;
        if (x.waits) rest->preempted += (uint64_t)x.ns;
        continue;
      }
      m = slicing_mark(s, r, &d->place[x.place]);
      if (m == NULL) continue;
      m->self += (uint64_t)x.ns;
      m->count += x.samples;
      if (x.waits) m->waits -= (int64_t)x.ns;
    }
  }
  return last;
}


void rest_make (Axis *rest, const AxisData *d, const Memory *m,
                const Recording *r, uint64_t end) {
  Slices s;
  slices_init(&s, m);
  slicing_room(&s, r);
  axis_init(rest, m, NULL);
  rest->step = 1;
  rest->limit = UINT32_MAX;
  rest->shift = d->places > 0 ? d->places - 1 : 0;
  rest->last = rest->begin = rest_known(rest, &s, d, r);
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

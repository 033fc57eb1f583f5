/*
** The size of the heap over time. Each point has the largest size until the
** next point. When all points are used, neighbours are merged, so the
** distance of points grows with time.
*/

#ifndef timeline_h
#define timeline_h

#include <stdint.h>


#define TIMELINE_POINTS	512
#define TIMELINE_STEP	10000000u	/* ns, at first */
#define TIMELINE_BYTES	65536	/* allocated between readings of the clock */

typedef struct TimelinePoint {
  uint64_t ns;		/* since recording began */
  uint64_t bytes;
} TimelinePoint;

typedef struct Timeline {
  uint64_t begun;	/* ns of the monotonic clock, when recording began */
  uint64_t step;	/* least ns from point to point */
  uint32_t count;
  TimelinePoint point[TIMELINE_POINTS];
} Timeline;

static inline void timeline_begin (Timeline *t, uint64_t now) {
  t->begun = now;
  t->step = TIMELINE_STEP;
  t->count = 0;
}

static inline void timeline_raise (TimelinePoint *p, uint64_t bytes) {
  if (bytes > p->bytes) p->bytes = bytes;
}

/* Merges the points in pairs. */
static inline void timeline_halve (Timeline *t) {
  uint32_t i;
  for (i = 0; i < TIMELINE_POINTS / 2; i++) {
    t->point[i] = t->point[i * 2];
    timeline_raise(&t->point[i], t->point[i * 2 + 1].bytes);
  }
  t->count = TIMELINE_POINTS / 2;
  t->step *= 2;
}

static inline void timeline_add (Timeline *t, uint64_t now, uint64_t bytes) {
  uint64_t ns = now - t->begun;
  if (t->count > 0 && ns < t->point[t->count - 1].ns + t->step) {
    timeline_raise(&t->point[t->count - 1], bytes);
    return;
  }
  if (t->count == TIMELINE_POINTS) timeline_halve(t);
  t->point[t->count].ns = ns;
  t->point[t->count++].bytes = bytes;
}

/* Adds the size at the end, which is no maximum. */
static inline void timeline_end (Timeline *t, uint64_t now, uint64_t bytes) {
  uint64_t ns = now - t->begun;
  if (t->count == TIMELINE_POINTS) timeline_halve(t);
  if (t->count > 0 && ns <= t->point[t->count - 1].ns)
    ns = t->point[t->count - 1].ns + 1;
  t->point[t->count].ns = ns;
  t->point[t->count++].bytes = bytes;
}

#endif

/*
** See axis.h
*/

#include "count/axis.h"

#include <stddef.h>
#include <string.h>


#define AXIS_TOTAL	4.6e18	/* ns; the longest time of a profile */


void axis_init (Axis *a, const Memory *m, const Pages *pages) {
  ChunkSet *s = &a->set;
  memset(a, 0, sizeof *a);
  chunkset_init(s, m, pages);
  chunkset_add(s, &a->list, sizeof(AxisChunk), 0, BLOCK_AXIS);
  chunkset_add(s, &a->places, sizeof(AxisItem), AXIS_SHIFT, 0);
  chunkset_add(s, &a->copy, sizeof(AxisPlace), AXIS_SHIFT, BLOCK_PLACES);
  index_by(&a->index, &a->places, AxisItem, is);
  chunkset_index(s, &a->index);
  a->limit = AXIS_CHUNKS;
}


static AxisChunk *axis_chunk (const Axis *a, uint32_t i) {
  return cast(AxisChunk *, chunks_at(&a->list, i));
}


void axis_clear (Axis *a) {
  uint32_t i;
  for (i = 0; i < a->list.count; i++)
    platform_publish(&axis_chunk(a, i)->used, 0);
  chunkset_clear(&a->set);
  a->number = a->last = a->begin = a->paused = a->preempted = 0;
  a->used = a->series = 0;
  a->rest = 0;
}


/* The chunk that is being written may be nearly empty, so it is not counted. */
void axis_pace (Axis *a, double mean, double tick, double keep,
                uint64_t bytes) {
  double step = mean / AXIS_STEPS / tick;
  double chunks = keep / mean * AXIS_USUAL / (AXIS_ROOM - AXIS_LONGEST) + 2;
  uint32_t most = bytes == 0 ? AXIS_CHUNKS
                             : (uint32_t)(bytes / sizeof(AxisChunk));
  a->limit = keep > 0 && chunks < most ? (uint32_t)chunks : most;
  a->mean = mean;
  a->step = step > 1 ? (double)(uint64_t)step : 1;
}


/* {======================================================
** Places
** ======================================================= */

static uint32_t axis_newplace (Axis *a, const AxisPlace *p) {
  AxisItem *item = cast(AxisItem *, chunks_addcopied(&a->places, &a->copy));
  uint32_t id;
  if (item == NULL) return 0;
  item->is = *p;
  if (!index_last(&a->index)) return 0;
  id = a->places.count - 1;
  if (a->copy.pages != NULL) {
    *cast(AxisPlace *, chunks_at(&a->copy, id)) = *p;
    chunks_publish(&a->copy);
  }
  return id;
}


uint32_t axis_place (Axis *a, uint32_t node, uint32_t at) {
  AxisPlace p;
  uint32_t id;
  p.node = node;
  p.at = at;
  id = index_find(&a->index, &p);
  return id != 0 ? id : axis_newplace(a, &p);
}

/* }====================================================== */


/* {======================================================
** Writing
** ======================================================= */

unsigned char *axis_write (unsigned char *to, uint64_t n) {
  for (; n > 0x7f; n >>= 7) *to++ = (unsigned char)(n | 0x80);
  *to++ = (unsigned char)n;
  return to;
}


/* The index of the chunk with this number. Slices have two places for it. */
static uint32_t axis_index (const Axis *a, uint64_t number) {
  return (uint32_t)(number % a->limit) + a->series % 2 * a->limit;
}


/*
** Starts another chunk: a new one, or the oldest one again. It repeats when the
** last slice began, so each chunk can be read alone.
*/
static int axis_turn (Axis *a) {
  uint64_t number = a->used > 0 ? a->number + 1 : a->number;
  AxisChunk *c;
  if (a->mean == 0) {
    if (number >= a->limit) return 0;
    a->last = a->begin;
  }
  while (a->list.count <= axis_index(a, number))
    if (chunks_add(&a->list) == NULL) return 0;
  a->number = number;
  a->used = 0;
  c = axis_chunk(a, axis_index(a, number));
  platform_publish(&c->used, 0);
  c->series = a->series;
  c->number = number;
  c->from = a->last;
  return 1;
}


/*
** By how many steps the ns of a sample exceed the mean; negative if they are
** below it. What rounding leaves goes to the next sample, so sums stay right.
*/
static int64_t axis_weigh (Axis *a, double ns) {
  double unit = axis_unit(a->step, a->mean);
  double above = (ns + a->rest - a->mean) / unit;
  int64_t steps;
  if (above * unit < -a->mean) above = -a->mean / unit;  /* ns below 0 */
  if (above > (double)AXIS_ABOVE) above = (double)AXIS_ABOVE;
  steps = (int64_t)(above + (above < 0 ? -0.5 : 0.5));
  a->rest += ns - a->mean - (double)steps * unit;
  return steps;
}


static uint64_t axis_zigzag (int64_t n) {
  return n < 0 ? ~((uint64_t)n << 1) : (uint64_t)n << 1;
}


void axis_put (Axis *a, AxisChunk *c, uint64_t ticks, const AxisSample *x) {
  double at = (double)ticks / a->step;
  uint64_t now = at < (double)AXIS_MOST ? (uint64_t)at : AXIS_MOST;
  unsigned char *from = c->bytes + a->used, *to;
  if (now < a->last) now = a->last;
  to = axis_write(from, now - a->last);
  to = axis_write(to, (uint64_t)x->place << 1 | (x->waits != 0));
  to = axis_write(to, axis_zigzag(axis_weigh(a, x->ns)) << 1 |
                      (x->samples != 1));
  if (x->samples != 1)
    to = axis_write(to, x->samples < UINT32_MAX ? x->samples : UINT32_MAX);
  a->last = now;
  a->used += (uint32_t)(to - from);
  platform_publish(&c->used, a->used);
}


int axis_add (Axis *a, uint64_t ticks, const AxisSample *x) {
  if (ticks > a->last && a->mean == 0) a->begin = a->last;
  if ((a->used == 0 || a->used + AXIS_LONGEST > AXIS_ROOM) && !axis_turn(a))
    return 0;
  axis_put(a, axis_chunk(a, axis_index(a, a->number)), ticks, x);
  return 1;
}

/* }====================================================== */


/* {======================================================
** Reading
** ======================================================= */

/* Reads a number. 0: there is none, or it is too large. */
static int axis_read (AxisCursor *c, uint64_t *n) {
  unsigned shift = 0;
  *n = 0;
  while (c->at < c->chunk->used && c->at < AXIS_ROOM &&
         shift < 56) {
    unsigned char byte = c->chunk->bytes[c->at++];
    *n |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return *n <= AXIS_MOST;
    shift += 7;
  }
  return 0;
}


static double axis_unzigzag (uint64_t n) {
  return n & 1 ? -(double)(n >> 1) - 1 : (double)(n >> 1);
}


int axis_next (AxisCursor *c, double step, double mean, AxisSample *x) {
  uint64_t passed, place, above;
  if (!axis_read(c, &passed) || !axis_read(c, &place) ||
      !axis_read(c, &above))
    return 0;
  x->samples = 1;
  if ((above & 1) != 0 && !axis_read(c, &x->samples)) return 0;
  if (c->steps > AXIS_MOST - passed || place >> 1 > UINT32_MAX ||
      x->samples > UINT32_MAX)
    return 0;
  if (passed > 0) c->begin = c->steps;
  c->steps += passed;
  x->end = (double)c->steps * step;
  x->place = (uint32_t)(place >> 1);
  x->waits = (int)(place & 1);
  x->ns = mean + axis_unzigzag(above >> 1) * axis_unit(step, mean);
  x->begin = mean > 0 ? x->end - x->ns : (double)c->begin * step;
  return x->ns >= 0 && x->ns < AXIS_TOTAL && x->end < AXIS_TOTAL;
}


int axis_check (AxisChunk *chunk, double step, double mean,
                uint32_t places) {
  AxisCursor c;
  AxisSample x;
  uint32_t good = 0;
  axis_first(&c, chunk);
  while (axis_next(&c, step, mean, &x) &&
         (x.place == AXIS_NOWHERE || x.place < places))
    good = c.at;
  if (good == chunk->used) return 1;
  chunk->used = good;
  return 0;
}

/* }====================================================== */

/*
** See slicing.h
*/

#include "count/slicing.h"

#include <string.h>


/* {======================================================
** Marks
** ======================================================= */

static SliceMark *mark_at (const Chunks *c, uint32_t id) {
  return cast(SliceMark *, chunks_at(c, id));
}


/* The number of a line of a function, by its index. */
static uint32_t mark_number (const Lines *l, uint32_t i) {
  return (uint32_t)(l->first > 0 ? l->first + (int32_t)i : l->list[i].line);
}


/* The index of a line of a function; the number of its lines: there is none. */
static uint32_t mark_index (const Lines *l, uint32_t number) {
  uint32_t low = 0, high = l->count;
  if (l->first > 0) {
    low = number - (uint32_t)l->first;
    return low < l->count ? low : l->count;
  }
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (mark_number(l, mid) < number) low = mid + 1;
    else high = mid;
  }
  return low < l->count && mark_number(l, low) == number ? low : l->count;
}


SliceMark *slicing_mark (Slices *s, const Recording *x, const AxisPlace *p) {
  const Lines *l;
  uint32_t first, i;
  if (!axis_isline(p))
    return p->node < s->nodes.count ? mark_at(&s->nodes, p->node) : NULL;
  first = p->node < s->first.count
        ? *cast(uint32_t *, chunks_at(&s->first, p->node)) : 0;
  if (first == 0) return NULL;
  l = &functions_at(&x->functions, p->node)->lines;
  i = mark_index(l, p->at & ~AXIS_LINE);
  return i < l->count ? mark_at(&s->lines, first - 1 + i) : NULL;
}


static int room_lines (Slices *s, const Lines *l) {
  uint32_t *first = cast(uint32_t *, chunks_add(&s->first)), i;
  if (first == NULL) return 0;
  if (l->list == NULL) return 1;
  *first = s->lines.count + 1;
  for (i = 0; i < l->count; i++)
    if (chunks_add(&s->lines) == NULL) return 0;
  return 1;
}


int slicing_room (Slices *s, const Recording *x) {
  const Functions *fs = &x->functions;
  while (s->nodes.count < x->tree.nodes.count)
    if (chunks_add(&s->nodes) == NULL) return 0;
  while (x->mode == MODE_LINE && s->first.count < fs->list.count)
    if (!room_lines(s, &functions_at(fs, s->first.count)->lines)) return 0;
  while (s->waits.count < x->waits.list.count)
    if (chunks_add(&s->waits) == NULL) return 0;
  return 1;
}

/* }====================================================== */


/* {======================================================
** A slice
** ======================================================= */

typedef struct Slicing {
  Slices *s;
  Axis *a;
  const Recording *x;
  uint64_t end;
} Slicing;


static int slice_put (const Slicing *g, uint32_t place, uint64_t ticks,
                      uint64_t count, int waits) {
  AxisSample x = ZEROS;
  x.place = place;
  x.ns = (double)ticks;
  x.samples = count;
  x.waits = waits;
  return axis_add(g->a, g->end, &x);
}


/* a - b; 0 if that is negative, or more than fits in a sample */
static uint64_t slice_growth (uint64_t a, uint64_t b, uint64_t most) {
  return a <= b ? 0 : a - b < most ? a - b : most;
}


/*
** Adds by how much the counters 'self' and 'count' exceed a mark. Where there
** is no room, the mark has what was added, so the rest can be added later.
*/
static int slice_counter (const Slicing *g, SliceMark *m, uint32_t node,
                          uint32_t at, uint64_t self, uint64_t count) {
  uint64_t ticks = slice_growth(self, m->self, AXIS_ABOVE);
  uint64_t counts = slice_growth(count, m->count, UINT32_MAX - 1);
  uint64_t wait = m->waits > 0 ? (uint64_t)m->waits : 0;
  if (ticks == 0 && counts == 0) return 1;
  if (wait > ticks) wait = ticks;
  if (m->place == 0) m->place = axis_place(g->a, node, at);
  if (m->place == 0) return 0;
  if (wait > 0) {
    if (!slice_put(g, m->place + g->a->shift, wait, 0, 1)) return 0;
    m->self += wait;
    m->waits -= (int64_t)wait;
    ticks -= wait;
  }
  if (ticks == 0 && counts == 0) return 1;
  if (!slice_put(g, m->place + g->a->shift, ticks, counts, 0)) return 0;
  m->self += ticks;
  m->count += counts;
  return 1;
}


/* What a damaged file has may be more than fits. */
static void slice_await (SliceMark *m, uint64_t ticks) {
  m->waits = (int64_t)((uint64_t)m->waits + ticks);
}


static void slice_wait (const Slicing *g, const Wait *w, uint64_t ticks) {
  SliceMark *m = NULL;
  AxisPlace p = ZEROS;
  p.node = w->node;
  if (w->node != WAIT_LINE) m = slicing_mark(g->s, g->x, &p);
  if (m != NULL) slice_await(m, ticks);
  if (w->line <= 0 || (m == NULL && w->node != WAIT_LINE)) return;
  p.node = w->node == WAIT_LINE ? w->func : recording_owner(g->x, w->node);
  p.at = AXIS_LINE | (uint32_t)w->line;
  m = slicing_mark(g->s, g->x, &p);
  if (m != NULL) slice_await(m, ticks);
}


static void slice_waits (const Slicing *g) {
  Wait w;
  uint32_t i;
  for (i = 1; i < g->s->waits.count && waits_at(&g->x->waits, i, &w); i++) {
    uint64_t *known = cast(uint64_t *, chunks_at(&g->s->waits, i));
    if (w.ticks > *known && w.ticks < AXIS_MOST) {
      slice_wait(g, &w, w.ticks - *known);
      *known = w.ticks;
    }
  }
}


/* Adds pauses, and time in which others had the processor. */
static int slice_missed (const Slicing *g) {
  const Figures *f = g->x->figures;
  Axis *a = g->a;
  uint64_t preempted = slice_growth(f->preempted, a->preempted, AXIS_ABOVE);
  uint64_t paused = slice_growth(f->paused, a->paused + preempted,
                                 AXIS_ABOVE);
  if (paused > 0 && !slice_put(g, AXIS_NOWHERE, paused, 0, 0)) return 0;
  a->paused += paused;
  if (preempted > 0 && !slice_put(g, AXIS_NOWHERE, preempted, 0, 1)) return 0;
  a->paused += preempted;
  a->preempted += preempted;
  return 1;
}


static int slice_nodes (const Slicing *g) {
  uint32_t i;
  for (i = 0; i < g->s->nodes.count; i++) {
    const Node *n = tree_node(&g->x->tree, i);
    if (!slice_counter(g, mark_at(&g->s->nodes, i), i, 0, n->self, n->calls))
      return 0;
  }
  return 1;
}


static int slice_lines (const Slicing *g) {
  uint32_t i, k;
  for (i = 0; i < g->s->first.count; i++) {
    uint32_t first = *cast(uint32_t *, chunks_at(&g->s->first, i));
    const Lines *l = &functions_at(&g->x->functions, i)->lines;
    for (k = 0; first != 0 && k < l->count; k++)
      if (!slice_counter(g, mark_at(&g->s->lines, first - 1 + k), i,
                         AXIS_LINE | mark_number(l, k), l->list[k].self,
                         l->list[k].hits))
        return 0;
  }
  return 1;
}


int slicing_add (Slices *s, Axis *a, const Recording *x, uint64_t end) {
  Slicing g;
  g.s = s;
  g.a = a;
  g.x = x;
  g.end = end > a->last ? end : a->last;
  if (!slicing_room(s, x)) return 0;
  slice_waits(&g);
  return slice_missed(&g) && slice_nodes(&g) && slice_lines(&g);
}

/* }====================================================== */


/* {======================================================
** Merging
** ======================================================= */

/* what a place has in two slices */
typedef struct Merged {
  uint64_t run, wait, count;
  uint32_t next;	/* in the list of those that have something */
  int listed;
} Merged;

typedef struct Merging {
  Axis *to;
  uint64_t number;	/* of the last chunk that is merged */
  uint32_t series;	/* of these chunks */
  Merged *of;		/* by place */
  uint32_t places, first;	/* the first of the list; UINT32_MAX: none */
  uint64_t begin, end;	/* of what is added up */
  uint64_t most;	/* steps: what is longer is not merged */
} Merging;


/* Writes what was added up. 0: no room. */
static int merging_flush (Merging *m) {
  Slicing g = ZEROS;
  g.a = m->to;
  g.end = m->end;
  while (m->first != UINT32_MAX) {
    Merged *x = &m->of[m->first];
    if (((x->run > 0 || x->count > 0) &&
         !slice_put(&g, m->first, x->run, x->count, 0)) ||
        (x->wait > 0 && !slice_put(&g, m->first, x->wait, 0, 1)))
      return 0;
    m->first = x->next;
    memset(x, 0, sizeof *x);
  }
  return 1;
}


static int merging_sample (Merging *m, const AxisSample *x, uint64_t end) {
  Merged *to = &m->of[x->place];
  if (end > m->end && end - m->begin > m->most) {
    if (!merging_flush(m)) return 0;
    m->begin = m->end;
  }
  if (end > m->end) m->end = end;
  if (!to->listed) {
    to->listed = 1;
    to->next = m->first;
    m->first = x->place;
  }
  to->count += x->samples;
  *(x->waits ? &to->wait : &to->run) += (uint64_t)x->ns;
  return to->count < UINT32_MAX;
}


static int merging_all (Merging *m) {
  uint64_t i;
  for (i = 0; i <= m->number; i++) {
    uint32_t at = (uint32_t)i + m->series % 2 * m->to->limit;
    AxisCursor c;
    AxisSample x;
    if (at >= m->to->list.count) return 0;
    axis_first(&c, cast(const AxisChunk *, chunks_at(&m->to->list, at)));
    while (axis_next(&c, 1, 0, &x))
      if (x.place >= m->places || !merging_sample(m, &x, c.steps)) return 0;
  }
  return merging_flush(m);
}


/*
** Merges slices in pairs, but not those that are longer than usual: a stall
** stays in a slice of its own. 0: out of memory.
*/
static int slicing_merge (Recording *x) {
  Axis *a = &x->axis;
  SlicesKept *kept = &x->figures->slices;
  Merging m = ZEROS;
  int ok;
  m.to = a;
  m.most = kept->length * 3;
  m.number = a->number;
  m.series = a->series;
  m.places = a->places.count + 1;
  m.first = UINT32_MAX;
  m.of = memory_newzeroed(&x->memory, Merged, m.places);
  if (m.of == NULL) return 0;
  a->series++;
  a->number = a->last = a->begin = 0;
  a->used = 0;
  ok = merging_all(&m);
  memory_free(&x->memory, m.of, m.places * sizeof *m.of);
  kept->length *= 2;
  platform_publish(&kept->series, a->series);
  return ok;
}

/* }====================================================== */


uint64_t slicing_begin (Recording *x, double tick) {
  double length = SLICES_LENGTH / tick;
  x->axis.limit = SLICES_CHUNKS;
  x->axis.mean = 0;
  x->axis.step = 1;
  x->figures->slices.length = length > 1 ? (uint64_t)length : 1;
  return x->figures->slices.length;
}


/* Chunks that are left free for one slice; few slices need more. */
#define SLICES_FREE	(SLICES_CHUNKS / 8)

int slicing_end (Recording *x, uint64_t end) {
  Axis *a = &x->axis;
  int ok = x->tree.nodes.count <= SLICES_NODES &&
           (a->number + SLICES_FREE < a->limit || slicing_merge(x));
  if (ok && (slicing_add(&x->slices, a, x, end) ||
             (slicing_merge(x) && slicing_add(&x->slices, a, x, end))))
    return 1;
  platform_publish(&x->figures->slices.lost, 1);
  chunkset_free(&x->slices.set);
  axis_clear(a);
  if (a->set.pages == NULL) chunkset_free(&a->set);
  a->step = 0;
  return 0;
}

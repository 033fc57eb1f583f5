/*
** See range.h
*/

#include "profile/range.h"

#include <math.h>
#include <string.h>


/* {======================================================
** The copy
** ======================================================= */

static const AxisChunk *range_chunk (const Axis *a, uint32_t i) {
  return cast(const AxisChunk *, chunks_at(&a->list, i));
}


/* The index of the oldest chunk. */
static uint32_t range_oldest (const Axis *a) {
  uint32_t oldest = 0, i;
  if (a->mean == 0) return 0;
  for (i = 1; i < a->list.count; i++)
    if (range_chunk(a, i)->number < range_chunk(a, oldest)->number) oldest = i;
  return oldest;
}


/* The places of a recorder are in 'places', those of a file in 'copy'. */
static uint32_t range_places (const Axis *a) {
  return a->places.count > 0 ? a->places.count : a->copy.count;
}


void range_measure (AxisData *d, const Recording *r, double tick,
                    int waiting) {
  const Axis *a = &r->axis;
  memset(d, 0, sizeof *d);
  d->step = a->step * tick;
  d->mean = a->mean;
  if (a->mean == 0) d->slice = (double)r->figures->slices.length * d->step;
  d->chunks = a->list.count + (waiting != 0);
  d->places = range_places(a) + (waiting ? 2 : 0);
}


void range_copy (AxisData *d, const Recording *r) {
  const Axis *a = &r->axis;
  uint32_t series = r->figures->slices.series;
  uint32_t oldest = range_oldest(a), i;
  d->places = range_places(a);
  for (i = 1; i < d->places; i++)
    d->place[i] = a->places.count > 0
                ? cast(const AxisItem *, chunks_at(&a->places, i))->is
                : *cast(const AxisPlace *, chunks_at(&a->copy, i));
  d->chunks = 0;
  for (i = 0; i < a->list.count; i++) {
    AxisChunk *to = &d->chunk[d->chunks];
    *to = *range_chunk(a, (oldest + i) % a->list.count);
    if (d->mean == 0 && to->series != series) continue;
    axis_check(to, d->step, d->mean, d->places);
    d->chunks += to->used > 0;
  }
  if (d->chunks > 0 && d->chunk[0].number > 0)
    d->begins = (double)d->chunk[0].from * d->step;
}


void range_wait (AxisData *d, uint32_t node, double end, double ns) {
  AxisChunk *c = &d->chunk[d->chunks];
  AxisSample x = ZEROS;
  Axis a = ZEROS;
  if (d->places == 0) d->places = 1;
  d->place[d->places].node = node;
  d->place[d->places].at = 0;
  x.place = d->places++;
  x.ns = ns;
  a.step = d->step;
  a.mean = d->mean;
  memset(c, 0, sizeof *c);
  c->number = d->chunks > 0 ? c[-1].number + 1 : 0;
  axis_put(&a, c, (uint64_t)end, &x);
  d->chunks++;
}

/* }====================================================== */


/* {======================================================
** Parts of samples
** ======================================================= */

int range_next (RangeCursor *c, AxisSample *x) {
  while (c->at.chunk == NULL ||
         !axis_next(&c->at, c->d->step, c->d->mean, x)) {
    if (c->chunk == c->d->chunks) return 0;
    axis_first(&c->at, &c->d->chunk[c->chunk++]);
  }
  return 1;
}


/* Is it a sample of a line? Its time is also in samples of nodes. */
static int range_isline (const AxisData *d, const AxisSample *x) {
  return x->place != AXIS_NOWHERE && axis_isline(&d->place[x->place]);
}


/*
** The part of the ns of a sample that lies before 'at'. They are spread evenly
** from its beginning to its end.
*/
static double range_before (const AxisSample *x, double at) {
  if (at <= x->begin) return 0;
  return at < x->end ? x->ns * ((at - x->begin) / (x->end - x->begin)) : x->ns;
}


/*
** How many of the samples that 'x' counts as came before 'at', the last one at
** its end and the others evenly before.
*/
static int64_t range_samples (const AxisSample *x, double at) {
  if (at >= x->end) return (int64_t)x->samples;
  if (x->samples <= 1 || at <= x->begin) return 0;
  return (int64_t)((double)x->samples *
                   ((at - x->begin) / (x->end - x->begin)) * (1 - 1e-9));
}


void range_add (const AxisData *d, double from, double to,
                RangePart *part) {
  RangeCursor c = ZEROS;
  AxisSample x;
  c.d = d;
  while (range_next(&c, &x)) {
    RangePart *p = &part[x.place];
    double ns;
    if (x.end < from || x.begin >= to) continue;
    ns = range_before(&x, to) - range_before(&x, from);
    *(x.waits ? &p->wait : &p->run) += ns;
    p->samples += range_samples(&x, to) - range_samples(&x, from);
  }
}


/* [0]: samples that found the program running; [1]: waiting */
typedef struct Worth {
  double ns[2], squares[2], samples[2];	/* sums */
  double last[2];	/* ns of the last sample */
  uint64_t count;	/* number of samples that it counts as */
  uint32_t place;
} Worth;


/* Adds the last sample. If it counts as several, each has an equal part. */
static void worth_put (Worth *w) {
  double all = w->last[0] + w->last[1], n = (double)w->count;
  int i;
  for (i = 0; i < 2 && all > 0; i++) {
    w->ns[i] += w->last[i];
    w->squares[i] += w->last[i] * all / n;
    w->samples[i] += n * (w->last[i] / all);
  }
  w->last[0] = w->last[1] = 0;
}


/*
** What counts as no sample is ignored, unless it is the wait of the sample
** before it, see 'sample_when'.
*/
void range_worth (const AxisData *d, double from, double to,
                  double worth[2]) {
  RangeCursor c = ZEROS;
  Worth w = ZEROS;
  AxisSample x;
  int i;
  c.d = d;
  while (range_next(&c, &x)) {
    if (x.place == AXIS_NOWHERE || x.end <= from || x.end > to) continue;
    if (x.samples > 0) {
      worth_put(&w);
      w.count = x.samples;
      w.place = x.place;
      w.last[x.waits != 0] = x.ns;
    }
    else if (x.waits && x.place == w.place && w.last[1] <= 0)
      w.last[1] = x.ns;
  }
  worth_put(&w);
  for (i = 0; i < 2; i++) {
    double most = w.squares[i] * w.samples[i], square = w.ns[i] * w.ns[i];
    worth[i] = square < most ? square / most : 1;
  }
}


/* Begins the next chunk of 'to', for samples after 'a->last' steps. */
static void cut_chunk (AxisData *to, Axis *a) {
  AxisChunk *c = &to->chunk[to->chunks];
  memset(c, 0, sizeof *c);
  c->number = to->chunks++;
  c->from = a->last;
  a->used = 0;
}


/* Adds a sample, which was taken 'end' ns after the new beginning. */
static void cut_put (AxisData *to, Axis *a, const AxisSample *x, double end) {
  if (to->chunks == 0 || a->used + AXIS_LONGEST > AXIS_ROOM)
    cut_chunk(to, a);
  /* half a step: the number of steps is rounded down */
  axis_put(a, &to->chunk[to->chunks - 1], (uint64_t)(end + a->step / 2), x);
  a->rest = 0;
}


void range_cut (AxisData *to, const AxisData *d, double from,
                const uint32_t *node) {
  RangeCursor c = ZEROS;
  AxisSample x;
  Axis a = ZEROS;
  uint32_t i;
  double begin = floor(from / d->step) * d->step;
  for (i = 1; i < d->places; i++) {
    uint32_t is = node[d->place[i].node];
    to->place[i].node = is > 0 ? is - 1 : 0;
    to->place[i].at = is > 0 ? d->place[i].at : 0;
  }
  a.step = d->step;
  a.mean = d->mean;
  to->chunks = 0;
  to->begins = 0;
  c.d = d;
  while (range_next(&c, &x)) {
    double end = x.end;
    if (from > 0) {
      if (end <= from) continue;
      x.samples -= (uint64_t)range_samples(&x, from);
      x.ns -= range_before(&x, from);
    }
    cut_put(to, &a, &x, end - begin);
  }
}


static double *cell_figure (RangeCell *c, const AxisSample *x) {
  if (x->place == AXIS_NOWHERE) return x->waits ? &c->preempted : &c->paused;
  return x->waits ? &c->wait : &c->run;
}


void range_cells (const AxisData *d, double from, double ns,
                  const uint8_t *of, RangeCell *cell, uint32_t count) {
  RangeCursor c = ZEROS;
  AxisSample x;
  c.d = d;
  while (range_next(&c, &x)) {
    double first = floor((x.begin - from) / ns);
    uint32_t i = first > 0 ? first < count ? (uint32_t)first : count : 0;
    if ((of != NULL && x.place != AXIS_NOWHERE && !of[x.place]) ||
        range_isline(d, &x))
      continue;
    for (; i < count && from + i * ns < x.end; i++)
      *cell_figure(&cell[i], &x) += range_before(&x, from + (i + 1) * ns) -
                                    range_before(&x, from + i * ns);
  }
}


/* from the first to the last slice that mostly belongs to places that count */
typedef struct Extent {
  double from, to;	/* ns; 'to' 0: there is none yet */
  double begin, end;	/* of the slice that is read */
  double its, all;	/* ns of this slice: of places that count, of all */
  uint32_t place, places;	/* its last place; how many it has */
  uint64_t calls;
  double before;	/* when the slice before began, if it has enough of
			   these places; else when this one began */
  int open;		/* may the extent go on with this slice? */
} Extent;

/*
** A slice beside the extent counts, too, if at least this part of it belongs to
** the places: what ran began or ended in it. Beside a gap, no slice is added: a
** gap is a slice with one place and without calls, which ends with what ran.
*/
#define EXTENT_BESIDE	0.05


static void extent_slice (Extent *e, int within) {
  int beside = e->its > 0 && e->its >= e->all * EXTENT_BESIDE;
  int most = within && beside && e->its >= e->all / 2;
  int gap = e->places == 1 && e->calls <= 1;
  if (most && e->to == 0) e->from = gap ? e->begin : e->before;
  if (most || (e->open && beside)) e->to = e->end;
  e->open = most && !gap;
  e->before = beside ? e->begin : e->end;
  e->its = e->all = 0;
  e->place = e->places = 0;
  e->calls = 0;
}


int range_extent (const AxisData *d, const uint8_t *of, double *from,
                  double *to) {
  RangeCursor c = ZEROS;
  Extent e = ZEROS;
  AxisSample x;
  c.d = d;
  while (range_next(&c, &x) &&
         (x.begin < *to || e.begin < *to || x.end <= e.end)) {
    if (x.end > e.end) {
      extent_slice(&e, e.begin < *to && e.end > *from);
      e.begin = x.begin;
      e.end = x.end;
    }
    if (x.place == AXIS_NOWHERE || range_isline(d, &x) ||
        d->place[x.place].node == NODE_OVERHEAD)
      continue;
    e.all += x.ns;
    if (of[x.place]) e.its += x.ns;
    e.calls += x.samples;
    e.places += x.place != e.place;
    e.place = x.place;
  }
  extent_slice(&e, e.begin < *to && e.end > *from);
  *from = e.from;
  *to = e.to;
  return e.to > 0;
}

/* }====================================================== */


/* {======================================================
** What is unusual
** ======================================================= */

/*
** Sums of a stretch, by node and by function. Each node is visited once in a
** stretch, though many of its samples may lie below.
*/
typedef struct Odd {
  const AxisData *d;
  const Nodes *nodes;
  double *part;	/* by node: ns in the stretch */
  uint8_t *seen;	/* is the node in 'path'? */
  uint32_t *path, visited;	/* nodes with time in the stretch, and all above
				   them: callers before callees */
  uint32_t *level;	/* by node: nodes of its function above it */
  uint32_t *depth;	/* by node: nodes above it */
  double *sum, *all;	/* by function: ns in the stretch; in the whole axis */
  double whole;	/* ns of all functions in the whole axis */
  uint32_t *met, count;	/* functions that have time in the stretch */
  uint32_t *least;	/* by function: least depth of its nodes in the
			   stretch */
} Odd;

/* excesses that differ by no more than this count as equal */
#define ODD_MARGIN	0.02


static void odd_nodes (Odd *o, const Memory *m, uint32_t functions) {
  uint32_t n = o->nodes->count, i;
  uint32_t *func = memory_new(m, uint32_t, n);
  o->part = memory_newzeroed(m, double, n);
  o->seen = memory_newzeroed(m, uint8_t, n);
  o->path = memory_new(m, uint32_t, n);
  o->depth = memory_newzeroed(m, uint32_t, n);
  for (i = 0; i < n; i++) {
    func[i] = o->nodes->list[i].func;
    if (i > 0) o->depth[i] = o->depth[o->nodes->list[i].parent] + 1;
  }
  o->level = nodes_levels(o->nodes, m, func, functions);
}


/*
** Adds ns to the node of a place, but not those of lines and of overhead. Notes
** the new nodes of its path, callers first.
*/
static void odd_add (Odd *o, uint32_t place, double ns) {
  uint32_t node = o->d->place[place].node;
  uint32_t first = o->visited, last;
  if (axis_isline(&o->d->place[place]) || node == NODE_OVERHEAD) return;
  o->part[node] += ns;
  while (!o->seen[node]) {
    o->seen[node] = 1;
    o->path[o->visited++] = node;
    node = o->nodes->list[node].parent;
  }
  for (last = o->visited; last > first + 1; first++) {
    uint32_t deeper = o->path[first];
    o->path[first] = o->path[--last];
    o->path[last] = deeper;
  }
}


static void odd_addfunction (Odd *o, uint32_t node) {
  uint32_t func = o->nodes->list[node].func;
  if (o->sum[func] == 0) {
    o->met[o->count++] = func;
    o->least[func] = UINT32_MAX;
  }
  o->sum[func] += o->part[node];
  if (o->depth[node] < o->least[func]) o->least[func] = o->depth[node];
}


/*
** Sums up functions from nodes, and forgets the nodes. Returns the ns of all of
** them.
*/
static double odd_functions (Odd *o) {
  double ns = 0;
  while (o->visited > 0) {
    uint32_t node = o->path[--o->visited];
    if (o->level[node] == 0) odd_addfunction(o, node);
    if (node == 0) ns = o->part[node];
    else o->part[o->nodes->list[node].parent] += o->part[node];
    o->part[node] = 0;
    o->seen[node] = 0;
  }
  return ns;
}


static double odd_excess (const Odd *o, uint32_t func, double ns) {
  return o->sum[func] / ns - o->all[func] / o->whole;
}


/* Sets '*to' from the sums of a stretch, and clears them. */
static void odd_find (Odd *o, RangeOdd *to) {
  double ns = odd_functions(o), most = 0;
  uint32_t depth = UINT32_MAX, i;
  for (i = 0; i < o->count; i++) {
    double excess = odd_excess(o, o->met[i], ns);
    if (excess > most) most = excess;
  }
  for (i = 0; i < o->count; i++) {
    uint32_t func = o->met[i];
    if (odd_excess(o, func, ns) < most - ODD_MARGIN || o->least[func] >= depth)
      continue;
    depth = o->least[func];
    to->func = func;
    to->share = o->sum[func] / ns;
    to->usual = o->all[func] / o->whole;
  }
  for (i = 0; i < o->count; i++) o->sum[o->met[i]] = 0;
  o->count = 0;
}


/* Sums up the whole time axis. */
static void odd_whole (Odd *o, const Memory *m, uint32_t functions) {
  RangePart *part = memory_newzeroed(m, RangePart, (size_t)o->d->places + 1);
  uint32_t i;
  o->sum = o->all;
  range_add(o->d, -HUGE_VAL, HUGE_VAL, part);
  for (i = 1; i < o->d->places; i++)
    if (part[i].run + part[i].wait > 0)
      odd_add(o, i, part[i].run + part[i].wait);
  o->whole = odd_functions(o);
  o->count = 0;
  o->sum = memory_newzeroed(m, double, functions);
}


static void odd_begin (Odd *o, const Memory *m, uint32_t functions) {
  o->all = memory_newzeroed(m, double, functions);
  o->met = memory_new(m, uint32_t, functions);
  o->least = memory_new(m, uint32_t, functions);
  odd_nodes(o, m, functions);
  odd_whole(o, m, functions);
}


/* Adds what a stretch has. 'c' is after the samples that end before it. */
static void odd_stretch (Odd *o, RangeCursor *c, double from, double to) {
  RangeCursor at = *c;
  AxisSample x;
  while (range_next(&at, &x) && x.begin < to) {
    double part = range_before(&x, to) - range_before(&x, from);
    if (x.end <= from) *c = at;
    else if (x.place != AXIS_NOWHERE && part > 0) odd_add(o, x.place, part);
  }
}


void range_odd (const AxisData *d, const Memory *m, const Nodes *nodes,
                uint32_t functions, double from, double ns, RangeOdd *odd,
                uint32_t count) {
  RangeCursor c = ZEROS;
  Odd o = ZEROS;
  uint32_t i;
  o.d = c.d = d;
  o.nodes = nodes;
  odd_begin(&o, m, functions);
  for (i = 0; i < count; i++) {
    odd_stretch(&o, &c, from + i * ns, from + (i + 1) * ns);
    odd_find(&o, &odd[i]);
  }
}

/* }====================================================== */

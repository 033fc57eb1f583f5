/*
** See history.h
*/

#include "profile/history.h"

#include <math.h>
#include <string.h>


/* working data while a history is made */
typedef struct Taking {
  const Frames *f;
  const Snapshot *s;
  History *to;
  double *nodeshare;	/* of each node: share of its time that is not
			   overhead */
  double *selfshare;	/* of each function: share of its self time that is
			   not overhead */
  double *totalshare;	/* of each function: share of its total time that is
			   not overhead */
  int64_t *sum;		/* of each node: total of its callees in the frame at
			   hand; 0 between uses */
  uint32_t *row;	/* of each function: its row in the frame at hand */
} Taking;


/* Ticks in ns, rounded down, so that parts never exceed the whole. */
static int64_t take_ns (const Taking *t, double ticks) {
  return (int64_t)clock_ns(t->s->scale, ticks > 0 ? (uint64_t)ticks : 0);
}


static int64_t take_part (const Taking *t, uint64_t ticks, double part) {
  return (int64_t)((double)clock_ns(t->s->scale, ticks) * part);
}


static double take_ratio (double left, double raw) {
  return raw > 0 ? left / raw : 1;
}


static uint32_t take_func (const Taking *t, uint32_t id) {
  return t->s->func[id] - 1;
}


static int take_isinner (const Taking *t, uint32_t node) {
  const NodeHistory *x = cast(const NodeHistory *,
                              chunks_at(&t->f->nodes, node));
  return x->inner > 0;
}


/* {======================================================
** The share of times that is not overhead
** ======================================================= */

/* times of a function: 'raw' and 'rawtotal' include overhead */
typedef struct FuncTimes {
  double self, raw, total, rawtotal;
} FuncTimes;


/* Sums up the times of functions, and 'rawtotal' of each node. */
static void shares_sum (const Taking *t, FuncTimes *times, double *rawtotal) {
  const ProfileNode *list = t->s->node;
  uint32_t i;
  for (i = t->f->nodes.count; i-- > 0; ) {
    FuncTimes *x = &times[list[i].func];
    rawtotal[i] += (double)list[i].raw;
    if (i != 0) rawtotal[list[i].parent] += rawtotal[i];
    x->self += (double)list[i].self;
    x->raw += (double)list[i].raw;
    if (take_isinner(t, i)) continue;
    x->total += (double)list[i].total;
    x->rawtotal += rawtotal[i];
  }
}


/* Sets the three shares in 't'. */
static void shares_fill (Taking *t, const Memory *m) {
  const Snapshot *s = t->s;
  double *rawtotal = memory_newzeroed(m, double, s->nodes);
  FuncTimes *times = memory_newzeroed(m, FuncTimes, s->functions);
  uint32_t i;
  shares_sum(t, times, rawtotal);
  for (i = 0; i < s->nodes; i++)
    t->nodeshare[i] = i == NODE_OVERHEAD ? 1
                    : take_ratio((double)s->node[i].self,
                                 (double)s->node[i].raw);
  for (i = 0; i < s->functions; i++) {
    t->selfshare[i] = take_ratio(times[i].self, times[i].raw);
    t->totalshare[i] = take_ratio(times[i].total, times[i].rawtotal);
  }
  i = s->node[NODE_OVERHEAD].func;
  t->selfshare[i] = t->totalshare[i] = 1;
}

/* }====================================================== */


/* {======================================================
** Frames
** ======================================================= */

/*
** Fills in the nodes of a frame. The node of overhead gets the time that the
** others leave.
*/
static void take_nodes (const Taking *t, HistoryFrame *to,
                        const HostFrame *p) {
  HistoryNode *overhead = NULL;
  int64_t left = to->ns;
  uint32_t i;
  for (i = 0; i < p->nodes; i++) {
    HistoryNode *n = &to->node[i];
    n->node = p->node[i].node;
    n->calls = (int64_t)p->node[i].calls;
    if (n->node == NODE_OVERHEAD) overhead = n;
    else n->self = take_part(t, p->node[i].self, t->nodeshare[n->node]);
    left -= n->self;
  }
  if (overhead != NULL) overhead->self = left;
  to->nodes = p->nodes;
}


/* In frames that keep nodes: functions are the sums of their nodes. */
static void take_sum (const Taking *t, HistoryFrame *to) {
  uint32_t i;
  for (i = to->nodes; i-- > 0; ) {  /* callees first */
    const HistoryNode *n = &to->node[i];
    const ProfileNode *node = &t->s->node[n->node];
    HistoryRow *row = &to->row[t->row[node->func]];
    int64_t total = t->sum[n->node] + n->self;
    row->self += n->self;
    if (!take_isinner(t, n->node)) row->total += total;
    if (n->node != 0) t->sum[node->parent] += total;
    t->sum[n->node] = 0;
  }
}


/*
** In other frames: overhead has the same share of a function's time as in
** the whole recording.
*/
static void take_estimate (const Taking *t, HistoryFrame *to,
                           const HostFrame *p) {
  uint32_t own = t->s->node[NODE_OVERHEAD].func, root = t->s->node[0].func;
  HistoryRow *overhead = NULL;
  int64_t left = to->ns;
  uint32_t i;
  for (i = 0; i < to->rows; i++) {
    HistoryRow *row = &to->row[i];
    if (row->func == own) {
      overhead = row;
      continue;
    }
    row->self = take_part(t, p->row[i].self, t->selfshare[row->func]);
    row->total = row->func == root ? to->ns
               : take_part(t, p->row[i].total, t->totalshare[row->func]);
    if (row->total < row->self) row->total = row->self;
    left -= row->self;
  }
  if (overhead != NULL) overhead->self = overhead->total = left;
}


static void take_hostframe (const Taking *t, HistoryFrame *to,
                            const HostFrame *p) {
  uint32_t i;
  to->number = p->number;
  to->start = take_ns(t, (double)p->start);
  to->ns = take_ns(t, (double)p->ticks);
  to->steps = (int64_t)p->steps;
  for (i = 0; i < p->rows; i++) {
    HistoryRow *row = &to->row[i];
    row->func = take_func(t, p->row[i].func);
    row->calls = (int64_t)p->row[i].calls;
    row->allocs = (int64_t)p->row[i].own.count;
    row->bytes = (int64_t)p->row[i].own.bytes;
    t->row[row->func] = i;
  }
  to->rows = p->rows;
  if (p->nodes == 0) take_estimate(t, to, p);
  else {
    take_nodes(t, to, p);
    take_sum(t, to);
  }
}

/* }====================================================== */


/* {======================================================
** Averages
** ======================================================= */

/* Twice the standard deviation by the mean, and at most 1. */
static double average_heat (double mean, double square) {
  double variance = square - mean * mean, heat;
  if (mean <= 0 || variance <= 0) return 0;
  heat = sqrt(variance) / mean / 0.5;
  return heat < 1 ? heat : 1;
}


static int64_t average_calls (double calls) {
  return (int64_t)(calls * HISTORY_CALLS + 0.5);
}


static double average_count (const Taking *t) {
  return t->f->counted ? (double)t->f->counted : 1;
}


/*
** The average figures 'to', 'n' of them. 'sum' and 'moving' are those of a
** function or node; 'at' is the value of 'averaged' at their last update.
*/
static void average_figures (const Taking *t, int figure, const double *sum,
                             const double *moving, uint64_t at, double *to,
                             int n) {
  double k = 1;
  int i;
  if (figure > 0)
    k = frames_decay(t->f, t->f->averaged - at, figure - 1);
  for (i = 0; i < n; i++)
    to[i] = figure == 0 ? sum[i] / average_count(t)
                        : k * moving[(figure - 1) * n + i];
}


static void average_offunc (const Taking *t, int figure,
                            const FuncHistory *x, double *to) {
  average_figures(t, figure, x->sum, x->moving[0], x->at, to, AVERAGE_FUNC);
}


static void take_averagefunc (const Taking *t, FuncAverage *to,
                              const FuncHistory *x, uint32_t func) {
  double m[AVERAGE_FUNC];
  int i;
  to->func = func;
  for (i = 0; i < HISTORY_FIGURES; i++) {
    average_offunc(t, i, x, m);
    to->calls[i] = average_calls(m[AVERAGE_CALLS]);
    to->self[i] = take_ns(t, t->selfshare[func] * m[AVERAGE_SELF]);
    to->total[i] = take_ns(t, t->totalshare[func] * m[AVERAGE_TOTAL]);
    to->heat_self[i] = average_heat(m[AVERAGE_SELF], m[AVERAGE_SELF2]);
    to->heat_total[i] = average_heat(m[AVERAGE_TOTAL], m[AVERAGE_TOTAL2]);
  }
}


static void take_averagenode (const Taking *t, NodeAverage *to,
                              const NodeHistory *x, uint32_t node) {
  double m[AVERAGE_NODE];
  int i;
  to->node = node;
  for (i = 0; i < HISTORY_FIGURES; i++) {
    average_figures(t, i, x->sum, x->moving[0], x->at, m, AVERAGE_NODE);
    to->calls[i] = average_calls(m[AVERAGE_CALLS]);
    to->self[i] = take_ns(t, t->nodeshare[node] * m[AVERAGE_SELF]);
  }
}


/* The time of an average frame, in ns. */
static int64_t average_frame (const Taking *t, int figure) {
  const Frames *f = t->f;
  double ticks = 0, m[AVERAGE_FUNC];
  uint32_t i;
  if (figure == 0)
    return take_ns(t, (double)f->averaged / average_count(t));
  for (i = 0; i < f->funcs.count; i++) {
    average_offunc(t, figure, cast(const FuncHistory *,
                                   chunks_at(&f->funcs, i)), m);
    ticks += m[AVERAGE_SELF];
  }
  return take_ns(t, ticks);
}


/* As in each frame, overhead gets the time that the others leave. */
static void average_overhead (const Taking *t, int figure) {
  const History *h = t->to;
  uint32_t func = t->s->node[NODE_OVERHEAD].func, i;
  int64_t whole = average_frame(t, figure), left = whole;
  FuncAverage *row = NULL;
  for (i = 0; i < h->funcs; i++) {
    if (h->func[i].func == func) row = &h->func[i];
    else left -= h->func[i].self[figure];
  }
  if (row != NULL) row->self[figure] = row->total[figure] = left;
  for (i = 0, left = whole; i < h->nodes; i++)
    if (i != NODE_OVERHEAD) left -= h->node[i].self[figure];
  if (h->nodes > NODE_OVERHEAD) h->node[NODE_OVERHEAD].self[figure] = left;
}


static void averages_take (const Taking *t) {
  const Frames *f = t->f;
  uint32_t i;
  int figure;
  for (i = 0; i < f->funcs.count; i++)
    if (t->s->func[i] != 0)
      take_averagefunc(t, &t->to->func[t->to->funcs++],
                       cast(const FuncHistory *, chunks_at(&f->funcs, i)),
                       take_func(t, i));
  for (i = 0; i < f->nodes.count; i++)
    take_averagenode(t, &t->to->node[t->to->nodes++],
                     cast(const NodeHistory *, chunks_at(&f->nodes, i)), i);
  for (figure = 0; figure < HISTORY_FIGURES; figure++)
    average_overhead(t, figure);
}

/* }====================================================== */


/* {======================================================
** Making a history
** ======================================================= */

/*
** Frame 'i' of the history: first the last frames, newest first, then the slow
** ones. NULL: there are no more.
*/
static const HostFrame *take_frame (const Frames *f, uint32_t i) {
  uint32_t kept = f->recorded < f->size ? (uint32_t)f->recorded : f->size;
  if (i == 0) return f->recorded > 0 ? &f->last : NULL;  /* with its nodes */
  if (i < kept) return frames_at(f, i);
  return i - kept < frames_slows(f) ? frames_slowat(f, i - kept) : NULL;
}


size_t history_size (const Frames *f) {
  size_t size = sizeof(History) + f->funcs.count * sizeof(FuncAverage)
                                + f->nodes.count * sizeof(NodeAverage);
  const HostFrame *p;
  uint32_t i;
  for (i = 0; (p = take_frame(f, i)) != NULL; i++)
    size += sizeof(HistoryFrame) + p->rows * sizeof(HistoryRow)
                                 + p->nodes * sizeof(HistoryNode);
  return size;
}


/* Takes 'n' items of 'size' bytes from the block at '*at'. */
static void *history_room (char **at, size_t n, size_t size) {
  void *room = *at;
  *at += n * size;
  return room;
}


/* Divides the block into the history and its arrays. */
static void history_divide (History *h, const Frames *f) {
  char *at = (char *)(h + 1);
  const HostFrame *p;
  uint32_t i = 0;
  while (take_frame(f, i) != NULL) i++;
  h->frame = cast(HistoryFrame *, history_room(&at, i, sizeof *h->frame));
  h->func = cast(FuncAverage *, history_room(&at, f->funcs.count,
                                             sizeof *h->func));
  h->node = cast(NodeAverage *, history_room(&at, f->nodes.count,
                                             sizeof *h->node));
  for (i = 0; (p = take_frame(f, i)) != NULL; i++) {
    HistoryFrame *to = &h->frame[i];
    to->row = cast(HistoryRow *, history_room(&at, p->rows, sizeof *to->row));
    to->node = cast(HistoryNode *, history_room(&at, p->nodes,
                                                sizeof *to->node));
  }
}


/* Is the frame's time without overhead, as reports show it, over budget? */
static int history_isslow (const Taking *t, const HistoryFrame *p) {
  uint32_t own = t->s->node[NODE_OVERHEAD].func, i;
  int64_t ns = p->ns;
  for (i = 0; i < p->rows; i++)
    if (p->row[i].func == own) ns -= p->row[i].self;
  return t->to->budget > 0 && t->f->slowsize > 0 && ns > t->to->budget;
}


/*
** Decides again which frames are slow: when they ended, less of their
** overhead was known. Leaves out frames that were kept as slow but are not.
*/
static void history_judge (const Taking *t, uint32_t taken) {
  const Frames *f = t->f;
  History *h = t->to;
  uint32_t slows = 0, i;
  for (i = 0; i < taken; i++) {
    const HostFrame *p = take_frame(f, i);
    int slow = history_isslow(t, &h->frame[i]);
    /* a frame may be in both lists: count it once */
    if (i < h->frames || p->number < h->frame[h->frames - 1].number)
      h->slowcount += (uint64_t)slow - (uint64_t)p->slow;
    if (i >= h->frames && slow)
      h->frame[h->frames + slows++] = h->frame[i];
  }
  h->slows = slows;
}


static void history_fill (const Taking *t) {
  const Frames *f = t->f;
  History *h = t->to;
  const HostFrame *p;
  uint32_t i;
  h->ended = f->number - 1;
  h->recorded = f->recorded;
  h->counted = f->counted;
  h->slowcount = f->slowcount;
  h->budget = (int64_t)((double)f->budget * f->seconds * 1e9 + 0.5);
  for (i = 0; (p = take_frame(f, i)) != NULL; i++)
    take_hostframe(t, &h->frame[i], p);
  h->frames = i - frames_slows(f);
  history_judge(t, i);
  averages_take(t);
}


void history_take (History *h, const Memory *m, const Frames *f,
                   const Snapshot *s) {
  Taking t = ZEROS;
  history_divide(h, f);
  t.f = f;
  t.s = s;
  t.to = h;
  t.nodeshare = memory_new(m, double, s->nodes);
  t.selfshare = memory_new(m, double, s->functions);
  t.totalshare = memory_new(m, double, s->functions);
  t.sum = memory_newzeroed(m, int64_t, s->nodes);
  t.row = memory_newzeroed(m, uint32_t, s->functions);
  shares_fill(&t, m);
  history_fill(&t);
}

/* }====================================================== */

/*
** See periods.h
*/

#include "periods.h"

#include <math.h>
#include <string.h>


/* a function over the whole recording, and in the period that is copied */
typedef struct FuncWhole {
  uint64_t self, below;		/* ticks; total is both */
  int64_t self_ns, below_ns;
  int64_t cost_ns;		/* what recording has cost: not in 'self_ns' */
  const PeriodRow *from;	/* in this period, ... */
  uint32_t row;			/* ... and as what it is copied */
  uint64_t given;		/* of its ticks, those given to nodes ... */
  int64_t given_ns;		/* ... and what they were given */
} FuncWhole;

typedef struct Copying {
  const Recording *r;
  const History *h;
  const Snapshot *s;
  Periods *to;
  FuncWhole *whole;	/* by function of the snapshot */
  int64_t *total;	/* by node of the snapshot; zeros between uses */
  uint32_t *level;	/* of recursion; the same */
  uint32_t *group;
  uint32_t count;	/* nodes of the snapshot */
  uint32_t rows, nodes;	/* copied so far */
  int64_t cost;		/* of the period: the profiler's own */
  int64_t func_cost[PERIODS_FIGURES];	/* the same, of averages */
  int64_t node_cost[PERIODS_FIGURES];
} Copying;


static int64_t copy_ns (const Copying *c, double ticks) {
  return (int64_t)clock_ns(c->s->scale,
                           ticks > 0 ? (uint64_t)(ticks + 0.5) : 0);
}


/*
** What 'ns' are at 'ticks' of 'all'. It never falls while ticks rise, and
** ends with 'ns': so differences of it are not negative and add up.
*/
static int64_t copy_share (int64_t ns, uint64_t ticks, uint64_t all) {
  if (ticks >= all) return ns;
  return (int64_t)((double)ns * ((double)ticks / (double)all));
}


static int64_t copy_part (int64_t ns, uint64_t all, uint64_t from,
                          uint64_t ticks) {
  return copy_share(ns, from + ticks, all) - copy_share(ns, from, all);
}


/* the snapshot's number of a node; UINT32_MAX: it has none */
static uint32_t copy_node (const Copying *c, uint32_t id) {
  uint32_t own = c->r->tree.cprof->id;
  if (!snapshot_skips(c->r)) return id;
  return id == own ? UINT32_MAX : id - (id > own);
}


static uint32_t copy_func (const Copying *c, uint32_t func) {
  return c->s->func[func] - 1;
}


/* what recording has cost in a node; the profiler's own got all of it */
static int64_t copy_cost (const Copying *c, uint32_t id) {
  int64_t cost = c->s->list[id].raw - c->s->list[id].self;
  return cost > 0 ? cost : 0;
}


/* what is left of a time when that is taken out, as of the whole */
static double copy_left (const Copying *c, uint64_t ticks, int64_t ns) {
  double all = (double)clock_ns(c->s->scale, ticks);
  return all > 0 ? (double)ns / all : 1;
}


/* {======================================================
** Periods
** ======================================================= */

/* all of the recording, for that is what periods are shares of */
static int copy_whole (Copying *c) {
  const Tree *t = &c->r->tree;
  const ProfileNode *list = c->s->list;
  Nodes nodes = ZEROS;
  uint32_t i;
  nodes.list = list;
  nodes.count = c->count;
  memset(c->whole, 0, c->s->functions * sizeof *c->whole);
  memset(c->total, 0, c->count * sizeof *c->total);
  for (i = 0; i < c->count; i++) c->group[i] = list[i].func;
  if (!nodes_levels(&nodes, &c->r->memory, c->group, c->s->functions,
                    c->level))
    return 0;
  for (i = t->nodes.count; i-- > 0; ) {
    const Node *n = tree_node(t, i);
    uint32_t id = copy_node(c, i);
    FuncWhole *f;
    if (id == UINT32_MAX) continue;
    f = &c->whole[list[id].func];
    f->self += n->self;
    f->self_ns += id == c->s->own_node ? list[id].raw : list[id].self;
    f->cost_ns += copy_cost(c, id);
    c->total[id] += (int64_t)n->self;
    if (c->level[id] == 0) {
      f->below += (uint64_t)c->total[id];
      f->below_ns += list[id].total;
    }
    if (id != 0) c->total[list[id].parent] += c->total[id];
    c->total[id] = 0;
  }
  for (i = 0; i < c->s->functions; i++) {
    c->whole[i].below -= c->whole[i].self;
    c->whole[i].below_ns -= c->whole[i].self_ns;
  }
  return 1;
}


/* the rows of a period, with what needs no conversion */
static void copy_rows (Copying *c, PeriodCopy *to, const Period *p) {
  uint32_t i;
  to->row = c->rows;
  for (i = 0; i < p->rows; i++) {
    const PeriodRow *from = &p->row[i];
    RowCopy *row = &c->to->row[c->rows];
    FuncWhole *f;
    if (c->s->func[from->func] == 0) continue;
    row->func = copy_func(c, from->func);
    row->calls = (int64_t)from->calls;
    f = &c->whole[row->func];
    f->row = c->rows++;
    f->from = from;
    f->given = 0;
    f->given_ns = 0;
  }
  to->rows = c->rows - to->row;
}


/* where nodes are not kept, functions are shares of the whole */
static void copy_shares (Copying *c, PeriodCopy *to) {
  uint32_t i;
  for (i = to->row; i < c->rows; i++) {
    RowCopy *row = &c->to->row[i];
    const FuncWhole *f = &c->whole[row->func];
    const PeriodRow *from = f->from;
    row->self = copy_part(f->self_ns, f->self, from->self_from, from->self);
    row->total = row->self + copy_part(f->below_ns, f->below,
      from->below_from, from->total - from->self);
    to->ns += row->self;
    c->cost += copy_part(f->cost_ns, f->self, from->self_from, from->self);
  }
  to->ns += c->cost;
  for (i = to->row; i < c->rows; i++) {
    RowCopy *row = &c->to->row[i];
    if (c->s->own_node != 0 && row->func == c->s->list[c->s->own_node].func) {
      row->self += c->cost;
      row->total += c->cost;
    }
  }
  for (i = to->row; i < c->rows; i++)
    if (c->to->row[i].func == c->s->list[0].func)
      c->to->row[i].total = to->ns;
}


/* a node is a share of the whole, or else of its function's row */
static int64_t copy_self (Copying *c, const PeriodNode *from,
                          uint32_t id) {
  const Node *n = tree_node(&c->r->tree, from->node);
  FuncWhole *f = &c->whole[c->s->list[id].func];
  int64_t before = f->given_ns;
  if (c->h->full) {
    c->cost += copy_part(copy_cost(c, id), n->self, from->from, from->self);
    return copy_part(id == c->s->own_node ? c->s->list[id].raw
                                          : c->s->list[id].self,
                     n->self, from->from, from->self);
  }
  f->given += from->self;
  f->given_ns = copy_share(c->to->row[f->row].self, f->given, f->from->self);
  return f->given_ns - before;
}


static void copy_nodes (Copying *c, PeriodCopy *to, const Period *p) {
  uint32_t i;
  to->node = c->nodes;
  for (i = 0; i < p->nodes; i++) {
    const PeriodNode *from = &p->node[i];
    NodeCopy *node = &c->to->node[c->nodes];
    node->node = copy_node(c, from->node);
    if (node->node == UINT32_MAX) continue;
    node->calls = (int64_t)from->calls;
    node->self = copy_self(c, from, node->node);
    c->nodes++;
  }
  for (i = to->node; c->h->full && i < c->nodes; i++)
    if (c->to->node[i].node == c->s->own_node) c->to->node[i].self += c->cost;
  to->nodes = c->nodes - to->node;
}


/* where all nodes are kept, functions are sums of theirs */
static void copy_sums (Copying *c, PeriodCopy *to) {
  const NodeCopy *list = &c->to->node[to->node];
  uint32_t i;
  for (i = to->nodes; i-- > 0; ) {  /* callees first */
    uint32_t id = list[i].node;
    const ProfileNode *n = &c->s->list[id];
    RowCopy *row = &c->to->row[c->whole[n->func].row];
    int64_t total = c->total[id] + list[i].self;
    row->self += list[i].self;
    if (c->level[id] == 0) row->total += total;
    if (id != 0) c->total[n->parent] += total;
    c->total[id] = 0;
    to->ns += list[i].self;
  }
}


static void copy_period (Copying *c, const Period *p) {
  PeriodCopy *to = &c->to->period[c->to->periods + c->to->slows];
  c->cost = 0;
  to->number = p->number;
  to->start = copy_ns(c, (double)p->start);
  copy_rows(c, to, p);
  if (!c->h->full) copy_shares(c, to);
  copy_nodes(c, to, p);
  if (c->h->full) copy_sums(c, to);
}

/* }====================================================== */


/* {======================================================
** Averages
** ======================================================= */

/* standard deviation by mean, half of which is as hot as can be */
static double copy_heat (double mean, double square) {
  double variance = square - mean * mean;
  double heat;
  if (mean <= 0 || variance <= 0) return 0;
  heat = sqrt(variance) / mean / 0.5;
  return heat < 1 ? heat : 1;
}


/* 'left' of it is its own, the rest cost */
static int64_t average_self (const Copying *c, int64_t *cost, int which,
                             double ticks, double left) {
  int64_t ns = copy_ns(c, ticks * left);
  cost[which] += copy_ns(c, ticks) - ns;
  return ns;
}


static void average_func (Copying *c, const FuncHistory *x, uint32_t func) {
  FuncCopy *to = &c->to->func[c->to->funcs++];
  const FuncWhole *f = &c->whole[func];
  double self = copy_left(c, f->self, f->self_ns);
  double total = copy_left(c, f->self + f->below, f->self_ns + f->below_ns);
  double n = c->h->counted ? (double)c->h->counted : 1;
  int i;
  to->func = func;
  to->calls[0] = (int64_t)((double)x->sum_calls * PERIODS_CALLS / n + 0.5);
  to->self[0] = average_self(c, c->func_cost, 0, (double)x->sum_self / n,
                             self);
  to->total[0] = copy_ns(c, total * (double)x->sum_total / n);
  to->heat_self[0] = copy_heat((double)x->sum_self / n, x->sum_self2 / n);
  to->heat_total[0] = copy_heat((double)x->sum_total / n, x->sum_total2 / n);
  for (i = 0; i < HISTORY_AVERAGES; i++) {
    const Moving *m = &x->moving[i];
    double k = history_decay(c->h, c->h->averaged - x->at, i);
    to->calls[i + 1] = (int64_t)(k * m->calls * PERIODS_CALLS + 0.5);
    to->self[i + 1] = average_self(c, c->func_cost, i + 1, k * m->self, self);
    to->total[i + 1] = copy_ns(c, total * k * m->total);
    to->heat_self[i + 1] = copy_heat(k * m->self, k * m->self2);
    to->heat_total[i + 1] = copy_heat(k * m->total, k * m->total2);
  }
}


static void average_state (Copying *c, const NodeHistory *x,
                           uint32_t node) {
  AverageCopy *to = &c->to->average[c->to->averages++];
  const ProfileNode *whole = &c->s->list[node];
  double n = c->h->counted ? (double)c->h->counted : 1;
  double self = node == c->s->own_node || whole->raw == 0 ? 1
              : (double)whole->self / (double)whole->raw;
  int i;
  to->node = node;
  to->calls[0] = (int64_t)((double)x->sum_calls * PERIODS_CALLS / n + 0.5);
  to->self[0] = average_self(c, c->node_cost, 0, (double)x->sum_self / n,
                             self);
  for (i = 0; i < HISTORY_AVERAGES; i++) {
    double k = history_decay(c->h, c->h->averaged - x->at, i);
    to->calls[i + 1] = (int64_t)(k * x->moving[i].calls * PERIODS_CALLS + 0.5);
    to->self[i + 1] = average_self(c, c->node_cost, i + 1,
                                   k * x->moving[i].self, self);
  }
}

/* }====================================================== */


/* how many slow periods there are, and the one 'back' before the last */
static uint32_t copy_slows (const History *h) {
  return h->slowcount < h->slowsize ? (uint32_t)h->slowcount : h->slowsize;
}


static const Period *copy_slow (const History *h, uint32_t back) {
  return &h->slow[(h->slowcount - 1 - back) % h->slowsize];
}


/* lists without room: only their lengths are told */
typedef struct Lengths {
  uint32_t periods, rows, nodes;
} Lengths;


static void copy_count (Lengths *n, const Period *p) {
  n->periods++;
  n->rows += p->rows;
  n->nodes += p->nodes;
}


static Lengths copy_lengths (const History *h) {
  Lengths n = {0, 0, 0};
  const Period *p;
  uint32_t i;
  copy_count(&n, &h->last);
  for (i = 0; (p = history_period(h, i)) != NULL; i++) copy_count(&n, p);
  for (i = 0; i < copy_slows(h); i++) copy_count(&n, copy_slow(h, i));
  return n;
}


size_t periods_size (const History *h) {
  Lengths n = copy_lengths(h);
  return sizeof(Periods) + n.periods * sizeof(PeriodCopy)
       + n.rows * sizeof(RowCopy) + n.nodes * sizeof(NodeCopy)
       + h->funcs.count * sizeof(FuncCopy)
       + h->nodes.count * sizeof(AverageCopy);
}


size_t periods_room (const Recording *r) {
  return r->functions.list.count * sizeof(FuncWhole)
       + snapshot_count(r) * (sizeof(int64_t) + 2 * sizeof(uint32_t));
}


/* all lists of 'to' lie behind it */
static void copy_lay (Periods *to, const History *h) {
  Lengths n = copy_lengths(h);
  char *p = (char *)(to + 1);
  memset(to, 0, periods_size(h));
  to->period = cast(PeriodCopy *, (void *)p);
  p += n.periods * sizeof *to->period;
  to->row = cast(RowCopy *, (void *)p);
  p += n.rows * sizeof *to->row;
  to->node = cast(NodeCopy *, (void *)p);
  p += n.nodes * sizeof *to->node;
  to->func = cast(FuncCopy *, (void *)p);
  p += h->funcs.count * sizeof *to->func;
  to->average = cast(AverageCopy *, (void *)p);
}


/* what recording has cost is the profiler's own */
static void average_own (Copying *c) {
  const uint32_t own = c->s->own_node, func = c->s->list[own].func;
  uint32_t i;
  int k;
  for (i = 0; i < c->to->funcs; i++) {
    FuncCopy *f = &c->to->func[i];
    for (k = 0; f->func == func && k < PERIODS_FIGURES; k++) {
      f->self[k] += c->func_cost[k];
      f->total[k] += c->func_cost[k];
    }
  }
  for (i = 0; i < c->to->averages; i++) {
    AverageCopy *a = &c->to->average[i];
    for (k = 0; a->node == own && k < PERIODS_FIGURES; k++)
      a->self[k] += c->node_cost[k];
  }
}


static void copy_averages (Copying *c) {
  const History *h = c->h;
  uint32_t i;
  for (i = 0; i < h->funcs.count; i++)
    if (c->s->func[i] != 0)
      average_func(c, cast(const FuncHistory *, chunks_at(&h->funcs, i)),
                   copy_func(c, i));
  for (i = 0; i < h->nodes.count; i++)
    if (copy_node(c, i) != UINT32_MAX)
      average_state(c, cast(const NodeHistory *, chunks_at(&h->nodes, i)),
                    copy_node(c, i));
  if (c->s->own_node != 0) average_own(c);
}


int periods_fill (Periods *to, const Recording *r, const Snapshot *s,
                  void *room) {
  const History *h = &r->history;
  const Period *p;
  Copying c;
  uint32_t i;
  memset(&c, 0, sizeof c);
  c.r = r;
  c.h = h;
  c.s = s;
  c.to = to;
  c.count = snapshot_count(r);
  c.total = cast(int64_t *, room);
  c.whole = cast(FuncWhole *, (void *)(c.total + c.count));
  c.level = cast(uint32_t *, (void *)(c.whole + s->functions));
  c.group = c.level + c.count;
  copy_lay(to, h);
  if (!copy_whole(&c)) return 0;
  to->number = h->number - 1;
  to->recorded = h->recorded;
  to->counted = h->counted;
  to->slowcount = h->slowcount;
  copy_period(&c, &h->last);
  to->periods = 1;
  while ((p = history_period(h, to->periods - 1)) != NULL) {
    copy_period(&c, p);
    to->periods++;
  }
  for (i = 0; i < copy_slows(h); i++) {
    copy_period(&c, copy_slow(h, i));
    to->slows++;
  }
  copy_averages(&c);
  return 1;
}

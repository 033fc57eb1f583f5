/*
** See history.h
*/

#include "history.h"

#include <math.h>
#include <string.h>


#define HISTORY_SHIFT	8


void history_init (History *h, const Memory *m, const Tree *tree,
                   uint32_t size, int full, uint32_t slowsize) {
  memset(h, 0, sizeof *h);
  h->memory = m;
  h->tree = tree;
  h->size = size;
  h->full = full;
  h->slowsize = slowsize;
  chunks_init(&h->nodes, m, sizeof(NodeHistory), HISTORY_SHIFT);
  chunks_init(&h->funcs, m, sizeof(FuncHistory), HISTORY_SHIFT);
}


static void period_free (Period *p, const Memory *m) {
  memory_free(m, p->row, p->rowcapacity * sizeof *p->row);
  memory_free(m, p->node, p->nodecapacity * sizeof *p->node);
}


static void periods_free (Period *list, uint32_t n, const Memory *m) {
  uint32_t i;
  for (i = 0; list != NULL && i < n; i++) period_free(&list[i], m);
  memory_free(m, list, n * sizeof *list);
}


void history_free (History *h) {
  period_free(&h->last, h->memory);
  periods_free(h->ring, h->size, h->memory);
  periods_free(h->slow, h->slowsize, h->memory);
  memory_free(h->memory, h->touched, h->capacity * sizeof *h->touched);
  chunks_free(&h->nodes);
  chunks_free(&h->funcs);
  h->on = 0;
}


void history_clear (History *h) {
  History old = *h;
  if (h->memory == NULL) return;
  history_free(h);
  history_init(h, old.memory, old.tree, old.size, old.full, old.slowsize);
}


/* {======================================================
** Touched nodes
** ======================================================= */

static NodeHistory *history_node (const History *h, uint32_t id) {
  return cast(NodeHistory *, chunks_at(&h->nodes, id));
}


int history_touchnew (History *h, const Node *n) {
  void *array = h->touched;
  while (h->nodes.count <= n->id)
    if (chunks_add(&h->nodes) == NULL) return 0;
  if (!memory_grow(h->memory, &array, &h->capacity, h->count,
                   sizeof *h->touched))
    return 0;
  h->touched = cast(uint32_t *, array);
  h->touched[h->count++] = n->id;
  history_node(h, n->id)->touched = (uint32_t)h->number;
  return 1;
}


static Period *periods_new (const Memory *m, uint32_t n) {
  Period *list = memory_new(m, Period, n);
  if (list != NULL) memset(list, 0, n * sizeof *list);
  return list;
}


int history_begin (History *h, uint64_t start) {
  uint32_t id;
  h->start = start;
  h->number = 1;
  h->ring = periods_new(h->memory, h->size);
  if (h->ring == NULL) return 0;
  if (h->slowsize > 0) {
    h->slow = periods_new(h->memory, h->slowsize);
    if (h->slow == NULL) return 0;
  }
  h->on = 1;
  for (id = 0; id < h->tree->nodes.count; id++)
    if (!history_touchnew(h, tree_node(h->tree, id))) return 0;
  return 1;
}

/* }====================================================== */


/* {======================================================
** Summing a period up
** ======================================================= */

static FuncHistory *history_func (History *h, uint32_t func) {
  while (h->funcs.count <= func)
    if (chunks_add(&h->funcs) == NULL) return NULL;
  return cast(FuncHistory *, chunks_at(&h->funcs, func));
}


/* what each touched node gained, and its callees with it */
static int period_nodes (History *h) {
  Period *p = &h->last;
  uint32_t i;
  p->nodes = 0;
  for (i = 0; i < h->count; i++) {
    const Node *n = tree_node(h->tree, h->touched[i]);
    NodeHistory *x = history_node(h, n->id);
    void *array = p->node;
    if (!memory_grow(h->memory, &array, &p->nodecapacity, p->nodes,
                     sizeof *p->node))
      return 0;
    p->node = cast(PeriodNode *, array);
    p->node[p->nodes].node = n->id;
    p->node[p->nodes].calls = n->calls - x->calls;
    p->node[p->nodes].self = n->self - x->self;
    p->node[p->nodes].from = x->self;
    x->calls = n->calls;
    x->self = n->self;
    x->total = p->node[p->nodes].self;
    x->place = p->nodes++;
    x->child = x->sibling = 0;
  }
  /* callers were touched before their callees */
  for (i = h->count; i-- > 0; ) {
    const Node *n = tree_node(h->tree, h->touched[i]);
    NodeHistory *x = history_node(h, n->id), *parent;
    if (n == h->tree->root) continue;
    parent = history_node(h, n->parent);
    parent->total += x->total;
    x->sibling = parent->child;
    parent->child = n->id;
  }
  return 1;
}


/* a node on the way down: its function's row; 0: out of memory */
static int period_enter (History *h, uint32_t id, uint64_t calls,
                         uint64_t self) {
  Period *p = &h->last;
  uint32_t func = tree_node(h->tree, id)->func;
  FuncHistory *f = history_func(h, func);
  void *array = p->row;
  PeriodRow *row;
  if (f == NULL) return 0;
  if (f->row == 0) {
    if (!memory_grow(h->memory, &array, &p->rowcapacity, p->rows,
                     sizeof *p->row))
      return 0;
    p->row = cast(PeriodRow *, array);
    memset(&p->row[p->rows], 0, sizeof *p->row);
    p->row[p->rows].func = func;
    f->row = ++p->rows;
  }
  row = &p->row[f->row - 1];
  row->calls += calls;
  row->self += self;
  if (f->active++ == 0) row->total += history_node(h, id)->total;
  return 1;
}


static void period_leave (History *h, uint32_t id) {
  history_func(h, tree_node(h->tree, id)->func)->active--;
}


/* in depth, for a function's total is that of its outermost nodes */
static int period_rows (History *h) {
  uint32_t id = h->tree->root->id;
  h->last.rows = 0;
  for (;;) {
    const NodeHistory *x = history_node(h, id);
    const PeriodNode *n = &h->last.node[x->place];
    if (!period_enter(h, id, n->calls, n->self)) return 0;
    if (x->child != 0) {
      id = x->child;
      continue;
    }
    period_leave(h, id);
    while (history_node(h, id)->sibling == 0) {
      if (id == h->tree->root->id) return 1;
      id = tree_node(h->tree, id)->parent;
      period_leave(h, id);
    }
    id = history_node(h, id)->sibling;
  }
}


/* where the row stands among those of its function */
static void period_place (History *h, PeriodRow *row) {
  FuncHistory *f = history_func(h, row->func);
  f->row = 0;
  row->self_from = f->self;
  row->below_from = f->below;
  f->self += row->self;
  f->below += row->total - row->self;
}

/* }====================================================== */


/* {======================================================
** Averages: v = k v + (1 - k) x, with k = 0.1^(dt / T), as in IPROF. What
** was not touched for a while has decayed by the product of these k.
** ======================================================= */

double history_decay (const History *h, uint64_t ticks, int average) {
  static const double seconds[HISTORY_AVERAGES] = HISTORY_SECONDS;
  return pow(0.1, (double)ticks * h->seconds / seconds[average]);
}


/* of the averages from before, what is left at the end of this period */
typedef struct Decay {
  double now[HISTORY_AVERAGES];	/* k of this period */
  double old[HISTORY_AVERAGES];	/* of those missed before it */
} Decay;


static void decay_missed (const History *h, Decay *d, uint64_t at) {
  int i;
  for (i = 0; i < HISTORY_AVERAGES; i++)
    d->old[i] = at == h->averaged ? 1 : history_decay(h, h->averaged - at, i);
}


static double decay_mix (const Decay *d, int i, double old, double now) {
  return d->now[i] * d->old[i] * old + (1 - d->now[i]) * now;
}


static void average_node (History *h, const PeriodNode *n, Decay *d) {
  NodeHistory *x = history_node(h, n->node);
  int i;
  decay_missed(h, d, x->at);
  for (i = 0; i < HISTORY_AVERAGES; i++) {
    NodeMoving *m = &x->moving[i];
    m->calls = decay_mix(d, i, m->calls, (double)n->calls);
    m->self = decay_mix(d, i, m->self, (double)n->self);
  }
  x->sum_calls += n->calls;
  x->sum_self += n->self;
  x->at = h->averaged + h->last.ticks;
}


static void average_row (History *h, const PeriodRow *row, Decay *d) {
  FuncHistory *x = history_func(h, row->func);
  double self = (double)row->self, total = (double)row->total;
  int i;
  decay_missed(h, d, x->at);
  for (i = 0; i < HISTORY_AVERAGES; i++) {
    Moving *m = &x->moving[i];
    m->calls = decay_mix(d, i, m->calls, (double)row->calls);
    m->self = decay_mix(d, i, m->self, self);
    m->total = decay_mix(d, i, m->total, total);
    m->self2 = decay_mix(d, i, m->self2, self * self);
    m->total2 = decay_mix(d, i, m->total2, total * total);
  }
  x->sum_calls += row->calls;
  x->sum_self += row->self;
  x->sum_total += row->total;
  x->sum_self2 += self * self;
  x->sum_total2 += total * total;
  x->at = h->averaged + h->last.ticks;
}


static void history_average (History *h) {
  const Period *p = &h->last;
  Decay d;
  uint32_t k;
  int i;
  if (p->number <= HISTORY_DISCARDED) return;
  for (i = 0; i < HISTORY_AVERAGES; i++)  /* the first one is the average */
    d.now[i] = h->counted == 0 ? 0 : history_decay(h, p->ticks, i);
  for (k = 0; k < p->nodes; k++) average_node(h, &p->node[k], &d);
  for (k = 0; k < p->rows; k++) average_row(h, &p->row[k], &d);
  h->counted++;
  h->averaged += p->ticks;
}

/* }====================================================== */


/* {======================================================
** Keeping periods
** ======================================================= */

/* grows with the buffer that periods are copied from, which doubles */
static int period_room (const Memory *m, void **array, uint32_t *capacity,
                        uint32_t count, uint32_t wanted, size_t size) {
  void *p;
  if (count <= *capacity) return 1;
  p = memory_resize(m, *array, *capacity * size, wanted * size);
  if (p == NULL) return 0;
  *array = p;
  *capacity = wanted;
  return 1;
}


static int period_copy (const Memory *m, Period *to, const Period *from,
                        int full) {
  void *row = to->row, *node = to->node;
  uint32_t nodes = full ? from->nodes : 0;
  int ok = period_room(m, &row, &to->rowcapacity, from->rows,
                       from->rowcapacity, sizeof *to->row) &&
           period_room(m, &node, &to->nodecapacity, nodes,
                       from->nodecapacity, sizeof *to->node);
  to->row = cast(PeriodRow *, row);
  to->node = cast(PeriodNode *, node);
  if (!ok) return 0;
  memcpy(to->row, from->row, from->rows * sizeof *to->row);
  if (nodes > 0) memcpy(to->node, from->node, nodes * sizeof *to->node);
  to->rows = from->rows;
  to->nodes = nodes;
  to->number = from->number;
  to->start = from->start;
  to->ticks = from->ticks;
  return 1;
}


static int history_keep (History *h) {
  const Period *p = &h->last;
  Period *to = &h->ring[h->recorded % h->size];
  if (!period_copy(h->memory, to, p, h->full)) return 0;
  h->recorded++;
  if (h->slowsize == 0 || h->budget == 0 || p->ticks <= h->budget) return 1;
  to = &h->slow[h->slowcount % h->slowsize];
  if (!period_copy(h->memory, to, p, 1)) return 0;
  h->slowcount++;
  return 1;
}


const Period *history_period (const History *h, uint64_t back) {
  if (back >= h->recorded || back >= h->size) return NULL;
  return &h->ring[(h->recorded - 1 - back) % h->size];
}

/* }====================================================== */


/* a period that is not recorded leaves all as it was */
static void history_skip (History *h) {
  uint32_t i;
  for (i = 0; i < h->count; i++) {
    const Node *n = tree_node(h->tree, h->touched[i]);
    NodeHistory *x = history_node(h, n->id);
    x->calls = n->calls;
    x->self = n->self;
  }
}


static int history_record (History *h, uint64_t now) {
  Period *p = &h->last;
  uint32_t i;
  p->number = h->number;
  p->start = h->start;
  p->ticks = now - h->start;
  if (!period_nodes(h) || !period_rows(h)) return 0;
  for (i = 0; i < p->rows; i++) period_place(h, &p->row[i]);
  history_average(h);
  return history_keep(h);
}


int history_end (History *h, uint64_t now, int record) {
  if (!record) history_skip(h);
  else if (!history_record(h, now)) {
    h->last.rows = h->last.nodes = 0;  /* it is not complete */
    return 0;
  }
  h->number++;
  h->count = 0;
  h->start = now;
  return 1;
}

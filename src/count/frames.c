/*
** See frames.h
*/

#include "count/frames.h"

#include <math.h>
#include <string.h>


#define HISTORY_SHIFT	8


void frames_init (Frames *f, const Tree *tree, Loops *loops,
                  uint32_t size, int full, uint32_t slowsize) {
  const Memory *m = loops->list.memory;
  memset(f, 0, sizeof *f);
  f->memory = m;
  f->tree = tree;
  f->loops = loops;
  f->size = size;
  f->full = full;
  f->slowsize = slowsize;
  chunks_init(&f->nodes, m, sizeof(NodeHistory), HISTORY_SHIFT);
  chunks_init(&f->funcs, m, sizeof(FuncHistory), HISTORY_SHIFT);
}


static void frame_free (HostFrame *p, const Memory *m) {
  memory_free(m, p->row, p->rowcapacity * sizeof *p->row);
  memory_free(m, p->node, p->nodecapacity * sizeof *p->node);
}


static void frames_freelist (HostFrame *list, uint32_t n, const Memory *m) {
  uint32_t i;
  for (i = 0; list != NULL && i < n; i++) frame_free(&list[i], m);
  memory_free(m, list, n * sizeof *list);
}


Frames *frames_another (Frames *f) {
  Frames *added = memory_newzeroed(f->memory, Frames, 1);
  if (added == NULL) return NULL;
  frames_init(added, f->tree, f->loops, f->size, f->full, f->slowsize);
  while (f->next != NULL) f = f->next;
  f->next = added;
  return added;
}


void frames_free (Frames *f) {
  if (f->memory == NULL) return;
  if (f->next != NULL) {
    const Memory *m = f->memory;
    frames_free(f->next);
    memory_free(m, f->next, sizeof *f->next);
  }
  frame_free(&f->last, f->memory);
  frames_freelist(f->ring, f->size, f->memory);
  frames_freelist(f->slow, f->slowsize, f->memory);
  memory_free(f->memory, f->touched, f->capacity * sizeof *f->touched);
  chunks_free(&f->nodes);
  chunks_free(&f->funcs);
  memset(f, 0, sizeof *f);
}


void frames_clear (Frames *f) {
  Frames old = *f;
  if (f->memory == NULL) return;
  frames_free(f);
  frames_init(f, old.tree, old.loops, old.size, old.full, old.slowsize);
  f->turns = old.turns;  /* shadow stacks compare themselves with this number */
}


/* {======================================================
** Touched nodes
** ======================================================= */

static NodeHistory *frames_node (const Frames *f, uint32_t id) {
  return cast(NodeHistory *, chunks_at(&f->nodes, id));
}


/*
** Does a node above have the same function? Such an inner node does not count
** in the function's total. 1: yes; -1: no. 0 stands for not known yet.
*/
static int frames_isinner (const Tree *t, uint32_t id) {
  uint32_t func = tree_place(t, id)->func;
  while (id != 0) {
    id = tree_place(t, id)->parent;
    if (tree_place(t, id)->func == func) return 1;
  }
  return -1;
}


int frames_touchnew (Frames *f, const Node *n) {
  uint32_t id = tree_id(f->tree, n);
  NodeHistory *x;
  while (f->nodes.count <= id)
    if (chunks_add(&f->nodes) == NULL) return 0;
  if (!memory_grow(f->memory, &f->touched, &f->capacity, f->count,
                   sizeof *f->touched))
    return 0;
  f->touched[f->count++] = id;
  x = frames_node(f, id);
  x->touched = (uint32_t)f->number;
  if (x->inner == 0) x->inner = frames_isinner(f->tree, id);
  return 1;
}


int frames_begin (Frames *f, const FrameTime *start) {
  uint32_t id;
  f->start = *start;
  f->number = 1;
  f->ring = memory_newzeroed(f->memory, HostFrame, f->size);
  if (f->ring == NULL) return 0;
  if (f->slowsize > 0) {
    f->slow = memory_newzeroed(f->memory, HostFrame, f->slowsize);
    if (f->slow == NULL) return 0;
  }
  f->on = 1;
  for (id = 0; id < f->tree->nodes.count; id++)
    if (!frames_touchnew(f, tree_node(f->tree, id))) return 0;
  return 1;
}

/* }====================================================== */


/* {======================================================
** Summing up a frame
** ======================================================= */

static FuncHistory *frames_func (Frames *f, uint32_t func) {
  while (f->funcs.count <= func)
    if (chunks_add(&f->funcs) == NULL) return NULL;
  return cast(FuncHistory *, chunks_at(&f->funcs, func));
}


/* Sets what a node has allocated in this frame. */
static void frame_allocated (const Frames *f, FrameNode *to, NodeHistory *x) {
  const Allocated *a;
  memset(&to->own, 0, sizeof to->own);
  if (!f->tree->memory) return;
  a = &tree_allocated(f->tree, to->node)->all;
  to->own.count = a->count - x->own.count;
  to->own.bytes = a->bytes - x->own.bytes;
  x->own = *a;
}


/* Fills in the touched nodes: calls, self and total in this frame. */
static int frame_nodes (Frames *f) {
  HostFrame *p = &f->last;
  uint32_t i;
  p->nodes = 0;
  for (i = 0; i < f->count; i++) {
    uint32_t id = f->touched[i];
    const Node *n = tree_node(f->tree, id);
    NodeHistory *x = frames_node(f, id);
    if (!memory_grow(f->memory, &p->node, &p->nodecapacity, p->nodes,
                     sizeof *p->node))
      return 0;
    p->node[i].node = id;
    p->node[i].unused = 0;
    p->node[i].calls = n->calls - x->calls;
    p->node[i].self = x->total = n->self - x->self;
    frame_allocated(f, &p->node[i], x);
    x->calls = n->calls;
    x->self = n->self;
    p->nodes++;
  }
  /* callers were touched before their callees */
  for (i = f->count; i-- > 0; ) {
    uint32_t id = f->touched[i];
    if (id != 0)
      frames_node(f, tree_place(f->tree, id)->parent)->total +=
        frames_node(f, id)->total;
  }
  return 1;
}


/* The row of a function in this frame; NULL: out of memory. */
static FrameRow *frame_row (Frames *f, uint32_t func) {
  HostFrame *p = &f->last;
  FuncHistory *x = frames_func(f, func);
  if (x == NULL) return NULL;
  if (x->row != 0) return &p->row[x->row - 1];
  if (!memory_grow(f->memory, &p->row, &p->rowcapacity, p->rows,
                   sizeof *p->row))
    return NULL;
  memset(&p->row[p->rows], 0, sizeof *p->row);
  p->row[p->rows].func = func;
  x->row = ++p->rows;
  return &p->row[x->row - 1];
}


/* Sums up the nodes by function. 0: out of memory. */
static int frame_rows (Frames *f) {
  HostFrame *p = &f->last;
  uint32_t i;
  p->rows = 0;
  for (i = 0; i < p->nodes; i++) {
    const FrameNode *n = &p->node[i];
    const NodeHistory *x = frames_node(f, n->node);
    FrameRow *row = frame_row(f, tree_place(f->tree, n->node)->func);
    if (row == NULL) return 0;
    row->calls += n->calls;
    row->self += n->self;
    allocated_add(&row->own, n->own.count, n->own.bytes);
    if (x->inner < 0) row->total += x->total;
  }
  for (i = 0; i < p->rows; i++) frames_func(f, p->row[i].func)->row = 0;
  return 1;
}

/* }====================================================== */


/* {======================================================
** Averages: v = k v + (1 - k) x, with k = 0.1^(dt / T), as in IPROF. An
** average that missed frames is first multiplied by the k of each of them.
** ======================================================= */

double frames_decay (const Frames *f, uint64_t ticks, int average) {
  static const double seconds[AVERAGES] = AVERAGE_SECONDS;
  return pow(0.1, (double)ticks * f->seconds / seconds[average]);
}


/*
** Adds the 'n' figures of the last frame to 'sum' and to the moving averages
** 'moving'. '*at' is the value of 'averaged' when these were last updated,
** 'now' the share of each moving average that is left after this frame.
*/
static void average_add (const Frames *f, double *sum, double *moving,
                         uint64_t *at, const double *figure, int n,
                         const double *now) {
  int i, k;
  for (k = 0; k < n; k++) sum[k] += figure[k];
  for (i = 0; i < AVERAGES; i++) {
    /* the share that is left after the frames that were missed */
    double old = *at == f->averaged ? 1 : frames_decay(f, f->averaged - *at, i);
    for (k = 0; k < n; k++, moving++)
      *moving = now[i] * old * *moving + (1 - now[i]) * figure[k];
  }
  *at = f->averaged + f->last.ticks;
}


static void average_node (const Frames *f, const FrameNode *n,
                          const double *now) {
  NodeHistory *x = frames_node(f, n->node);
  double figure[AVERAGE_NODE];
  figure[AVERAGE_CALLS] = (double)n->calls;
  figure[AVERAGE_SELF] = (double)n->self;
  average_add(f, x->sum, x->moving[0], &x->at, figure, AVERAGE_NODE, now);
}


static void average_row (Frames *f, const FrameRow *row, const double *now) {
  FuncHistory *x = frames_func(f, row->func);
  double self = (double)row->self, total = (double)row->total;
  double figure[AVERAGE_FUNC];
  figure[AVERAGE_CALLS] = (double)row->calls;
  figure[AVERAGE_SELF] = self;
  figure[AVERAGE_TOTAL] = total;
  figure[AVERAGE_SELF2] = self * self;
  figure[AVERAGE_TOTAL2] = total * total;
  average_add(f, x->sum, x->moving[0], &x->at, figure, AVERAGE_FUNC, now);
}


static void frames_average (Frames *f) {
  const HostFrame *p = &f->last;
  double now[AVERAGES];
  uint32_t k;
  int i;
  if (p->number <= FRAMES_DISCARDED) return;
  for (i = 0; i < AVERAGES; i++)  /* the first frame is its own average */
    now[i] = f->counted == 0 ? 0 : frames_decay(f, p->ticks, i);
  for (k = 0; k < p->nodes; k++) average_node(f, &p->node[k], now);
  for (k = 0; k < p->rows; k++) average_row(f, &p->row[k], now);
  f->counted++;
  f->averaged += p->ticks;
}

/* }====================================================== */


/* {======================================================
** Keeping frames
** ======================================================= */

/*
** The time of the last frame without overhead, as estimated so far: the mean
** cost of its events, and the time of the overhead node. Frames are compared by
** it. The overhead of each function is known only when a profile is made, see
** profile/history.c.
*/
static uint64_t frames_own (const Frames *f) {
  const HostFrame *p = &f->last;
  uint64_t overhead = f->overhead;
  uint32_t i;
  for (i = 0; i < p->nodes; i++)
    if (p->node[i].node == f->tree->overhead->id) overhead += p->node[i].self;
  return p->ticks > overhead ? p->ticks - overhead : 0;
}


/* Counts the last frame in its loop. 0: out of memory. */
static int frames_count (const Frames *f, uint64_t own) {
  const HostFrame *p = &f->last;
  double ns = (double)own * f->seconds * 1e9;
  LoopMark m = ZEROS;
  m.number = (uint32_t)p->number;
  m.start = p->start;
  m.ticks = p->ticks;
  m.own = own;
  m.loop = f->loop;
  return loops_add(f->loops, &m, (uint64_t)ns, f->budget) &&
         (!loops_isworst(f->loops, &m) ||
          loops_keep(f->loops, &m, p->steps, p->node, p->nodes,
                     p->nodecapacity));
}


/* Arrays grow to the sizes of those to copy from, which grow by doubling. */
static int frame_copy (const Memory *m, HostFrame *to, const HostFrame *from,
                       int full) {
  uint32_t nodes = full ? from->nodes : 0;
  if (from->rows > to->rowcapacity &&
      !memory_room(m, &to->row, &to->rowcapacity, from->rowcapacity,
                   sizeof *to->row))
    return 0;
  if (nodes > to->nodecapacity &&
      !memory_room(m, &to->node, &to->nodecapacity, from->nodecapacity,
                   sizeof *to->node))
    return 0;
  memcpy(to->row, from->row, from->rows * sizeof *to->row);
  if (nodes > 0) memcpy(to->node, from->node, nodes * sizeof *to->node);
  to->rows = from->rows;
  to->nodes = nodes;
  to->number = from->number;
  to->start = from->start;
  to->ticks = from->ticks;
  to->steps = from->steps;
  to->slow = from->slow;
  return 1;
}


static int frames_keep (Frames *f) {
  HostFrame *p = &f->last;
  HostFrame *to = &f->ring[f->recorded % f->size];
  uint64_t own = frames_own(f);
  p->slow = f->slowsize > 0 && f->budget > 0 && own > f->budget;
  if (!frames_count(f, own)) return 0;
  if (!frame_copy(f->memory, to, p, f->full)) return 0;
  f->recorded++;
  if (!p->slow) return 1;
  to = &f->slow[f->slowcount % f->slowsize];
  if (!frame_copy(f->memory, to, p, 1)) return 0;
  f->slowcount++;
  return 1;
}


const HostFrame *frames_at (const Frames *f, uint64_t back) {
  if (back >= f->recorded || back >= f->size) return NULL;
  return &f->ring[(f->recorded - 1 - back) % f->size];
}


uint32_t frames_slows (const Frames *f) {
  return f->slowcount < f->slowsize ? (uint32_t)f->slowcount : f->slowsize;
}


const HostFrame *frames_slowat (const Frames *f, uint32_t back) {
  return &f->slow[(f->slowcount - 1 - back) % f->slowsize];
}

/* }====================================================== */


/*
** Ends a frame that is not recorded: the next one must not count its calls
** and times.
*/
static void frames_skip (Frames *f) {
  uint32_t i;
  for (i = 0; i < f->count; i++) {
    const Node *n = tree_node(f->tree, f->touched[i]);
    NodeHistory *x = frames_node(f, f->touched[i]);
    x->calls = n->calls;
    x->self = n->self;
    if (f->tree->memory)
      x->own = tree_allocated(f->tree, f->touched[i])->all;
  }
}


/* The next frame starts. */
static void frames_next (Frames *f, const FrameTime *now) {
  f->number++;
  f->count = 0;
  f->start = *now;
}


int frames_start (Frames *f, const FrameTime *now) {
  uint32_t i;
  if (!frames_begin(f, now)) return 0;
  frames_skip(f);
  for (i = 0; i < f->count; i++) frames_node(f, f->touched[i])->touched = 0;
  f->count = 0;
  return 1;
}


static int frames_record (Frames *f, const FrameTime *now) {
  HostFrame *p = &f->last;
  p->number = f->number;
  p->start = f->start.at;
  p->ticks = now->ran - f->start.ran;
  p->steps = now->steps - f->start.steps;
  if (!frame_nodes(f) || !frame_rows(f)) return 0;
  frames_average(f);
  return frames_keep(f);
}


int frames_end (Frames *f, const FrameTime *now, int record) {
  if (!record) frames_skip(f);
  else if (!frames_record(f, now)) {
    f->last.rows = f->last.nodes = 0;  /* some of its nodes or functions are
                                          missing */
    return 0;
  }
  frames_next(f, now);
  return 1;
}

/*
** See restoring.h: nodes, what was counted in them, and overhead. Chunks are
** not copied: they stay in 'bytes' of Loaded.
*/

#include "file/restoring.h"

#include <string.h>

#include "identity/label.h"


/* {======================================================
** Nodes
** ======================================================= */

/* Adds a chunk to 'c->to'. It is not copied, but stays in 'bytes' of Loaded. */
static int restore_chunk (Restoring *c, const FileBlock *b) {
  Chunks *to = c->to;
  if (b->owner != to->chunks || block_room(b) != to->size << to->shift)
    return reader_fail(c->l, "block of a chunk");
  if (!memory_grow(to->memory, &to->chunk, &to->capacity, to->chunks,
                   sizeof *to->chunk))
    return reader_nomemory(c->l);
  to->chunk[to->chunks++] = restore_bytes(c, b);
  return 1;
}


/* Restores all chunks of a kind, however many items they have. */
static int restore_chunks (Restoring *c, BlockKind kind, Chunks *to) {
  c->to = to;
  if (!restore_each(c, kind, restore_chunk)) return 0;
  to->count = to->chunks << to->shift;
  return 1;
}


/* Restores all chunks of a kind, which have 'count' items. */
static int restore_counted (Restoring *c, BlockKind kind, Chunks *to,
                            uint32_t count, const char *what) {
  if (!restore_chunks(c, kind, to)) return 0;
  if (count > (uint64_t)to->chunks << to->shift)
    return reader_fail(c->l, what);
  to->count = count;
  return 1;
}


/* Restores all chunks of a kind, which have an item for each function. */
static int restore_byfunction (Restoring *c, BlockKind kind, Chunks *to,
                               const char *what) {
  const Tree *t = &c->r->tree;
  uint32_t i;
  if (!restore_chunks(c, kind, to)) return 0;
  for (i = 0; i < t->nodes.count; i++)
    if (tree_node(t, i)->func >= to->count) return reader_fail(c->l, what);
  return 1;
}


/* Restores all chunks of a kind, which have an item for each node. */
static int restore_bynode (Restoring *c, BlockKind kind, Chunks *to) {
  return restore_counted(c, kind, to, c->h->nodes, "number of nodes");
}


/* Is 'n', one of the first two nodes, as it has to be? */
static int restore_checkfirst (const Restoring *c, uint32_t i,
                               const Node *n) {
  static const uint32_t func[] = {FUNC_ROOT, FUNC_OVERHEAD};
  static const uint8_t kind[] = {FUNCTION_ROOT, FUNCTION_INTERNAL};
  return n->func == func[i] && n->call_line == 0 &&
         functions_at(&c->r->functions, n->func)->kind == kind[i];
}


static int restore_checknode (Restoring *c, uint32_t i, const Node *n) {
  if (n->id != i || (i == 0 ? n->parent != 0 : n->parent >= i))
    return reader_fail(c->l, "caller of a node");
  if (n->func >= c->r->functions.list.count)
    return reader_fail(c->l, "function of a node");
  if (i <= NODE_OVERHEAD && !restore_checkfirst(c, i, n))
    return reader_fail(c->l, "function of the first nodes");
  if (i > 0 && n->parent == NODE_OVERHEAD)
    return reader_fail(c->l, "a callee of overhead");
  if (i > NODE_OVERHEAD && n->func == FUNC_OVERHEAD)
    return reader_fail(c->l, "overhead in a second node");
  if (n->event > LABEL_EVENTS) return reader_fail(c->l, "metamethod");
  return 1;
}


/* Restores what was allocated in nodes, and in functions by kind. */
static int restore_allocated (Restoring *c) {
  Tree *t = &c->r->tree;
  t->memory = c->h->memory != 0;
  return !t->memory ||
         (restore_bynode(c, BLOCK_ALLOCATED, &t->allocated) &&
          restore_byfunction(c, BLOCK_KINDS, &t->kinds,
                             "allocations of a node"));
}


/*
** Drops nodes that the header does not know yet: in a file that is still
** written, durations may be newer than the header.
*/
static void restore_newslowest (const Restoring *c, Durations *d) {
  int k;
  for (k = 0; k < DURATIONS_SLOWEST; k++)
    if (d->slowest[k].node >= c->r->tree.nodes.count) d->slowest[k].node = 0;
}


/* Restores how long calls of functions took. */
static int restore_durations (Restoring *c) {
  Tree *t = &c->r->tree;
  uint32_t i;
  if (!c->h->distribution) return 1;
  if (!restore_byfunction(c, BLOCK_DURATIONS, &t->durations,
                          "durations of a function"))
    return 0;
  for (i = 0; c->h->state != FORMAT_ENDED && i < t->durations.count; i++)
    restore_newslowest(c, tree_durations(t, i));
  t->distribution = 1;
  return 1;
}


static void restore_newtasks (Restoring *c) {
  Tasks *t = &c->r->tasks;
  uint32_t nodes = c->r->tree.nodes.count, i;
  for (i = 1; i < t->list.count; i++)
    restore_newslowest(c, &tasks_at(t, i)->slices);
  for (i = 1; i < t->pauses.count; i++) {
    const TaskPause *x = tasks_pauseat(t, i);
    if (x->task >= t->list.count || x->node >= nodes) t->pauses.count = i;
  }
}


/* High line numbers would cost memory. 'possible_not' checks all else. */
static int restore_checktasks (Restoring *c) {
  const Tasks *t = &c->r->tasks;
  uint32_t i;
  for (i = 1; i < t->list.count; i++) {
    const TaskKind *k = &tasks_at(t, i)->is;
    if (k->line > c->l->size || k->outer_line > c->l->size)
      return reader_fail(c->l, "line of a task");
  }
  return 1;
}


/* Restores what coroutines did. */
static int restore_tasks (Restoring *c) {
  static const char tasks[] = "number of tasks";
  Tasks *t = &c->r->tasks;
  if (!c->h->istasks) return 1;
  t->on = 1;
  if (!restore_counted(c, BLOCK_TASKS, &t->list, c->h->tasks, tasks) ||
      !restore_counted(c, BLOCK_PAUSES, &t->pauses, c->h->pauses, tasks))
    return 0;
  if (c->h->state != FORMAT_ENDED) restore_newtasks(c);
  return restore_checktasks(c);
}


/* Do all nodes of a frame exist, which may be 'most' at most? */
static int restore_hasnodes (const Loops *l, const WorstFrame *p,
                             uint32_t most) {
  return p->nodes <= most && p->first <= l->nodes.count &&
         p->nodes <= l->nodes.count - p->first;
}


/*
** A frame that was written while the file was read may be half new. If the
** times of its nodes do not add up to its own, they belong to another frame.
*/
static void restore_newworst (const Loops *l, WorstFrame *p, uint32_t nodes,
                              uint32_t most) {
  uint64_t sum = 0;
  uint32_t i;
  if (!restore_hasnodes(l, p, most)) p->nodes = 0;
  for (i = 0; i < p->nodes; i++) {
    const FrameNode *n = loops_node(l, p->first + i);
    sum += n->self;
    if (n->node >= nodes) break;
  }
  if (i < p->nodes || sum != p->is.ticks) p->nodes = 0;
}


static int restore_ismark (const Loops *l, const LoopMark *m) {
  return m->loop < l->list.count && m->own <= m->ticks;
}


/* Drops frames of a live file that are newer than its header. */
static void restore_newloops (Restoring *c) {
  Loops *l = &c->r->loops;
  uint32_t left = l->nodes.count, i;
  for (i = 0; i < l->list.count; i++) {
    Loop *x = loops_at(l, i);  /* its last frame may be half counted */
    if (x->slow > x->frames) x->slow = x->frames;
  }
  for (i = 0; i < l->marks.count; i++)
    if (!restore_ismark(l, loops_mark(l, i))) loops_mark(l, i)->number = 0;
  for (i = 0; i < l->worst.count; i++) {
    WorstFrame *p = loops_worst(l, i);
    if (!restore_ismark(l, &p->is)) p->is.number = 0;
    restore_newworst(l, p, c->r->tree.nodes.count, left);
    left -= p->nodes;
  }
}


/*
** No two frames share a node: otherwise, a small file could have more of them
** than there is memory for. '*left': how many nodes may still come.
*/
static int restore_checkworst (Restoring *c, const WorstFrame *p,
                               uint32_t *left) {
  const Loops *l = &c->r->loops;
  uint32_t i;
  if (p->is.number == 0) return 1;
  if (!restore_ismark(l, &p->is) || !restore_hasnodes(l, p, *left))
    return reader_fail(c->l, "slowest frames");
  *left -= p->nodes;
  for (i = 0; i < p->nodes; i++)
    if (loops_node(l, p->first + i)->node >= c->r->tree.nodes.count)
      return reader_fail(c->l, "node of a frame");
  return 1;
}


static int restore_checkloops (Restoring *c) {
  const Loops *l = &c->r->loops;
  uint32_t left = l->nodes.count, i;
  for (i = 0; i < l->list.count; i++)
    if (memchr(loops_at(l, i)->name, '\0', LOOP_NAME) == NULL)
      return reader_fail(c->l, "name of frames");
  for (i = 0; i < l->marks.count; i++) {
    const LoopMark *m = loops_mark(l, i);
    if (m->number != 0 && !restore_ismark(l, m))
      return reader_fail(c->l, "times of frames");
  }
  for (i = 0; i < l->worst.count; i++)
    if (!restore_checkworst(c, loops_worst(l, i), &left)) return 0;
  return 1;
}


/* Restores the frames of the host. */
static int restore_loops (Restoring *c) {
  static const char frames[] = "number of frames";
  Loops *l = &c->r->loops;
  const FormatHeader *h = c->h;
  if (h->loops > LOOPS_MOST) return reader_fail(c->l, "number of loops");
  if (!restore_counted(c, BLOCK_LOOPS, &l->list, h->loops, frames) ||
      !restore_counted(c, BLOCK_FRAMEMARKS, &l->marks, h->framemarks,
                       frames) ||
      !restore_counted(c, BLOCK_FRAMENODES, &l->nodes, h->framenodes,
                       frames) ||
      !restore_counted(c, BLOCK_WORST, &l->worst, h->loops * LOOP_WORST,
                       frames))
    return 0;
  if (h->state != FORMAT_ENDED) restore_newloops(c);
  return restore_checkloops(c);
}


/* Adds a count to its tally. 0: it is impossible, or out of memory. */
typedef int (*RestoreCount) (Restoring *c, const TallyCount *x);

/* Restores a chunk of a tally, up to the number of counts in the header. */
static int restore_tally (Restoring *c, const FileBlock *b, uint32_t count,
                          RestoreCount add) {
  uint32_t i, many = 1u << TALLY_SHIFT, first = b->owner << TALLY_SHIFT;
  if (b->owner > count >> TALLY_SHIFT ||
      block_room(b) != sizeof(TallyCount) << TALLY_SHIFT)
    return reader_fail(c->l, "block of a tally");
  for (i = first == 0; i < many && first + i < count; i++) {
    TallyCount x;
    memcpy(&x, block_bytes(b) + i * sizeof x, sizeof x);
    if (!add(c, &x)) return 0;
  }
  return 1;
}


static int restore_wait (Restoring *c, const TallyCount *x) {
  Wait w = wait_of(x);
  if (w.line < 0 || (w.node == WAIT_LINE
                     ? w.func >= c->r->functions.list.count
                     : w.node >= c->r->tree.nodes.count || w.func != 0))
    return reader_fail(c->l, "place of a wait");
  return waits_add(&c->r->waits, &w) || reader_nomemory(c->l);
}


static int restore_spot (Restoring *c, const TallyCount *x) {
  Spot s = spot_of(x);
  int known = 1;
  if (spot_isinfile(&s)) {
    s.module = reader_textid(c->l, s.module);
    known = s.module != TEXT_FAILED;
  }
  if (!known || s.func >= c->r->functions.list.count)
    return reader_fail(c->l, "place of a spot");
  return spots_add(&c->r->spots, &s) || reader_nomemory(c->l);
}


static int restore_chunkofwaits (Restoring *c, const FileBlock *b) {
  return restore_tally(c, b, c->h->waits, restore_wait);
}


static int restore_chunkofspots (Restoring *c, const FileBlock *b) {
  return restore_tally(c, b, c->h->spots, restore_spot);
}


static int restore_nodes (Restoring *c) {
  Tree *t = &c->r->tree;
  uint32_t i;
  if (!restore_bynode(c, BLOCK_NODES, &t->nodes)) return 0;
  if (c->h->nodes <= NODE_OVERHEAD)
    return reader_fail(c->l, "the node of overhead");
  for (i = 0; i < c->h->nodes; i++)
    if (!restore_checknode(c, i, tree_node(t, i))) return 0;
  t->root = tree_node(t, 0);
  t->overhead = tree_node(t, NODE_OVERHEAD);
  return 1;
}


int restore_counts (Restoring *c) {
  return restore_nodes(c) &&
         restore_each(c, BLOCK_WAITS, restore_chunkofwaits) &&
         restore_each(c, BLOCK_SPOTS, restore_chunkofspots) &&
         restore_tasks(c) && restore_loops(c) && restore_allocated(c) &&
         restore_durations(c);
}

/* }====================================================== */


/* {======================================================
** The time axis
** ======================================================= */

/* Does the node of a place exist, and has its function the instruction? */
static int axis_possible (const Restoring *c, const AxisPlace *p) {
  const Functions *fs = &c->r->functions;
  if (axis_isline(p))
    return c->h->mode == MODE_LINE && p->at != AXIS_LINE &&
           p->node < fs->list.count;
  return p->node < c->r->tree.nodes.count &&
         (p->at == 0 ||
          (p->at - 1) / 2 <
          functions_at(fs, recording_owner(c->r, p->node))->instructions.count);
}


/*
** In a file that is still written, places may be newer than the numbers in the
** header that was read before: they are dropped.
*/
static int restore_places (Restoring *c) {
  Chunks *to = &c->r->axis.copy;
  uint32_t i;
  if (!restore_counted(c, BLOCK_PLACES, to, c->h->places, "number of places"))
    return 0;
  for (i = 1; i < to->count; i++) {
    if (axis_possible(c, cast(const AxisPlace *, chunks_at(to, i)))) continue;
    if (c->h->state == FORMAT_ENDED)
      return reader_fail(c->l, "place of a sample");
    to->count = i;
  }
  return 1;
}


/*
** Checks the chunks of the axis. Of a file that is still written, or was not
** completed, the newest samples may be half written: these are dropped.
*/
static int restore_chunksofaxis (Restoring *c) {
  const FormatHeader *h = c->h;
  Axis *a = &c->r->axis;
  uint32_t i;
  if (!restore_chunks(c, BLOCK_AXIS, &a->list)) return 0;
  for (i = 0; i < a->list.count; i++) {
    AxisChunk *chunk = cast(AxisChunk *, chunks_at(&a->list, i));
    if (!axis_check(chunk, h->step * clock_rate(c->r->clock.scale), h->mean,
                    a->copy.count) && h->state == FORMAT_ENDED)
      return reader_fail(c->l, "time of a sample");
  }
  return 1;
}


/* The mean, as options may set it, with a margin: 1 s to 0.1 ms. */
#define MEAN_LEAST	1e4
#define MEAN_MOST	1e10

/* Is it the mean of an axis in this mode? */
static int axis_ismean (uint32_t mode, double mean) {
  if (mode != MODE_SAMPLE) return mode <= MODE_LINE && mean == 0;
  return mean >= MEAN_LEAST && mean <= MEAN_MOST;
}


static int restore_ringblock (Restoring *c, const FileBlock *b) {
  if (block_room(b) < sizeof(RingBlock) || c->h->mode != MODE_CALL)
    return reader_fail(c->l, "block of events");
  return ring_restore(&c->r->ring, cast(RingBlock *, restore_bytes(c, b))) ||
         reader_nomemory(c->l);
}


#define RING_LONGEST	1e16	/* ns */

/*
** The header, with the number of nodes, is read before the events. So if the
** file is still being written, or was not completed, there may be events of
** newer nodes, which are left out; in a complete file, they are damage.
*/
int restore_ring (Restoring *c) {
  double most = RING_LONGEST / clock_rate(c->r->clock.scale);
  if (most > (double)(UINT64_MAX / 4)) most = (double)(UINT64_MAX / 4);
  if (!restore_each(c, BLOCK_RING, restore_ringblock)) return 0;
  return ring_check(&c->r->ring, c->h->nodes, (uint64_t)most) ||
         c->h->state != FORMAT_ENDED || reader_fail(c->l, "events");
}


int restore_axis (Restoring *c) {
  double step = c->h->step;
  if (step == 0) return 1;
  if (!axis_ismean(c->h->mode, c->h->mean) || !(step > 0 && step < 1e12))
    return reader_fail(c->l, "time axis");
  return restore_places(c) && restore_chunksofaxis(c);
}

/* }====================================================== */


/* {======================================================
** Overhead
** ======================================================= */

/* Restores the overhead of each line counter of a function. */
static int restore_lineoverhead (Restoring *c, const FileBlock *b) {
  const Function *f;
  const void *data = block_bytes(b);
  if (b->owner >= c->r->functions.list.count)
    return reader_fail(c->l, "function of overhead");
  f = functions_at(&c->r->functions, b->owner);
  if (b->used != f->lines.count || b->used > block_room(b) / sizeof(int64_t))
    return reader_fail(c->l, "overhead of lines");
  *(const int64_t **)chunks_at(&c->l->lineoverhead, b->owner) =
    cast(const int64_t *, data);
  return 1;
}


static int overhead_plausible (const int64_t *ns, uint32_t n) {
  uint32_t i;
  for (i = 0; i < n; i++)
    if (ns[i] < -(INT64_MAX / 4) || ns[i] > INT64_MAX / 4) return 0;
  return 1;
}


int restore_overhead (Restoring *c) {
  Chunks *lines = &c->l->lineoverhead, *nodes = &c->l->nodeoverhead;
  Overhead *o = &c->l->overhead;
  uint32_t i, n = 1u << NODES_SHIFT;
  o->costs = c->h->costs;
  if (!c->h->given) return 1;
  if (!restore_bynode(c, BLOCK_NODEOVERHEAD, nodes)) return 0;
  while (lines->count < c->r->functions.list.count)
    if (chunks_add(lines) == NULL) return reader_nomemory(c->l);
  if (!restore_each(c, BLOCK_LINEOVERHEAD, restore_lineoverhead)) return 0;
  for (i = 0; i < nodes->chunks; i++)
    if (!overhead_plausible(cast(const int64_t *,
                                 chunks_at(nodes, i << NODES_SHIFT)), n))
      return reader_fail(c->l, "overhead of a node");
  for (i = 0; i < lines->count; i++) {
    const int64_t *ns = *(const int64_t **)chunks_at(lines, i);
    n = functions_at(&c->r->functions, i)->lines.count;
    if (ns != NULL && !overhead_plausible(ns, n))
      return reader_fail(c->l, "overhead of a line");
  }
  o->nodes = nodes;
  o->lines = lines;
  return 1;
}

/* }====================================================== */

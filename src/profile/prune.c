/*
** See prune.h
*/

#include "profile/prune.h"

#include <string.h>


/* Adds figures. The depth becomes 1: that of a sum is not known. */
static void prune_add (ProfileNode *to, const ProfileNode *from) {
  to->calls += from->calls;
  to->self += from->self;
  to->raw += from->raw;
  to->wait += from->wait;
  to->ways |= from->ways;
  to->depth = 1;
}


/* {======================================================
** Folding, and trees that begin with other functions
** ======================================================= */

/* ids of the first two nodes in a Merge */
#define SHORTEN_ROOT	1u
#define SHORTEN_OVERHEAD	2u

/* a node on the path that is walked */
typedef struct ShortenStep {
  uint32_t node;	/* its node in the new tree; 0: none */
  uint32_t caller;	/* parent of its callees in the new tree; 0: none */
  int first;	/* is it the first of its function on the path? */
} ShortenStep;

typedef struct Shorten {
  Merge *to;
  const Nodes *nodes;
  const uint8_t *root, *zone;	/* see prune_fold */
  uint32_t functions, levels;
  NodeStep *order;	/* of each node */
  ShortenStep *step;	/* the path: one of each level of the old tree */
  uint8_t *on;		/* of each function: is it on the path? */
} Shorten;


static void shorten_measure (Shorten *f) {
  Preorder p;
  uint32_t i;
  for (i = 0; i < f->nodes->count; i++)
    if (f->nodes->list[i].func >= f->functions)
      f->functions = f->nodes->list[i].func + 1;
  preorder_begin(&p, f->nodes, f->order);
  do {
    if (p.depth >= f->levels) f->levels = p.depth + 1;
  } while (preorder_next(&p));
}


static int shorten_begin (Shorten *f) {
  const Memory *m = f->to->memory;
  const ProfileNode *list = f->nodes->list;
  f->order = memory_new(m, NodeStep, f->nodes->count);
  if (f->order == NULL) return 0;
  nodes_steps(f->nodes, f->order);
  shorten_measure(f);
  f->step = memory_newzeroed(m, ShortenStep, f->levels);
  f->on = memory_newzeroed(m, uint8_t, f->functions);
  return f->step && f->on && merge_counts(f->to, f->nodes) &&
         merge_enter(f->to, 0, list[0].func, 0) == SHORTEN_ROOT &&
         merge_enter(f->to, SHORTEN_ROOT, list[NODE_OVERHEAD].func, 0) ==
           SHORTEN_OVERHEAD;
}


static void shorten_end (Shorten *f) {
  const Memory *m = f->to->memory;
  memory_free(m, f->order, f->nodes->count * sizeof *f->order);
  memory_free(m, f->step, f->levels * sizeof *f->step);
  memory_free(m, f->on, f->functions * sizeof *f->on);
}


/*
** Sets the step of a node that 'caller' calls. If recursion folds, a function
** that calls itself stays in its node; one that is further up on the path
** gets a node here, too, but its callees go to 'caller'. 0: out of memory.
*/
static int shorten_place (Shorten *f, ShortenStep *s, const ProfileNode *n,
                       uint32_t caller) {
  int outermost = caller == SHORTEN_ROOT && f->root != NULL;
  s->node = s->caller = caller;
  if (f->zone && merge_node(f->to, caller)->func == n->func) return 1;
  s->node = merge_enter(f->to, caller, n->func, outermost ? 0 : n->call_line);
  if (f->zone && f->on[n->func]) return s->node != 0;
  s->first = f->on[n->func] = 1;
  s->caller = s->node;
  return s->node != 0;
}


static int shorten_enter (Shorten *f, uint32_t node, uint32_t depth) {
  const ProfileNode *n = &f->nodes->list[node];
  ShortenStep *s = &f->step[depth];
  uint32_t caller = 0;
  if (depth > 0) caller = s[-1].caller;
  if (depth > 0 && f->zone && f->zone[n->func]) caller = s[-1].node;
  s->node = s->caller = 0;
  s->first = 0;
  if (node == NODE_OVERHEAD) return 1;
  if (node == 0 && f->root == NULL) s->node = s->caller = SHORTEN_ROOT;
  else {
    if (caller == 0 && node != 0 && f->root[n->func]) caller = SHORTEN_ROOT;
    if (caller == 0) return 1;
    if (!shorten_place(f, s, n, caller)) return 0;
  }
  prune_add(merge_node(f->to, s->node), n);
  merge_allocated(f->to, s->node, f->nodes, node);
  return 1;
}


static void shorten_leave (Shorten *f, uint32_t depth) {
  const ShortenStep *s = &f->step[depth];
  if (s->first) f->on[merge_node(f->to, s->node)->func] = 0;
}


static int shorten_walk (Shorten *f) {
  Preorder p;
  uint32_t above = 0;
  preorder_begin(&p, f->nodes, f->order);
  do {
    while (above > p.depth) shorten_leave(f, --above);
    if (!shorten_enter(f, p.node, p.depth)) return 0;
    above++;
  } while (preorder_next(&p));
  return 1;
}


int prune_fold (Merge *m, const Nodes *nodes, const uint8_t *root,
                const uint8_t *zone) {
  Shorten f = ZEROS;
  int ok;
  f.to = m;
  f.nodes = nodes;
  f.root = root;
  f.zone = zone;
  ok = shorten_begin(&f) && shorten_walk(&f);
  shorten_end(&f);
  return ok;
}

/* }====================================================== */


/* {======================================================
** Nodes of little time
** ======================================================= */

static int prune_isbelow (const Nodes *nodes, uint32_t node, int64_t least) {
  return node > NODE_OVERHEAD && nodes->list[node].total < least;
}


typedef struct Weigh {
  PruneSize *size;
  const Nodes *nodes;
  const PruneBytes *bytes;
  uint32_t *depth;	/* of each node */
  uint64_t *path;	/* bytes of each node's path */
  uint8_t *below;	/* of each node: are callees added up? */
  uint8_t *used;	/* of each function: has it a node? */
} Weigh;


/*
** Adds the bytes of one more node, which is below a path of 'path' bytes.
** Returns the bytes of its own path.
*/
static uint64_t weigh_node (Weigh *w, uint64_t path, uint32_t depth,
                            uint32_t func, int written) {
  const PruneBytes *b = w->bytes;
  uint64_t bytes = b->node != NULL ? b->node[func] : 0;
  path += bytes;
  if (b->copies != NULL) bytes = written ? path * b->copies[func] : 0;
  if (b->once != NULL && !w->used[func]) bytes += b->once[func];
  w->used[func] = 1;
  w->size->bytes += bytes;
  w->size->nodes++;
  if (depth > w->size->deepest) w->size->deepest = depth;
  return path;
}


static void weigh_kept (Weigh *w, uint32_t i) {
  const ProfileNode *n = &w->nodes->list[i];
  uint64_t path = i > 0 ? w->path[n->parent] : 0;
  w->depth[i] = i > 0 ? w->depth[n->parent] + 1 : 0;
  w->path[i] = weigh_node(w, path, w->depth[i], n->func,
                          n->calls > 0 || n->self > 0);
}


static void weigh_all (Weigh *w, int64_t least, uint32_t below) {
  uint32_t i, parent;
  for (i = 0; i < w->nodes->count; i++) {
    const ProfileNode *n = &w->nodes->list[i];
    parent = n->parent;
    if (i == NODE_OVERHEAD) w->size->nodes++;
    else if (!prune_isbelow(w->nodes, i, least)) weigh_kept(w, i);
    else {
      w->size->below += n->self;
      if (prune_isbelow(w->nodes, parent, least) || w->below[parent]) continue;
      w->below[parent] = 1;
      weigh_node(w, w->path[parent], w->depth[parent] + 1, below, 1);
    }
  }
}


int prune_weigh (PruneSize *size, const Memory *m, const Nodes *nodes,
                 int64_t least, const PruneBytes *bytes, uint32_t below) {
  Weigh w = ZEROS;
  uint32_t count = nodes->count;
  size_t functions = (size_t)below + 1;
  int ok;
  memset(size, 0, sizeof *size);
  w.size = size;
  w.nodes = nodes;
  w.bytes = bytes;
  w.depth = memory_newzeroed(m, uint32_t, count);
  w.path = memory_newzeroed(m, uint64_t, count);
  w.below = memory_newzeroed(m, uint8_t, count);
  w.used = memory_newzeroed(m, uint8_t, functions);
  ok = w.depth && w.path && w.below && w.used;
  if (ok) weigh_all(&w, least, below);
  memory_free(m, w.depth, count * sizeof *w.depth);
  memory_free(m, w.path, count * sizeof *w.path);
  memory_free(m, w.below, count * sizeof *w.below);
  memory_free(m, w.used, functions * sizeof *w.used);
  return ok;
}


typedef struct Cutting {
  PruneCut *cut;
  const Nodes *nodes;
  ProfileNode *list;
  NodeMemory *memory;	/* of each node of 'list'; or NULL */
  uint32_t count;	/* number of nodes in 'list' */
  uint32_t *number;	/* of each function: see prune_cut */
  uint32_t *to;		/* of each old node: its node in 'list' */
  uint32_t *sum;	/* of each old node: the node in 'list' that sums its
			   callees of little time; 0: none yet */
} Cutting;


static uint32_t cutting_node (Cutting *c, uint32_t parent, uint32_t func,
                              uint32_t line) {
  ProfileNode *n = &c->list[c->count];
  memset(n, 0, sizeof *n);
  if (c->number[func] == 0) c->number[func] = ++c->cut->functions;
  n->parent = parent;
  n->func = c->number[func] - 1;
  n->call_line = line;
  return c->count++;
}


/* The node that stands for callees of 'parent' with little time. */
static uint32_t cutting_sum (Cutting *c, uint32_t parent, int64_t least,
                             uint32_t below) {
  if (prune_isbelow(c->nodes, parent, least)) return c->to[parent];
  if (c->sum[parent] == 0)
    c->sum[parent] = cutting_node(c, c->to[parent], below, 0);
  return c->sum[parent];
}


static void cutting_all (Cutting *c, int64_t least, uint32_t below) {
  uint32_t i;
  for (i = 0; i < c->nodes->count; i++) {
    const ProfileNode *n = &c->nodes->list[i];
    if (!prune_isbelow(c->nodes, i, least))
      c->to[i] = cutting_node(c, c->to[n->parent], n->func, n->call_line);
    else {
      c->to[i] = cutting_sum(c, n->parent, least, below);
      c->cut->nodes++;
    }
    if (i == NODE_OVERHEAD) continue;
    prune_add(&c->list[c->to[i]], n);
    if (c->memory != NULL)
      nodes_allocated(&c->memory[c->to[i]], &c->nodes->memory[i]);
  }
}


int prune_cut (PruneCut *cut, const Memory *m, const Nodes *nodes,
               int64_t least, uint32_t below, ProfileNode *list,
               NodeMemory *memory, uint32_t *number) {
  Cutting c = ZEROS;
  int ok;
  memset(cut, 0, sizeof *cut);
  memset(number, 0, ((size_t)below + 1) * sizeof *number);
  c.cut = cut;
  c.nodes = nodes;
  c.list = list;
  c.memory = memory;
  c.number = number;
  c.to = memory_newzeroed(m, uint32_t, nodes->count);
  c.sum = memory_newzeroed(m, uint32_t, nodes->count);
  ok = c.to && c.sum;
  if (ok) {
    cutting_all(&c, least, below);
    nodes_total(list, c.count);
  }
  memory_free(m, c.to, nodes->count * sizeof *c.to);
  memory_free(m, c.sum, nodes->count * sizeof *c.sum);
  return ok;
}

/* }====================================================== */

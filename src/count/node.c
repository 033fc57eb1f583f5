/*
** See node.h
*/

#include "count/node.h"

#include <string.h>

#include "identity/label.h"


#define BUCKETS_SHIFT	12
#define LEVEL_FIRST	6


/* {======================================================
** Hash: (parent, function, line) to node
** ======================================================= */

static uint32_t node_hashof (uint32_t parent, uint32_t func, uint32_t line) {
  uint32_t h = parent * 0x9E3779B1u ^ func * 0x85EBCA6Bu
             ^ line * 0xC2B2AE35u;
  h ^= h >> 15;
  h *= 0x2C1B3C6Du;
  return h ^ h >> 13;
}


static uint32_t *tree_bucket (const Tree *t, uint32_t hash) {
  uint32_t mask = (1u << t->level) - 1;
  uint32_t b = hash & mask;
  if (b < t->split) b = hash & (mask * 2 + 1);
  return cast(uint32_t *, chunks_at(&t->buckets, b));
}


/* Enters a node in the hash. */
static void tree_enterhash (const Tree *t, uint32_t id) {
  NodePlace *p = tree_place(t, id);
  uint32_t *b = tree_bucket(t, node_hashof(p->parent, p->func, p->call_line));
  p->next = *b;
  *b = id;
}


/*
** Adds a bucket: the nodes of bucket 'split' are divided between it and the
** new one. When out of memory, no bucket is added and chains get longer.
*/
static void tree_grow (Tree *t) {
  uint32_t *b = tree_bucket(t, t->split);
  uint32_t id = *b;
  if (chunks_add(&t->buckets) == NULL) return;
  *b = 0;
  if (++t->split == 1u << t->level) {
    t->split = 0;
    t->level++;
  }
  while (id != 0) {
    uint32_t next = tree_place(t, id)->next;
    tree_enterhash(t, id);
    id = next;
  }
}


static int place_is (const NodePlace *p, uint32_t parent, uint64_t key) {
  return p->parent == parent && node_key(p->func, p->call_line) == key;
}


static Node *tree_find (const Tree *t, uint32_t parent, uint32_t func,
                        uint32_t line) {
  uint32_t id = *tree_bucket(t, node_hashof(parent, func, line));
  uint64_t key = node_key(func, line);
  while (id != 0 && !place_is(tree_place(t, id), parent, key))
    id = tree_place(t, id)->next;
  return id != 0 ? tree_node(t, id) : NULL;
}

/* }====================================================== */


static int node_intact (const Tree *t, uint32_t id) {
  const Node *n = tree_node(t, id);
  const NodePlace *p = tree_place(t, id);
  int i;
  for (i = 0; i < NODE_CALLEES && n->callee[i] != 0; i++) {
    uint32_t callee = n->callee[i];
    if (callee >= t->nodes.count || tree_place(t, callee)->parent != id ||
        n->tag[i] != node_tag(tree_place(t, callee)->func))
      return 0;
  }
  return n->id == id && n->parent == p->parent &&
         n->event <= LABEL_EVENTS &&
         node_is(n, node_key(p->func, p->call_line));
}


int tree_intact (const Tree *t) {
  uint32_t i = 0;
  while (i < t->nodes.count && node_intact(t, i)) i++;
  return i == t->nodes.count;
}


NodePlace tree_whereis (const Tree *t, uint32_t id) {
  NodePlace p = ZEROS;
  const Node *n;
  if (id < t->places.count) return *tree_place(t, id);
  n = tree_node(t, id);
  p.parent = n->parent;
  p.func = n->func;
  p.call_line = n->call_line;
  return p;
}


uint32_t tree_search (const Tree *t, const Node *n) {
  uint32_t i;
  for (i = 0; i < t->nodes.chunks; i++) {
    uintptr_t at = (uintptr_t)n - (uintptr_t)t->nodes.chunk[i];
    if (at < sizeof *n << NODES_SHIFT)
      return (i << NODES_SHIFT) + (uint32_t)(at / sizeof *n);
  }
  return 0;
}


void tree_init (Tree *t, ChunkSet *s) {
  memset(t, 0, sizeof *t);
  chunkset_add(s, &t->nodes, sizeof(Node), NODES_SHIFT, BLOCK_NODES);
  chunkset_add(s, &t->places, sizeof(NodePlace), NODES_SHIFT, 0);
  chunkset_add(s, &t->buckets, sizeof(uint32_t), BUCKETS_SHIFT, 0);
  chunkset_add(s, &t->allocated, sizeof(NodeAllocated), NODES_SHIFT,
               BLOCK_ALLOCATED);
  chunkset_add(s, &t->kinds, sizeof(KindsAllocated), KINDS_SHIFT, BLOCK_KINDS);
  chunkset_add(s, &t->durations, sizeof(Durations), DURATIONS_SHIFT,
               BLOCK_DURATIONS);
  chunkset_add(s, &t->nested, sizeof(Nested), NODES_SHIFT, 0);
}


/* Enters a new node in its parent. */
static void tree_link (Tree *t, Node *parent, uint32_t id, uint32_t func) {
  int i;
  for (i = 0; i < NODE_CALLEES; i++) {
    if (parent->callee[i] == 0) {
      parent->callee[i] = id;
      parent->tag[i] = node_tag(func);
      return;
    }
  }
  tree_enterhash(t, id);
  if (++t->hashed > t->buckets.count) tree_grow(t);
}


/* Adds counters of memory for the next node, of 'func'. 0: out of memory. */
static int tree_addmemory (Tree *t, uint32_t func) {
  while (t->kinds.count <= func)
    if (chunks_add(&t->kinds) == NULL) return 0;
  return t->allocated.count > t->nodes.count ||
         chunks_add(&t->allocated) != NULL;
}


/* Adds what durations of 'func' need. 0: out of memory. */
static int tree_adddurations (Tree *t, uint32_t func) {
  while (t->durations.count <= func)
    if (chunks_add(&t->durations) == NULL) return 0;
  while (t->nested.count <= func)
    if (chunks_add(&t->nested) == NULL) return 0;
  return 1;
}


/* Adds the place of the next node. 0: out of memory. */
static int tree_addplace (Tree *t, const NodePlace *p) {
  if (t->places.count == t->nodes.count && chunks_add(&t->places) == NULL)
    return 0;
  *tree_place(t, t->nodes.count) = *p;
  return 1;
}


/*
** Is 'n', or a node above it, one of 'func'? The walk ends where it meets the
** path of the walk before it for this function: so calls of 'func' all along a
** recursion do not each walk to the root. Parents have smaller ids.
*/
static uint32_t tree_isnested (const Tree *t, const Node *n, uint32_t func) {
  Nested *known = cast(Nested *, chunks_at(&t->nested, func));
  uint32_t id = tree_id(t, n), last = known->asked;
  known->asked = id;
  while (id != 0) {
    if (id == last) {
      if (known->above <= id) return known->above != 0;
      last = 0;  /* the node found then is not on this path */
    }
    if (last > id) last = tree_place(t, last)->parent;
    else if (tree_place(t, id)->func == func) break;
    else id = tree_place(t, id)->parent;
  }
  known->above = id;
  return id != 0;
}


static Node *tree_add (Tree *t, Node *parent, uint32_t func, uint32_t line) {
  NodePlace p = ZEROS;
  uint32_t id = t->nodes.count;
  Node *n;
  p.parent = parent != NULL ? tree_id(t, parent) : 0;
  p.func = func;
  p.call_line = line;
  if (t->memory && !tree_addmemory(t, func)) return NULL;
  if (t->distribution && !tree_adddurations(t, func)) return NULL;
  if (!tree_addplace(t, &p)) return NULL;
  n = cast(Node *, chunks_add(&t->nodes));
  if (n == NULL) return NULL;
  n->id = id;
  n->parent = p.parent;
  n->func = func;
  n->call_line = line;
  if (t->distribution && parent != NULL)
    n->nested = tree_isnested(t, parent, func);
  if (parent != NULL) tree_link(t, parent, id, func);
  chunks_publish(&t->nodes);
  return n;
}


int tree_begin (Tree *t) {
  int i;
  t->level = LEVEL_FIRST;
  t->split = t->hashed = 0;
  t->damaged = 0;
  t->truncated = t->unrecorded = NULL;
  for (i = 0; i < 1 << LEVEL_FIRST; i++)
    if (chunks_add(&t->buckets) == NULL) return 0;
  t->root = tree_add(t, NULL, FUNC_ROOT, 0);
  if (t->root == NULL) return 0;
  t->overhead = tree_add(t, t->root, FUNC_OVERHEAD, 0);
  return t->overhead != NULL;
}


/* The nearest node of 'func' from 'n' up, of 'most' nodes; NULL: none. */
static Node *tree_onpath (const Tree *t, const Node *n, uint32_t func,
                          uint32_t most) {
  uint32_t id = tree_id(t, n);
  while (id != 0 && tree_place(t, id)->func != func)
    id = --most > 0 ? tree_place(t, id)->parent : 0;
  return id != 0 ? tree_node(t, id) : NULL;
}


static Node *tree_callee (Tree *t, const Node *parent, uint32_t func,
                          uint32_t line) {
  uint32_t id = tree_id(t, parent);
  uint64_t key = node_key(func, line);
  int i;
  for (i = 0; i < NODE_CALLEES; i++) {
    uint32_t callee = parent->callee[i];
    if (callee == 0) return NULL;
    if (callee >= t->nodes.count || tree_place(t, callee)->parent != id) {
      t->damaged = 1;
      return NULL;
    }
    if (place_is(tree_place(t, callee), id, key)) return tree_node(t, callee);
  }
  return tree_find(t, id, func, line);
}


/*
** The node that a function among the nearest 'most' on the path re-enters;
** NULL: it is not there.
*/
static Node *tree_fold (const Tree *t, const Node *parent, uint32_t func,
                        uint32_t most) {
  Node *n = tree_onpath(t, parent, func, most);
  if (n != NULL && !t->fold) n->as.full.entered = 1;
  return n;
}


/* The node of a function beyond the limit; there is one for each function. */
static Node *tree_truncate (Tree *t, uint32_t func) {
  Node *n;
  if (t->truncated == NULL)
    t->truncated = tree_add(t, t->root, FUNC_TRUNCATED, 0);
  if (t->truncated == NULL) return NULL;
  n = tree_callee(t, t->truncated, func, 0);
  return n ? n : tree_add(t, t->truncated, func, 0);
}


Node *tree_enter (Tree *t, Node *parent, uint32_t func, uint32_t line) {
  Node *n = tree_callee(t, parent, func, line);
  if (t->damaged) return NULL;
  if (n == NULL && t->nodes.count >= t->foldat)
    n = tree_fold(t, parent, func, t->fold ? UINT32_MAX : NODE_FOLDS);
  if (n != NULL) return n;
  if (t->nodes.count < t->limit) return tree_add(t, parent, func, line);
  n = tree_fold(t, parent, func, UINT32_MAX);
  return n ? n : tree_truncate(t, func);
}


Node *tree_unrecorded (Tree *t) {
  if (t->unrecorded == NULL)
    t->unrecorded = tree_add(t, t->root, FUNC_UNRECORDED, 0);
  return t->unrecorded;
}

/*
** See node.h
*/

#include "record/node.h"

#include <string.h>


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


static uint32_t node_hash (const Node *n) {
  return node_hashof(n->parent, n->func, n->call_line);
}


static uint32_t *tree_bucket (const Tree *t, uint32_t hash) {
  uint32_t mask = (1u << t->level) - 1;
  uint32_t b = hash & mask;
  if (b < t->split) b = hash & (mask * 2 + 1);
  return cast(uint32_t *, chunks_at(&t->buckets, b));
}


static void tree_chain (const Tree *t, Node *n) {
  uint32_t *b = tree_bucket(t, node_hash(n));
  n->next = *b;
  *b = n->id;
}


/*
** One bucket more: the nodes of bucket 'split' are divided between it and
** the new one. Out of memory, the chains just get longer.
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
    Node *n = tree_node(t, id);
    id = n->next;
    tree_chain(t, n);
  }
}


static Node *tree_find (const Tree *t, uint32_t parent, uint32_t func,
                   uint32_t line) {
  uint32_t id = *tree_bucket(t, node_hashof(parent, func, line));
  while (id != 0) {
    Node *n = tree_node(t, id);
    if (n->parent == parent && node_is(n, node_key(func, line))) return n;
    id = n->next;
  }
  return NULL;
}

/* }====================================================== */


void tree_init (Tree *t, const Memory *m) {
  memset(t, 0, sizeof *t);
  chunks_init(&t->nodes, m, sizeof(Node), NODES_SHIFT);
  chunks_init(&t->buckets, m, sizeof(uint32_t), BUCKETS_SHIFT);
  chunks_init(&t->allocated, m, sizeof(NodeAllocated), NODES_SHIFT);
  chunks_init(&t->kinds, m, sizeof(KindsAllocated), KINDS_SHIFT);
}


void tree_free (Tree *t) {
  chunks_free(&t->nodes);
  chunks_free(&t->buckets);
  chunks_free(&t->allocated);
  chunks_free(&t->kinds);
}


/* Makes a node known to its parent. */
static void tree_link (Tree *t, Node *parent, Node *n) {
  int i;
  for (i = 0; i < NODE_CALLEES; i++) {
    if (parent->callee[i] == 0) {
      parent->callee[i] = n->id;
      parent->tag[i] = node_tag(n->func);
      return;
    }
  }
  tree_chain(t, n);
  if (++t->hashed > t->buckets.count) tree_grow(t);
}


/* Counters for the next node, which is of 'func'. 0: out of memory. */
static int tree_addmemory (Tree *t, uint32_t func) {
  while (t->kinds.count <= func)
    if (chunks_add(&t->kinds) == NULL) return 0;
  return t->allocated.count > t->nodes.count ||
         chunks_add(&t->allocated) != NULL;
}


static Node *tree_add (Tree *t, Node *parent, uint32_t func, uint32_t line) {
  Node *n;
  if (t->memory && !tree_addmemory(t, func)) return NULL;
  n = cast(Node *, chunks_add(&t->nodes));
  if (n == NULL) return NULL;
  n->id = t->nodes.count - 1;
  n->func = func;
  n->call_line = line;
  if (parent != NULL) {
    n->parent = parent->id;
    tree_link(t, parent, n);
  }
  chunks_publish(&t->nodes);
  return n;
}


int tree_reset (Tree *t) {
  int i;
  chunks_clear(&t->nodes);
  chunks_clear(&t->buckets);
  chunks_clear(&t->allocated);
  chunks_clear(&t->kinds);
  t->level = LEVEL_FIRST;
  t->split = t->hashed = 0;
  t->truncated = t->unrecorded = NULL;
  for (i = 0; i < 1 << LEVEL_FIRST; i++)
    if (chunks_add(&t->buckets) == NULL) return 0;
  t->root = tree_add(t, NULL, FUNC_ROOT, 0);
  if (t->root == NULL) return 0;
  t->overhead = tree_add(t, t->root, FUNC_OVERHEAD, 0);
  return t->overhead != NULL;
}


/* The nearest node of 'func' from 'n' up to the root. */
static Node *tree_onpath (const Tree *t, Node *n, uint32_t func) {
  for (; n != t->root; n = tree_node(t, n->parent))
    if (n->func == func) return n;
  return NULL;
}


static Node *tree_callee (const Tree *t, const Node *parent, uint32_t func,
                          uint32_t line) {
  int i;
  for (i = 0; i < NODE_CALLEES; i++) {
    Node *n;
    if (parent->callee[i] == 0) return NULL;
    if (parent->tag[i] != node_tag(func)) continue;
    n = tree_node(t, parent->callee[i]);
    if (node_is(n, node_key(func, line))) return n;
  }
  return tree_find(t, parent->id, func, line);
}


/* A function that is on the path re-enters its node; or NULL. */
static Node *tree_fold (const Tree *t, Node *parent, uint32_t func) {
  Node *n = tree_onpath(t, parent, func);
  if (n != NULL && !t->fold) n->as.full.entered = 1;
  return n;
}


/* What the limit keeps out: a node for each function, and no more. */
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
  if (n == NULL && t->nodes.count >= t->foldat)
    n = tree_fold(t, parent, func);
  if (n != NULL) return n;
  if (t->nodes.count < t->limit) return tree_add(t, parent, func, line);
  n = tree_fold(t, parent, func);
  return n ? n : tree_truncate(t, func);
}


Node *tree_unrecorded (Tree *t) {
  if (t->unrecorded == NULL)
    t->unrecorded = tree_add(t, t->root, FUNC_UNRECORDED, 0);
  return t->unrecorded;
}

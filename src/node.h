/*
** The tree of stack states. A node stands for one stack of functions,
** from the root to the function that runs: who was called by whom, all
** the way. It counts the calls that led there and the ticks spent there.
*/

#ifndef node_h
#define node_h

#include "chunk.h"
#include "function.h"


/*
** A node knows the first callees that it met by heart, so that most of
** the time a callee's state is found without a look anywhere else; only
** those beyond are entered in a hash.
*/
#define NODE_CALLEES	3

#if !defined(NODES_SHIFT)
#define NODES_SHIFT	10	/* a chunk of nodes: 64 KB */
#endif

typedef struct Node {
  uint64_t calls;
  uint64_t self;	/* ticks in this state, without its callees */
  uint32_t id;
  uint32_t parent;
  uint32_t func;
  uint32_t call_line;	/* of the caller; 0: not told apart */
  uint32_t next;	/* in the bucket of the hash */
  uint32_t callee[NODE_CALLEES];	/* ids; 0: none yet */
  uint16_t tag[NODE_CALLEES];	/* of their functions, as 'node_tag' */
  uint16_t callees_c;	/* 0..3: how likely the next callee is in C */
  uint32_t active;	/* where recursion folds: frames in this state ...
			   where not: tail calls that led to it ... */
  uint32_t depth;	/* ... and the most there were
			   ... and calls that ended without a return */
} Node;

#define node_tag(func)	((uint16_t)(func))

typedef struct Tree {
  Chunks nodes;
  Chunks buckets;	/* linear hashing: grows by one, without a pause */
  uint32_t level;	/* 2^level buckets and 'split' of the next 2^level */
  uint32_t split;
  uint32_t hashed;	/* nodes in the hash */
  uint32_t limit;	/* most nodes */
  int fold;		/* does a function re-enter its node on the path? */
  Node *root;
  Node *cprof;		/* what the profiler spent on itself */
  Node *truncated;	/* what found no place under the limit; or NULL */
} Tree;

CPROF_I void tree_init (Tree *t, const Memory *m);
CPROF_I void tree_free (Tree *t);

/* forgets all nodes and makes the first two; 0: out of memory */
CPROF_I int tree_reset (Tree *t);

/*
** The state in which 'parent' calls 'func'; NULL: out of memory. Under
** the limit there may be none: then it is the nearest one of the same
** function on the path, or 'truncated', and '*truncated' is set.
*/
CPROF_I Node *tree_enter (Tree *t, Node *parent, uint32_t func, uint32_t line,
                          int *truncated);

/* is it the state that 'func' called in 'line' leads to? */
static inline int node_is (const Node *n, uint32_t func, uint32_t line) {
  return ((n->func ^ func) | (n->call_line ^ line)) == 0;
}

static inline void node_activate (Node *n) {
  if (++n->active > n->depth) n->depth = n->active;
}

/* where recursion folds, there is no room to count these */
static inline void node_tailcall (Node *n, int fold) {
  if (!fold && n->active < UINT32_MAX) n->active++;
}

/* 'chunks_at' for nodes, as fast as can be */
static inline Node *tree_node (const Tree *t, uint32_t id) {
  Node *chunk = (Node *)(void *)t->nodes.chunk[id >> NODES_SHIFT];
  return chunk + (id & ((1u << NODES_SHIFT) - 1));
}

#endif

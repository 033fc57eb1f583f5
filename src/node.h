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

#define NODES_SHIFT	10	/* a chunk of nodes: 64 KB */

typedef struct Node {
  uint64_t calls;
  uint64_t self;	/* ticks in this state, without its callees */
  uint32_t id;
  uint32_t parent;
  uint32_t func;
  uint32_t call_line;	/* of the caller; 0: not told apart */
  uint32_t next;	/* in the bucket of the hash */
  uint32_t callees_c;	/* 0..3: how likely the next callee is in C */
  struct {
    uint32_t func;
    uint32_t node;	/* 0: none yet */
  } callee[NODE_CALLEES];
} Node;

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

/* how a callee's state was found */
typedef enum Entered {
  ENTERED_CHILD,
  ENTERED_FOLDED,	/* the node of the same function on the path */
  ENTERED_TRUNCATED	/* the limit was reached: the same, or nowhere */
} Entered;


void tree_init (Tree *t, const Memory *m);
void tree_free (Tree *t);

/* forgets all nodes and makes the first two; 0: out of memory */
int tree_reset (Tree *t);

/* the state in which 'parent' calls 'func'; NULL: out of memory */
Node *tree_enter (Tree *t, Node *parent, uint32_t func, uint32_t line,
                  Entered *how);

/* 'chunks_at' for nodes, as fast as can be */
static inline Node *tree_node (const Tree *t, uint32_t id) {
  Node *chunk = (Node *)(void *)t->nodes.chunk[id >> NODES_SHIFT];
  return chunk + (id & ((1u << NODES_SHIFT) - 1));
}

#endif

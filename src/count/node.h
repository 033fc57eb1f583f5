/*
** The call tree. A node stands for one stack of functions, from the root
** down to the function that runs. It counts the calls that led there and
** the ticks spent there.
*/

#ifndef node_h
#define node_h

#include "base/chunks.h"
#include "identity/function.h"


/*
** The first callees of a node are kept in the node itself. Only those
** beyond are entered in a hash.
*/
#define NODE_CALLEES	3

#if !defined(NODES_SHIFT)
#define NODES_SHIFT	10	/* a chunk of nodes: 64 KB */
#endif

/*
** A node may lie in a file, which others can write over. So what is followed
** from node to node is elsewhere, see NodePlace; 'callee' is checked first.
*/
typedef struct Node {
  uint64_t calls;
  uint64_t self;	/* ticks, without callees; of samples, but for that of
			   overhead: ns that they stand for, which say what
			   part of 'sampled' is theirs, see Figures; these are
			   the ticks of their waits, too */
  uint32_t id;
  uint32_t parent;
  uint32_t func;	/* these two are compared as one */
  uint32_t call_line;	/* line of the calls; 0: not told apart */
  uint32_t unused;
  uint32_t callee[NODE_CALLEES];	/* ids; 0: none yet */
  uint16_t tag[NODE_CALLEES];	/* of their functions, see 'node_tag' */
  uint8_t callees_c;	/* 0..3: how likely the next callee is in C */
  uint8_t event;	/* what the first call was, see 'label_called' */
  union {
    struct {
      uint32_t active;	/* frames in this node at present ... */
      uint32_t depth;	/* ... and at most */
    } folded;		/* where recursion folds */
    struct {
      uint32_t tails;	/* tail calls that led here */
      uint32_t unreturned:31;	/* calls that ended without a return */
      uint32_t entered:1;	/* was it entered from below, too? */
    } full;		/* elsewhere */
    struct {
      uint32_t tails;
      uint32_t depth;
    } saved;		/* of a profile, in its file */
  } as;
} Node;

/* where a node is in the tree, as nobody else can change it */
typedef struct NodePlace {
  uint32_t parent;
  uint32_t func;
  uint32_t call_line;
  uint32_t next;	/* in the bucket of the hash */
} NodePlace;

/* what was allocated in a node, and what of it is in use, see live.h */
typedef struct NodeAllocated {
  Allocated all;
  int64_t live_count, live_bytes;
  int64_t peak_bytes;	/* at the peak, if 'peak' is the last one */
  uint64_t peak;
} NodeAllocated;

typedef enum AllocKind {
  ALLOC_TABLE,
  ALLOC_STRING,
  ALLOC_CLOSURE,
  ALLOC_USERDATA,
  ALLOC_THREAD,
  ALLOC_OTHER,		/* what these contain: elements, stacks, code */
  ALLOC_KINDS
} AllocKind;

/* what was allocated in a function, by kind */
typedef struct KindsAllocated {
  Allocated kind[ALLOC_KINDS];
} KindsAllocated;

#define node_tag(key)	((uint16_t)(key))	/* or just a function */

#define KINDS_SHIFT	6

#define NODE_OVERHEAD	1	/* id of the node of the profiler's own time */
#define NODE_WAITING	2	/* mode sample, in a file: of what waits, which is
			   empty in the file, see file/restore.c */

typedef struct Tree {
  Chunks nodes;
  Chunks places;	/* of NodePlace, of each node; none if it was read from
			   a file */
  int damaged;		/* does a node lead where it cannot? */
  Chunks buckets;	/* linear hashing: grows by one, without a pause */
  uint32_t level;	/* 2^level buckets, and 'split' of the next 2^level */
  uint32_t split;
  uint32_t hashed;	/* nodes in the hash */
  uint32_t foldat;	/* nodes from which on recursion folds: a function that
			   is on the path re-enters its node there */
  uint32_t limit;	/* nodes from which on callers are not kept, either */
  int fold;		/* does it fold from the beginning? */
  int saved;		/* are its nodes those of a profile? */
  Node *root;
  Node *overhead;	/* time of the profiler itself, NODE_OVERHEAD */
  Node *truncated;	/* parent of what the limit keeps out; or NULL */
  Node *unrecorded;	/* time under another hook; or NULL */
  int memory;		/* are allocations counted? */
  Chunks allocated;	/* then: NodeAllocated, of each node ... */
  Chunks kinds;		/* ... and KindsAllocated, of their functions */
} Tree;

CPROF_I void tree_init (Tree *t, const Memory *m);
CPROF_I void tree_free (Tree *t);

/* Forgets all nodes and makes the first two. 0: out of memory. */
CPROF_I int tree_reset (Tree *t);

/*
** The node in which 'parent' calls 'func'; NULL: out of memory. Where
** recursion folds, it may be the nearest one of the function on the path.
** Beyond the limit, it is that or the function's node under 'truncated', so
** that calls and self times of functions stay exact. Where the tree is
** damaged, it has no such node, either.
*/
CPROF_I Node *tree_enter (Tree *t, Node *parent, uint32_t func,
                          uint32_t line);

/* 'unrecorded', made if need be; NULL: out of memory */
CPROF_I Node *tree_unrecorded (Tree *t);

/* a function and the line of its calls, as one number */
static inline uint64_t node_key (uint32_t func, uint32_t line) {
  return (uint64_t)line << 32 | func;
}

/* Does calling what 'key' says lead to 'n'? */
static inline int node_is (const Node *n, uint64_t key) {
  return node_key(n->func, n->call_line) == key;
}

/* A frame enters a node, where recursion folds. */
static inline void node_activate (Node *n) {
  if (++n->as.folded.active > n->as.folded.depth)
    n->as.folded.depth = n->as.folded.active;
}

/* What was allocated in a node; only where allocations are counted. */
static inline NodeAllocated *tree_allocated (const Tree *t, uint32_t id) {
  return cast(NodeAllocated *, chunks_at(&t->allocated, id));
}

/* What a function that has a node has allocated, by kind. */
static inline KindsAllocated *tree_kinds (const Tree *t, uint32_t func) {
  return cast(KindsAllocated *, chunks_at(&t->kinds, func));
}

/* 'chunks_at' for nodes, as fast as can be */
static inline Node *tree_node (const Tree *t, uint32_t id) {
  Node *chunk = (Node *)(void *)t->nodes.chunk[id >> NODES_SHIFT];
  return chunk + (id & ((1u << NODES_SHIFT) - 1));
}

/* Where a node is, while the tree is that of a recorder. */
static inline NodePlace *tree_place (const Tree *t, uint32_t id) {
  return cast(NodePlace *, chunks_at(&t->places, id));
}

/* Where a node is, in any tree. */
CPROF_I NodePlace tree_whereis (const Tree *t, uint32_t id);

/*
** Do all nodes say to be where they are, and to have callees that they have?
** 0: others have written over the file that they are in.
*/
CPROF_I int tree_intact (const Tree *t);

/* The id of a node that says to have another one. */
CPROF_I uint32_t tree_search (const Tree *t, const Node *n);

static inline uint32_t tree_id (const Tree *t, const Node *n) {
  uint32_t id = n->id;
  return likely(id < t->nodes.count && tree_node(t, id) == n)
       ? id : tree_search(t, n);
}

#endif

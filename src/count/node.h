/*
** The call tree. A node stands for one stack of functions, from the root
** down to the function that runs. It counts the calls that led there and
** the ticks spent there, without callees.
*/

#ifndef node_h
#define node_h

#include "count/blocks.h"
#include "count/durations.h"
#include "identity/function.h"


/*
** The first callees of a node are kept in the node itself. Only further ones
** are entered in a hash.
*/
#define NODE_CALLEES	3

/*
** Where recursion folds from some number of nodes on: how many nodes of a path
** are searched for the function, from the caller up. A search of the whole path
** for each new node would take quadratic time in deep recursions.
*/
#define NODE_FOLDS	64

#if !defined(NODES_SHIFT)
#define NODES_SHIFT	10	/* a chunk of nodes: 64 KB */
#endif

/*
** A node may lie in a file, which other programs can write to. So links that
** are followed from node to node are kept in memory, see NodePlace. Only
** 'callee' is followed, and is checked before.
*/
typedef struct Node {
  uint64_t calls;
  uint64_t self;	/* ticks, without callees. In mode sample, except for
			   NODE_OVERHEAD: the weight of its samples, in ns. Its
			   share of all weights is its share of 'sampled' in
			   Figures, which is its time. 'ticks' of its Wait is a
			   weight, too. */
  uint32_t id;
  uint32_t parent;
  uint32_t func;	/* this and 'call_line' are compared as one number */
  uint32_t call_line;	/* line of the call site; 0: not told apart */
  uint32_t nested;	/* where durations of calls are counted: does a node
			   above it have the same function? */
  uint32_t callee[NODE_CALLEES];	/* ids; 0: none yet */
  uint16_t tag[NODE_CALLEES];	/* 'node_tag' of their functions */
  uint8_t callees_c;	/* 0..3: how likely the next callee is in C */
  uint8_t event;	/* how the first call came about, see 'label_called' */
  union {
    struct {
      uint32_t active;	/* call frames in this node now */
      uint32_t depth;	/* most call frames in this node at once */
    } folded;		/* if 'fold' of Tree */
    struct {
      uint32_t tails;	/* tail calls that led here */
      uint32_t unreturned:31;	/* calls that ended without a return event */
      uint32_t entered:1;	/* did recursion re-enter it from below? */
    } full;		/* if not */
    struct {
      uint32_t tails;
      uint32_t depth;
    } saved;		/* for nodes in the file of a saved profile */
  } as;
} Node;

/* where a node is in the tree; in memory, so no other program changes it */
typedef struct NodePlace {
  uint32_t parent;
  uint32_t func;
  uint32_t call_line;
  uint32_t next;	/* in the bucket of the hash */
} NodePlace;

/* what was allocated in a node, and how much of it is in use, see live.h */
typedef struct NodeAllocated {
  Allocated all;
  int64_t live_count, live_bytes;
  int64_t peak_bytes;	/* bytes in use at the peak with the number 'peak', see
			   'live_peaks' in Figures. If that has a higher number
			   by now, 'live_bytes' has not changed since that later
			   peak, so it is the figure for it */
  uint64_t peak;
} NodeAllocated;

typedef enum AllocKind {
  ALLOC_TABLE,
  ALLOC_STRING,
  ALLOC_CLOSURE,
  ALLOC_USERDATA,
  ALLOC_THREAD,
  ALLOC_OTHER,		/* what these own: elements, stacks, code */
  ALLOC_KINDS
} AllocKind;

/* what was allocated in a function, by kind */
typedef struct KindsAllocated {
  Allocated kind[ALLOC_KINDS];
} KindsAllocated;

/* low bits of a function id or a 'node_key' */
#define node_tag(key)	((uint16_t)(key))

#define KINDS_SHIFT	6

/* the id of the node for the profiler's own time */
#define NODE_OVERHEAD	1

/*
** In mode sample, with a file: the id of the node for a C function that has
** not returned when the file is read. It is empty in the file; 'restore' gives
** it the time since the last sample.
*/
#define NODE_WAITING	2

/* what 'tree_isnested' knows of a function */
typedef struct Nested {
  uint32_t asked;	/* the last node that was asked about */
  uint32_t above;	/* the function's nearest node above that; 0: none */
} Nested;

typedef struct Tree {
  Chunks nodes;
  Chunks places;	/* of NodePlace, of each node; none if it was read from
			   a file */
  int damaged;		/* was a node found with a callee it cannot have? */
  Chunks buckets;	/* linear hashing: grows by one bucket at a time */
  uint32_t level;	/* there are 2^level + split buckets */
  uint32_t split;
  uint32_t hashed;	/* nodes in the hash */
  uint32_t foldat;	/* nodes from which on recursion folds: a call of a
			   function that is on the path re-enters its node */
  uint32_t limit;	/* nodes from which on a new one is made under
			   'truncated', where callers are not told apart */
  int fold;		/* does recursion fold from the beginning? */
  int saved;		/* do nodes come from a saved profile? */
  int folded;		/* if 'saved': was recursion folded? */
  Node *root;
  Node *overhead;	/* time of the profiler itself, NODE_OVERHEAD */
  Node *truncated;	/* parent of nodes beyond the limit; or NULL */
  Node *unrecorded;	/* time under another hook; or NULL */
  int memory;		/* are allocations counted? If so: */
  Chunks allocated;	/* NodeAllocated of each node */
  Chunks kinds;		/* KindsAllocated of each function */
  int distribution;	/* are durations of calls counted? If so: */
  Chunks durations;	/* Durations of each function */
  Chunks nested;	/* Nested of each function */
} Tree;

CPROF_I void tree_init (Tree *t, ChunkSet *s);

/* Makes the first two nodes. 0: out of memory. */
CPROF_I int tree_begin (Tree *t);

/*
** The node for calls of 'func' by 'parent' from 'line'; made if need be.
** Where recursion folds, it may be the nearest node of 'func' on the path.
** Beyond the limit, it is that node, or the function's node under
** 'truncated', so that calls and self times of functions stay exact. NULL:
** out of memory, or the tree is 'damaged'.
*/
CPROF_I Node *tree_enter (Tree *t, Node *parent, uint32_t func,
                          uint32_t line);

/*
** The node of time that was not recorded, made if need be. NULL: out of memory.
*/
CPROF_I Node *tree_unrecorded (Tree *t);

/* a function and the line of its calls, as one number */
static inline uint64_t node_key (uint32_t func, uint32_t line) {
  return (uint64_t)line << 32 | func;
}

/* Is 'n' a node for calls of that function from that line? */
static inline int node_is (const Node *n, uint64_t key) {
  return node_key(n->func, n->call_line) == key;
}

/* A call frame enters a node, where recursion folds. */
static inline void node_activate (Node *n) {
  if (++n->as.folded.active > n->as.folded.depth)
    n->as.folded.depth = n->as.folded.active;
}

/* What was allocated in a node; only where allocations are counted. */
static inline NodeAllocated *tree_allocated (const Tree *t, uint32_t id) {
  return cast(NodeAllocated *, chunks_at(&t->allocated, id));
}

/* What a function has allocated, by kind; the function has to have a node. */
static inline KindsAllocated *tree_kinds (const Tree *t, uint32_t func) {
  return cast(KindsAllocated *, chunks_at(&t->kinds, func));
}

/* How long calls of a function took; the function has to have a node. */
static inline Durations *tree_durations (const Tree *t, uint32_t func) {
  return cast(Durations *, chunks_at(&t->durations, func));
}

/* 'chunks_at' for nodes, but faster: sizes are constants */
static inline Node *tree_node (const Tree *t, uint32_t id) {
  Node *chunk = (Node *)(void *)t->nodes.chunk[id >> NODES_SHIFT];
  return chunk + (id & ((1u << NODES_SHIFT) - 1));
}

/* The ticks of all nodes. */
static inline uint64_t tree_ticks (const Tree *t) {
  uint64_t ticks = 0;
  uint32_t i;
  for (i = 0; i < t->nodes.count; i++) ticks += tree_node(t, i)->self;
  return ticks;
}

/* The place of a node, in the tree of a recorder. */
static inline NodePlace *tree_place (const Tree *t, uint32_t id) {
  return cast(NodePlace *, chunks_at(&t->places, id));
}

/* The place of a node, in any tree. */
CPROF_I NodePlace tree_whereis (const Tree *t, uint32_t id);

/*
** Do all nodes, and their callees, agree with their places? 0: another program
** has written to the file that they are in.
*/
CPROF_I int tree_intact (const Tree *t);

/* The id of a node by its address; its field 'id' was overwritten. */
CPROF_I uint32_t tree_search (const Tree *t, const Node *n);

/* The id of a node, whatever another program may have written there. */
static inline uint32_t tree_id (const Tree *t, const Node *n) {
  uint32_t id = n->id;
  return likely(id < t->nodes.count && tree_node(t, id) == n)
       ? id : tree_search(t, n);
}

#endif

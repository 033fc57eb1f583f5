/*
** A profile: what was recorded, in nanoseconds and with totals. Nothing here
** knows of hooks.
*/

#ifndef profile_h
#define profile_h

#include <stdint.h>

#include "count/node.h"


typedef struct ProfileNode {
  uint32_t parent;	/* index, always lower; of the root: 0 */
  uint32_t func;
  uint32_t call_line;
  uint32_t depth;	/* most call frames in it at once */
  uint32_t tails;	/* number of 'calls' that were known tail calls */
  uint32_t ways;	/* bit n: called as metamethod n of 'label_event';
			   bit 0: called otherwise */
  int64_t calls;
  int64_t self;		/* ns */
  int64_t raw;		/* ns: 'self' with overhead; or number of samples */
  int64_t total;	/* ns: 'self' of this node and all below */
  int64_t rawtotal;	/* ns: 'raw' of this node and all below */
  int64_t wait;		/* ns of 'self' in which it waited */
  int64_t waittotal;	/* ns: 'wait' of this node and all below */
} ProfileNode;

/* what was allocated in a node, if allocations were counted */
typedef struct NodeMemory {
  int64_t allocs, bytes;
  int64_t livecount, live;	/* blocks and bytes in use */
  int64_t peak;		/* bytes in use when the program used most */
} NodeMemory;

/* what nodes have beside times, or in their place */
typedef enum NodesUnit {
  NODES_CALLS,
  NODES_INSTRUCTIONS,	/* 'self' and 'total' are instructions, not times */
  NODES_SAMPLES		/* 'raw' and 'rawtotal' are samples; no calls */
} NodesUnit;

typedef struct Nodes {
  const ProfileNode *list;	/* the root first, then NODE_OVERHEAD */
  uint32_t count;
  NodesUnit unit;
  NodeMemory *memory;	/* by node; NULL: allocations not counted */
} Nodes;

/*
** Sums the absolute values of each figure but waits over all nodes, and returns
** the largest of the sums.
*/
CPROF_I uint64_t nodes_largest (const Nodes *nodes);

/* a figure to show as self and total, in place of time */
typedef enum Measure {
  MEASURE_ALLOCS,
  MEASURE_BYTES,
  MEASURE_LIVE,		/* bytes in use */
  MEASURE_BLOCKS,	/* blocks in use */
  MEASURE_PEAK,
  MEASURE_CPU,		/* time without waiting */
  MEASURE_WAIT		/* time of waiting */
} Measure;

/* Adds what another node has allocated. */
CPROF_I void nodes_allocated (NodeMemory *to, const NodeMemory *from);

/* Fills 'list' with 'nodes', with measure 'm' as self and total. */
CPROF_I void nodes_measure (const Nodes *nodes, Measure m, ProfileNode *list);

/* what was counted for a line of a function */
typedef struct ProfileLine {
  uint32_t func;
  uint32_t line;
  int64_t hits;
  int64_t self;		/* ns */
  int64_t raw;		/* ns: with overhead */
  int64_t wait;		/* ns of 'self' in which it waited */
  int64_t allocs, bytes;
  int64_t live;		/* bytes in use */
} ProfileLine;

/* Sums up totals: from 'self', 'raw' and 'wait', over each node and below. */
CPROF_I void nodes_total (ProfileNode *list, uint32_t count);

/*
** The owner of a node: for a zone, the node of the function that opened it;
** otherwise the node itself. 'owner' has the owners of all nodes before it,
** 'zone' tells which functions are zones.
*/
static inline uint32_t nodes_owner (const ProfileNode *list,
                                    const uint32_t *zone,
                                    const uint32_t *owner, uint32_t node) {
  return node != 0 && zone[list[node].func] ? owner[list[node].parent]
                                            : node;
}

/* a node's first callee, and the next callee of the same caller; 0: none */
typedef struct NodeStep {
  uint32_t child, sibling;
} NodeStep;

/* Sets 'step' of each node; children are in order of their ids. */
CPROF_I void nodes_steps (const Nodes *nodes, NodeStep *step);

/* a walk over all nodes, callers before callees */
typedef struct Preorder {
  const Nodes *nodes;
  const NodeStep *step;
  uint32_t node;
  uint32_t depth;	/* number of nodes above it */
} Preorder;

/* Begins at the root; there must be one. */
CPROF_I void preorder_begin (Preorder *p, const Nodes *nodes,
                             const NodeStep *step);

/* Goes to the next node. 0: there is none. */
CPROF_I int preorder_next (Preorder *p);

/*
** For each node, the number of nodes of the same group above it. All memory
** comes from an arena.
*/
CPROF_I uint32_t *nodes_levels (const Nodes *nodes, const Memory *m,
                                const uint32_t *group, uint32_t groups);

#endif

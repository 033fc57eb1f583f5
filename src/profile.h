/*
** A profile: what was recorded, in nanoseconds and with totals, and sums
** over it. It knows nothing of hooks; a file can hold the same.
*/

#ifndef profile_h
#define profile_h

#include <stdint.h>

#include "definition.h"


typedef struct ProfileNode {
  uint32_t parent;	/* index, always lower; of the root: 0 */
  uint32_t func;
  uint32_t call_line;
  uint32_t depth;	/* most frames in this state at once */
  uint32_t tails;	/* tail calls that led to it, as far as counted */
  uint32_t unreturned;	/* calls that ended without a return, likewise */
  int64_t calls;
  int64_t self;		/* ns */
  int64_t raw;		/* ns: 'self' with what recording has cost */
  int64_t total;	/* ns: 'self' of this node and all below */
} ProfileNode;

typedef struct Nodes {
  const ProfileNode *list;	/* the root first */
  uint32_t count;
  uint32_t own;		/* the profiler's own; 0: none */
  uint32_t fold;	/* did recursion fold? */
} Nodes;


/* what was counted for a line of a function */
typedef struct ProfileLine {
  uint32_t func;
  uint32_t line;
  int64_t hits;
  int64_t self;		/* ns */
  int64_t raw;		/* ns: with what recording has cost */
  int64_t counts;	/* as Line has them */
  LineCode code;
  double left;		/* ns of 'raw' that recording has not cost */
} ProfileLine;


/* sums of a group of nodes; recursion within it is counted once */
typedef struct SumRow {
  int64_t calls, self, raw, total;
  uint32_t depth;	/* most frames of the group on one path */
} SumRow;

/*
** Sums of the calls from one group to another. For a callee, the
** 'total_in' of its callers add up to its total: time belongs to the
** caller of the outermost call. For a caller, its self time and the
** 'total_out' of its callees add up to its total: time belongs to what
** its innermost call has called.
*/
typedef struct SumEdge {
  uint32_t caller, callee;
  uint32_t line;	/* of the calls, or 0 */
  int64_t calls, self, total_in, total_out;
  int64_t calls_in;	/* like 'total_in', of calls: only 'sums_calls' */
} SumEdge;

typedef struct Sums {
  SumRow *rows;
  SumEdge *edges;
  uint32_t groups, count;	/* rows and edges */
  uint32_t capacity;		/* of edges */
  uint32_t *bucket;		/* edges by what they join, plus one */
  uint32_t buckets;
} Sums;

/*
** Sums 'nodes', where 'group' (below 'groups') tells the group of each.
** 0: out of memory, and nothing is left to free.
*/
CPROF_I int sums_make (Sums *s, const Memory *m, const Nodes *nodes,
                       const uint32_t *group, uint32_t groups);
CPROF_I void sums_free (Sums *s, const Memory *m);

/* the same, but calls from different lines are different edges */
CPROF_I int sums_calls (Sums *s, const Memory *m, const Nodes *nodes,
                        const uint32_t *group, uint32_t groups);

/*
** Sums over the nodes that one line has called: 'edges' names them by
** 'key[func]' of the calling function and by line, as 'caller' and
** 'callee', and 'rows' has their sums, after one row for all nodes that
** no line called. What functions with key 0 have called is left out.
** 'zone[func]' tells whether a function is a zone, which calls on behalf
** of the function that has opened it. 0: out of memory.
*/
CPROF_I int sums_sites (Sums *s, const Memory *m, const Nodes *nodes,
                        const uint8_t *zone, const uint32_t *key);

/*
** Sets 'level' of each node to how many nodes of the same group there are
** above it. 0: out of memory.
*/
CPROF_I int nodes_levels (const Nodes *nodes, const Memory *m,
                          const uint32_t *group, uint32_t groups,
                          uint32_t *level);

/*
** What nodes took on behalf of others, any number of calls above: sums
** over those that 'is' marks that lie below those that 'above' marks.
** Recursion is counted once.
*/
CPROF_I SumRow nodes_attribute (const Nodes *nodes, const uint8_t *is,
                                const uint8_t *above, uint8_t *room);

/* the first node that a node calls, and the next of its caller's; 0: none */
typedef struct NodeStep {
  uint32_t child, sibling;
} NodeStep;

/* sets 'step' of each node */
CPROF_I void nodes_steps (const Nodes *nodes, NodeStep *step);

/*
** The node of the function that has opened zone 'node', or 'node' itself;
** 'owner' has that of all nodes before.
*/
CPROF_I uint32_t nodes_owner (const ProfileNode *list, const uint8_t *zone,
                      const uint32_t *owner, uint32_t node);

/* sums up 'total' from 'self' */
CPROF_I void nodes_total (ProfileNode *list, uint32_t count);

#endif

/*
** The call graph: sums over the nodes of a profile, for groups of
** functions and the calls between them.
*/

#ifndef callgraph_h
#define callgraph_h

#include "base/index.h"
#include "profile/profile.h"


/* sums of a group of functions; recursion within it is counted once */
typedef struct SumRow {
  int64_t calls, self, raw, total;
  int64_t rawtotal;
  int64_t wait, waittotal;
  int64_t tails;	/* of the calls, those that were tail calls */
  uint32_t ways;	/* as in ProfileNode */
  uint32_t depth;	/* most frames of the group on one path */
} SumRow;

/*
** Sums of the calls from one group to another. For a callee, the
** 'total_in' of its callers add up to its total: time belongs to the
** caller of the outermost call. For a caller, its self time and the
** 'total_out' of its callees add up to its total: time belongs to the
** callee of the innermost call.
*/
typedef struct SumEdge {
  uint32_t caller, callee;
  uint32_t line;	/* of the calls, or 0 */
  uint32_t ways;	/* as in ProfileNode */
  uint32_t next;	/* in the bucket of the index */
  int64_t calls, self, total_in, total_out;
  int64_t raw, rawtotal_in, rawtotal_out;	/* these with overhead */
  int64_t wait, waittotal_in;	/* ns of 'self' and 'total_in' that it waited */
  int64_t calls_in;	/* like 'total_in', of calls; only 'callgraph_bylines' */
} SumEdge;

typedef struct Callgraph {
  const Memory *memory;
  SumRow *rows;		/* of each group */
  uint32_t groups;
  Chunks edges;		/* of SumEdge; the first one is not used */
  Index index;		/* edges by what they join */
} Callgraph;

static inline SumEdge *callgraph_edge (const Callgraph *g, uint32_t i) {
  return cast(SumEdge *, chunks_at(&g->edges, i));
}

/*
** Sums up 'nodes', where 'group' (below 'groups') has the group of each.
** 0: out of memory, and there is nothing to free.
*/
CPROF_I int callgraph_make (Callgraph *g, const Memory *m, const Nodes *nodes,
                            const uint32_t *group, uint32_t groups);
CPROF_I void callgraph_free (Callgraph *g);

/* A call graph in which calls from different lines are different edges. */
CPROF_I int callgraph_bylines (Callgraph *g, const Memory *m,
                               const Nodes *nodes, const uint32_t *group,
                               uint32_t groups);

/*
** Sums over the nodes that each line has called. An edge names 'key[func]'
** of the calling function and the line, as 'caller' and 'callee'. Row i
** belongs to edge i; row 0 to all nodes that no line called. What functions
** with key 0 called is left out. Zones call on behalf of the function that
** opened them. 0: out of memory, and there is nothing to free.
*/
CPROF_I int callgraph_sites (Callgraph *g, const Memory *m,
                             const Nodes *nodes, const uint8_t *zone,
                             const uint32_t *key);

/*
** What nodes took on behalf of others: sums over those that 'is' marks and
** that are anywhere below those that 'above' marks. Recursion is counted
** once. 'room' has a byte for each node.
*/
CPROF_I SumRow callgraph_attribute (const Nodes *nodes, const uint8_t *is,
                                    const uint8_t *above, uint8_t *room);

#endif

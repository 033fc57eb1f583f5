/*
** The call graph: sums over the nodes of a profile, for groups of
** functions and the calls between them.
*/

#ifndef callgraph_h
#define callgraph_h

#include "base/index.h"
#include "profile/profile.h"


/* sums of a group of functions; totals count recursion within it once */
typedef struct SumRow {
  int64_t calls, self, raw, total;
  int64_t rawtotal;
  int64_t wait, waittotal;
  int64_t tails;	/* number of 'calls' that were tail calls */
  uint32_t ways;	/* as in ProfileNode */
  uint32_t depth;	/* most call frames of the group at once */
} SumRow;

/*
** Sums of the calls from one group to another. For a callee, the
** 'total_in' of its callers add up to its total: time belongs to the
** caller of the outermost call. For a caller, its self time and the
** 'total_out' of its callees add up to its total: time belongs to the
** callee of the innermost call.
*/
typedef struct EdgeKey {
  uint32_t caller, callee;
  uint32_t line;	/* line of the calls; 0: any line */
} EdgeKey;

typedef struct SumEdge {
  EdgeKey is;
  uint32_t ways;	/* as in ProfileNode */
  uint32_t next;	/* in the bucket of the index */
  int64_t calls, self, total_in, total_out;
  int64_t raw, rawtotal_in, rawtotal_out;	/* with overhead */
  int64_t wait, waittotal_in;	/* ns of waiting in 'self' and 'total_in' */
  int64_t calls_in;	/* calls, summed up like 'total_in'; by
			   lines only */
} SumEdge;

typedef struct Callgraph {
  SumRow *rows;		/* sums of each group */
  uint32_t groups;
  Chunks edges;		/* of SumEdge; the first one is not used */
  Index index;		/* of edges */
} Callgraph;

static inline SumEdge *callgraph_edge (const Callgraph *g, uint32_t i) {
  return cast(SumEdge *, chunks_at(&g->edges, i));
}

/*
** Sums up 'nodes'. 'group' gives the group of each node, a number below
** 'groups'. With 'bylines', each calling line has an edge of its own. All
** memory comes from an arena.
*/
CPROF_I void callgraph_make (Callgraph *g, const Memory *m,
                             const Nodes *nodes, const uint32_t *group,
                             uint32_t groups, int bylines);

/*
** Sums up what each call site called. Here an edge is a call site: 'caller'
** is 'key[func]' of the calling function, 'callee' is the line. Row i has
** the sums of edge i; row 0 those of all nodes without a call site. A
** function with key 0 has no call sites. What a zone calls counts as called
** by the function that opened it. All memory comes from an arena.
*/
CPROF_I void callgraph_sites (Callgraph *g, const Memory *m,
                              const Nodes *nodes, const uint32_t *zone,
                              const uint32_t *key);

/*
** Sums up what C functions took, by the line that called them. An edge goes
** from 'key[func]' of the calling function to the C function. What another C
** function has called counts for the line that called that one: C functions
** have no lines. Zones and keys are those of 'callgraph_sites'; there are no
** rows. All memory comes from an arena.
*/
CPROF_I void callgraph_c (Callgraph *g, const Memory *m,
                            const Nodes *nodes, const uint32_t *zone,
                            const uint32_t *c, const uint32_t *key);

/*
** Sums over all nodes that 'is' marks and that are anywhere below a node
** that 'above' marks: what these took on behalf of the others. Recursion is
** counted once.
*/
CPROF_I SumRow callgraph_attribute (const Nodes *nodes, const uint32_t *is,
                                    const uint32_t *above, const Memory *m);

#endif

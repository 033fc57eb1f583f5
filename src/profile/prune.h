/*
** Smaller trees, for readers that cannot show all of a large one: only what
** is below some functions, recursion folded, and nodes of little time
** added up. Self times and calls keep their sums. Profiler overhead is no
** part of a smaller tree: its node is there, but has no time.
*/

#ifndef prune_h
#define prune_h

#include "profile/merge.h"


/*
** Adds the nodes to 'm', which is empty. 'root' tells which functions the
** tree is to begin with, outermost nodes only; NULL: it begins as it does.
** 'zone' tells which functions are zones; NULL: recursion does not fold.
** Else a function that is called again below itself calls nothing there, but
** zones: its caller does. So paths are short, and totals what they were. 0:
** out of memory.
*/
CPROF_I int prune_fold (Merge *m, const Nodes *nodes, const uint8_t *root,
                        const uint8_t *zone);

/* what is left when nodes with less than 'least' ns are added up */
typedef struct PruneSize {
  uint64_t bytes;
  uint32_t nodes;
  uint32_t deepest;	/* most nodes above one */
  int64_t below;	/* ns of nodes that are added up */
} PruneSize;

/* what a tree is written in, by function; each may be NULL: nothing */
typedef struct PruneBytes {
  const uint32_t *node;	/* bytes of a node */
  const uint32_t *copies;	/* a node with calls or time of its own is
				   written with its path, so many times */
  const uint32_t *once;	/* bytes of a function that has nodes */
} PruneBytes;

/* 'below' is the function of nodes that are added up. 0: out of memory. */
CPROF_I int prune_weigh (PruneSize *size, const Memory *m,
                         const Nodes *nodes, int64_t least,
                         const PruneBytes *bytes, uint32_t below);

typedef struct PruneCut {
  uint32_t nodes;	/* that were added up */
  uint32_t functions;	/* that the new tree has */
} PruneCut;

/*
** Fills 'list', which has room for as many nodes as 'prune_weigh' said,
** and 'memory', which has zeros for these, or is NULL where the nodes are
** without:
** nodes with less than 'least' ns become a callee of function 'below' of
** their nearest ancestor that has more. 'number' has room for all functions
** and 'below': it is set to their numbers in the new tree, from 1; 0: they
** have no node. 0: out of memory.
*/
CPROF_I int prune_cut (PruneCut *cut, const Memory *m, const Nodes *nodes,
                       int64_t least, uint32_t below, ProfileNode *list,
                       NodeMemory *memory, uint32_t *number);

#endif

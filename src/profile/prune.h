/*
** Smaller trees, for readers that cannot show all of a large one: only what
** is below some functions, recursion folded, and nodes of little time
** added up. The sums of self times and calls stay the same. A smaller tree
** has a node for profiler overhead, but without time.
*/

#ifndef prune_h
#define prune_h

#include "profile/merge.h"


/*
** Adds the nodes to 'm', which is empty. 'root' tells with which functions
** the new tree begins: their outermost nodes go under the root. NULL: with
** the old root. 'zone' tells which functions are zones; NULL: recursion does
** not fold. If it folds, a function that is called again below itself has no
** callees there but zones; the others go to its caller. So paths are short,
** and the totals of functions stay the same. 0: out of memory.
*/
CPROF_I int prune_fold (Merge *m, const Nodes *nodes, const uint8_t *root,
                        const uint8_t *zone);

/* size of a tree in which nodes with less than 'least' ns are added up */
typedef struct PruneSize {
  uint64_t bytes;
  uint32_t nodes;
  uint32_t deepest;	/* largest number of nodes above a node */
  int64_t below;	/* self ns of nodes that are added up */
} PruneSize;

/*
** Bytes that a tree takes when it is written, by function. Each list may be
** NULL. Without 'copies', a node is written alone.
*/
typedef struct PruneBytes {
  const uint32_t *node;	/* bytes of a node */
  const uint32_t *copies;	/* how often a node with calls or time is
				   written, each time with its whole path */
  const uint32_t *once;	/* bytes of a function, if it has nodes */
} PruneBytes;

/*
** Computes the size of the tree that 'prune_cut' would make. 'below' is the
** id of the function that sums belong to, above all others. 0: out of memory.
*/
CPROF_I int prune_weigh (PruneSize *size, const Memory *m,
                         const Nodes *nodes, int64_t least,
                         const PruneBytes *bytes, uint32_t below);

typedef struct PruneCut {
  uint32_t nodes;	/* number of old nodes that were added up */
  uint32_t functions;	/* number of functions in the new tree */
} PruneCut;

/*
** Makes the new tree in 'list'. Nodes with a total of less than 'least' ns
** are added up in a node of function 'below', a callee of their nearest
** ancestor that has more. 'list' has room for the nodes that 'prune_weigh'
** has counted. 'memory' is zero and has room for as many, or NULL if 'nodes'
** have not counted allocations. Sets 'number', which has room for all
** functions and 'below', to the number of each function in the new tree,
** from 1; 0: it has no node. Returns 0 when out of memory.
*/
CPROF_I int prune_cut (PruneCut *cut, const Memory *m, const Nodes *nodes,
                       int64_t least, uint32_t below, ProfileNode *list,
                       NodeMemory *memory, uint32_t *number);

#endif

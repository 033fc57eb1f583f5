/*
** Sums of whole trees: nodes with the same call path, by functions and lines
** of calls, become one.
*/

#ifndef merge_h
#define merge_h

#include "base/index.h"
#include "profile/profile.h"


typedef struct Merge {
  const Memory *memory;
  Chunks nodes;		/* of MergeNode; the first one is not used */
  Chunks allocated;	/* NodeMemory of each; empty: no tree has counted it */
  Index index;		/* nodes by parent, function and line */
} Merge;

/* Begins a sum without nodes. 0: out of memory; free it even then. */
CPROF_I int merge_init (Merge *m, const Memory *memory);
CPROF_I void merge_free (Merge *m);

#define MERGE_ZONE	INT32_MIN

/* which function of the sum a function of a tree is */
typedef struct MergeFunction {
  uint32_t func;
  int32_t shift;	/* to add to its lines; MERGE_ZONE: its caller's */
} MergeFunction;

/* which node of the sum a node of a tree is */
typedef struct MergePlace {
  uint32_t id;
  int32_t shift;	/* to add to the lines that it calls from */
} MergePlace;

/*
** Adds a tree. 'function' gives the function of the sum for each of its
** functions. Sets 'to' of each node, which has room for all. 0: out of
** memory.
*/
CPROF_I int merge_add (Merge *m, const Nodes *nodes,
                       const MergeFunction *function, MergePlace *to);

/* Like 'merge_add', but without the figures of the nodes. */
CPROF_I int merge_enterall (Merge *m, const Nodes *nodes,
                            const MergeFunction *function, MergePlace *to);

/*
** For files that build a tree themselves. 'merge_enter' gives the id of the
** node that 'func' has under 'parent', called from 'line', new or not; 0: out
** of memory. The root has the parent 0. 'merge_node' gives the node of an id.
** 'merge_figures' adds the figures of 'from' to 'n'.
*/
CPROF_I uint32_t merge_enter (Merge *m, uint32_t parent, uint32_t func,
                              uint32_t line);
CPROF_I ProfileNode *merge_node (const Merge *m, uint32_t id);
CPROF_I void merge_figures (ProfileNode *n, const ProfileNode *from);

/*
** If 'nodes' have counted allocations, the sum counts them from here on. 0:
** out of memory.
*/
CPROF_I int merge_counts (Merge *m, const Nodes *nodes);

/* Adds what node 'from' has allocated to node 'id', if it was counted. */
CPROF_I void merge_allocated (const Merge *m, uint32_t id,
                              const Nodes *nodes, uint32_t from);

/*
** 'merge_count' gives the number of nodes of the sum. 'merge_copy' copies
** them to 'list', without totals, and their allocations to 'memory' unless
** that is NULL.
*/
CPROF_I uint32_t merge_count (const Merge *m);
CPROF_I void merge_copy (const Merge *m, ProfileNode *list,
                         NodeMemory *memory);

#endif

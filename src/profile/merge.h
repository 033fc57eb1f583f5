/*
** Sums of whole trees: nodes that the same functions led to, called in the
** same lines, become one.
*/

#ifndef merge_h
#define merge_h

#include "base/index.h"
#include "profile/profile.h"


typedef struct Merge {
  const Memory *memory;
  Chunks nodes;		/* of MergeNode; the first one is not used */
  Chunks allocated;	/* NodeMemory of each; empty: it was not counted */
  Index index;		/* nodes by parent, function and line */
} Merge;

/* 0: out of memory; it is to be freed all the same. */
CPROF_I int merge_init (Merge *m, const Memory *memory);
CPROF_I void merge_free (Merge *m);

#define MERGE_ZONE	INT32_MIN

/* what a function of a tree is in the sum */
typedef struct MergeFunction {
  uint32_t func;
  int32_t shift;	/* of its lines; MERGE_ZONE: as of what opened it */
} MergeFunction;

typedef struct MergePlace {
  uint32_t id;
  int32_t shift;	/* of the lines that it calls from */
} MergePlace;

/*
** Adds a tree, of which 'function' has the functions. 'to' has room for as
** many as there are nodes. 0: out of memory.
*/
CPROF_I int merge_add (Merge *m, const Nodes *nodes,
                       const MergeFunction *function, MergePlace *to);

/* Enters its nodes without their figures. */
CPROF_I int merge_enterall (Merge *m, const Nodes *nodes,
                            const MergeFunction *function, MergePlace *to);

/*
** For others that build a tree: the node of 'func' under 'parent', made if
** need be, and 0 when out of memory; a node; its figures with those of
** another. The root has the parent 0.
*/
CPROF_I uint32_t merge_enter (Merge *m, uint32_t parent, uint32_t func,
                              uint32_t line);
CPROF_I ProfileNode *merge_node (const Merge *m, uint32_t id);
CPROF_I void merge_figures (ProfileNode *n, const ProfileNode *from);

/*
** From here on, the sum knows what was allocated, if 'nodes' do. 0: out of
** memory.
*/
CPROF_I int merge_counts (Merge *m, const Nodes *nodes);

/* Adds what was allocated in a node to node 'id', if that is known. */
CPROF_I void merge_allocated (const Merge *m, uint32_t id,
                              const Nodes *nodes, uint32_t from);

/*
** How many nodes the sum has, and a copy of them, without totals, and of
** what was allocated in them, unless 'memory' is NULL.
*/
CPROF_I uint32_t merge_count (const Merge *m);
CPROF_I void merge_copy (const Merge *m, ProfileNode *list,
                         NodeMemory *memory);

#endif

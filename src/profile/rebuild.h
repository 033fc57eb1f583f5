/*
** Trees that are made of others: sums of several profiles, groups in place of
** functions, less recursion, fewer nodes, calls of one tree with times of
** another. Each node goes into a node of the new tree, which has the sums of
** their figures.
**
** All memory comes from an arena.
*/

#ifndef rebuild_h
#define rebuild_h

#include "base/index.h"
#include "profile/profile.h"


/* a new tree */
typedef struct Merge {
  const Memory *memory;
  Chunks nodes;		/* of MergeNode; the first one is not used */
  Index index;		/* nodes by parent, function and line */
  int allocated;	/* has any of the trees counted allocations? */
} Merge;

#define MERGE_ROOT	1u	/* id of the first node that is entered */

/* Begins a tree without nodes. */
CPROF_I void merge_init (Merge *m, const Memory *memory);

/*
** The id of the node that 'func' has under 'parent', called from 'line', new
** or not. The root has the parent 0.
*/
CPROF_I uint32_t merge_enter (Merge *m, uint32_t parent, uint32_t func,
                              uint32_t line);
CPROF_I ProfileNode *merge_node (const Merge *m, uint32_t id);

/* which figures of nodes are added */
#define MERGE_CALLS	1u
#define MERGE_DEPTH	2u	/* tail calls, and the largest depth; calls without
			   it: the depth is not known, and becomes 1 */
#define MERGE_TIMES	4u	/* without others: samples' ns replace 'raw' */
#define MERGE_ALL	(MERGE_CALLS | MERGE_DEPTH | MERGE_TIMES)

/* Adds the figures of each node to the node 'to', unless that is 0. */
CPROF_I void merge_add (Merge *m, const Nodes *nodes, const uint32_t *to,
                        unsigned what);

/*
** 'merge_count' gives the number of nodes. 'merge_copy' copies them to 'list',
** with totals, and their allocations to 'memory' unless that is NULL.
*/
CPROF_I uint32_t merge_count (const Merge *m);
CPROF_I void merge_copy (const Merge *m, ProfileNode *list,
                         NodeMemory *memory);


#define MERGE_ZONE	INT32_MIN

/* which function of the new tree a function is */
typedef struct MergeFunction {
  uint32_t func;
  int32_t shift;	/* to add to its lines; MERGE_ZONE: its caller's */
} MergeFunction;

/*
** Enters all nodes of a tree. 'function' gives the function of the new tree
** for each of its functions. Returns the node of each.
*/
CPROF_I uint32_t *merge_places (Merge *m, const Nodes *nodes,
                                const MergeFunction *function);


/*
** Enters overhead, the nodes for which 'kept' is not 0, and all above these.
** They have no figures yet. Returns the node of each; 0: it has none.
*/
CPROF_I uint32_t *merge_needed (Merge *m, const Nodes *nodes,
                                const uint32_t *kept);


#define FOLD_ALL	UINT32_MAX

/*
** The tree as people read it: the functions of a group are one, and a call of
** a group that is already on the path goes to its node there, so that recursion
** is one node with a depth. 'group' gives the group of each node, a number
** below 'groups'; this sets it to 'groups' for nodes that are left out. Unless
** 'base' is FOLD_ALL, all nodes are left out but those of this group and below,
** and its outermost calls become one node under the root. 'native' tells which
** groups are of C, and when they are recursion; NULL: none is. FOLD_ALONE and
** FOLD_NEIGHBORS are C frames that Lua has not called. Lua's own are there once
** for each call, so FOLD_ALONE are recursion only if nothing but C frames is
** between, and FOLD_NEIGHBORS only if nothing is. FOLD_CALLED are C functions
** that Lua calls: they are recursion only if nothing is between, or what stands
** between two calls of pcall would be hidden.
*/
#define FOLD_ALONE	1u
#define FOLD_NEIGHBORS	2u
#define FOLD_CALLED	3u

CPROF_I void fold_groups (Merge *m, const Nodes *nodes, uint32_t *group,
                          uint32_t groups, uint32_t base,
                          const uint32_t *native);

/*
** A tree that begins with other functions, or with short paths. 'root' tells
** with which functions the new tree begins: their outermost nodes go under the
** root. NULL: with the old root. 'zone' tells which functions are zones; NULL:
** recursion does not fold. If it folds, a function that is called again below
** itself has no callees there but zones; the others go to its caller. So paths
** are short, and the totals of functions stay the same. There is a node for
** profiler overhead, but without time.
*/
CPROF_I void fold_paths (Merge *m, const Nodes *nodes, const uint32_t *root,
                         const uint32_t *zone);

/*
** Makes a tree with the figures of some nodes only: those for which 'kept' is
** not 0. Nodes above them stay, without figures of their own. The node for
** profiler overhead gets the overhead of these nodes.
*/
CPROF_I void fold_kept (Merge *m, const Nodes *nodes, const uint32_t *kept);


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
** id of the function that sums belong to, above all others.
*/
CPROF_I void prune_weigh (PruneSize *size, const Memory *m,
                          const Nodes *nodes, int64_t least,
                          const PruneBytes *bytes, uint32_t below);

/*
** Nodes with a total of less than 'least' ns are added up in a node of function
** 'below', a callee of their nearest ancestor that has more. There is a node
** for profiler overhead, but without time. Returns the number of nodes that
** were added up.
*/
CPROF_I uint32_t prune_cut (Merge *m, const Nodes *nodes, int64_t least,
                            uint32_t below);


/* one of two trees that are joined */
typedef struct JoinTree {
  const Nodes *nodes;
  const MergeFunction *function;
} JoinTree;

/* ns of the second tree, by how they were matched */
typedef struct JoinShares {
  int64_t path;		/* to nodes of the same call path */
  int64_t function;	/* to other nodes of the same function */
  int64_t none;		/* nowhere: the first tree has no such function */
} JoinShares;

/*
** Two trees of one program: calls from the first, times from the second. A node
** that both trees have gets both. Times of nodes that only the second tree has
** are shared, in proportion to calls, by the nodes that have the same call path
** with other lines of calls, or with zones on it. If there are none, the nodes
** of the same function share them. 'zone' tells which functions are zones.
*/
CPROF_I JoinShares join_trees (Merge *m, const JoinTree *calls,
                               const JoinTree *times, const uint32_t *zone);

#endif

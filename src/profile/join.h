/*
** Joins two trees of one program: calls from the first, times from the
** second. A node that both trees have gets both. Times of nodes that only
** the second tree has are shared, in proportion to calls, by the nodes that
** have the same call path with other lines of calls. If there are none, the
** nodes of the same function share them.
*/

#ifndef join_h
#define join_h

#include "profile/merge.h"


/* ns of the second tree, by where they went */
typedef struct JoinShares {
  int64_t path;		/* to nodes of the same call path */
  int64_t function;	/* to other nodes of the same function */
  int64_t none;		/* nowhere: the first tree has no such function */
} JoinShares;

typedef struct Join {
  Merge sum;
  Merge paths;		/* call paths of 'sum', without lines of calls */
  uint32_t counted;	/* nodes with lower ids are of the first tree */
  JoinShares shares;
} Join;

/* Begins a join without nodes. 0: out of memory; free it even then. */
CPROF_I int join_init (Join *j, const Memory *memory);
CPROF_I void join_free (Join *j);

/*
** 'join_calls' adds the calls of the first tree, then 'join_times' the times
** of the second. 'to' has room for as many places as there are nodes. 0: out
** of memory.
*/
CPROF_I int join_calls (Join *j, const Nodes *nodes,
                        const MergeFunction *function, MergePlace *to);
CPROF_I int join_times (Join *j, const Nodes *nodes,
                        const MergeFunction *function, MergePlace *to);

/* the nodes of one call path, or of one function */
typedef struct JoinGroup {
  int64_t calls;	/* of all its nodes */
  int64_t left;		/* calls of its nodes that have no share yet */
  int64_t self, raw, wait;	/* ns that are not yet given to nodes */
} JoinGroup;

/* Sets 'path' of each node of the sum, by id. 0: out of memory. */
CPROF_I int join_paths (Join *j, uint32_t *path);

/*
** Moves times to nodes that have calls, by path and then by function.
** 'ofpath' and 'offunction' are zero, and have room for all paths and
** functions.
*/
CPROF_I void join_move (Join *j, const uint32_t *path, JoinGroup *ofpath,
                        JoinGroup *offunction);

/*
** Numbers the nodes of the result: those of the first tree, those with time
** left, and the callers of these. Sets 'id', which is zero and has room for
** all nodes of the sum; UINT32_MAX: not in the result. Returns the number of
** nodes in the result.
*/
CPROF_I uint32_t join_number (const Join *j, uint32_t *id);

/* Copies the nodes that 'id' numbers to 'list', without totals. */
CPROF_I void join_copy (const Join *j, const uint32_t *id,
                        ProfileNode *list);

#endif

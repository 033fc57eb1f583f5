/*
** Joins two trees of one program: calls from one, times from the other. A
** node that both have gets both. Time in nodes that only the second tree
** has goes to nodes with the same call path but for the lines of calls,
** else to those of the same function, by their calls.
*/

#ifndef join_h
#define join_h

#include "profile/merge.h"


/* ns of the second tree, by what became of them */
typedef struct JoinShares {
  int64_t path;		/* stayed in their call path */
  int64_t function;	/* went to other nodes of the function */
  int64_t none;		/* the first tree does not have the function */
} JoinShares;

typedef struct Join {
  Merge sum;
  Merge paths;		/* its call paths, without lines of calls */
  uint32_t counted;	/* nodes of the sum below this have calls */
  JoinShares shares;
} Join;

/* 0: out of memory; it is to be freed all the same. */
CPROF_I int join_init (Join *j, const Memory *memory);
CPROF_I void join_free (Join *j);

/*
** First the calls of one tree, then the times of the other. 'to' has room
** for as many places as there are nodes. 0: out of memory.
*/
CPROF_I int join_calls (Join *j, const Nodes *nodes,
                        const MergeFunction *function, MergePlace *to);
CPROF_I int join_times (Join *j, const Nodes *nodes,
                        const MergeFunction *function, MergePlace *to);

/* what is known of nodes that are of one path, or of one function */
typedef struct JoinGroup {
  int64_t calls;	/* of all its nodes */
  int64_t left;		/* calls of its nodes that got nothing yet */
  int64_t self, raw, wait;	/* that are left */
} JoinGroup;

/* Sets the path of each node of the sum. 0: out of memory. */
CPROF_I int join_paths (Join *j, uint32_t *path);

/*
** Moves times to nodes that have calls, by path and then by function. There
** is clear room for as many groups as there are paths and functions.
*/
CPROF_I void join_move (Join *j, const uint32_t *path, JoinGroup *ofpath,
                        JoinGroup *offunction);

/*
** Numbers the nodes that have calls, time, or such a node below, in 'id',
** which has room for all and is clear. How many these are.
*/
CPROF_I uint32_t join_number (const Join *j, uint32_t *id);

/* Copies these nodes, without totals. */
CPROF_I void join_copy (const Join *j, const uint32_t *id,
                        ProfileNode *list);

#endif

/*
** A snapshot: makes a profile of a recording. It copies all figures, so the
** recording may go on.
*/

#ifndef snapshot_h
#define snapshot_h

#include "cost/compensate.h"
#include "count/recording.h"
#include "profile/profile.h"


typedef struct Snapshot {
  ProfileNode *node;	/* of each node of the tree, in the same order; owned
			   by the caller */
  NodeMemory *allocated;	/* of each node, owned by the caller; NULL:
				   allocations were not counted */
  uint32_t nodes;
  ProfileLine *line;	/* the lines for which something was counted */
  uint32_t lines, linecapacity;
  uint32_t *func;	/* of each function: its number here, plus one; 0: it
			   has no nodes */
  uint32_t functions;	/* number of functions that have nodes */
  Scale scale;		/* converts ticks to ns */
  double weight;	/* mode sample: ns of running time for a weight of 1 */
  Costs costs;		/* costs of events, if 'overhead' is known */
  int64_t wall;		/* ns; includes the next three */
  int64_t paused;	/* ns in which nothing was recorded */
  int64_t preempted;	/* ns in which others had the processor */
  int64_t overhead;	/* ns of NODE_OVERHEAD */
  int64_t clamped;	/* ns by which overhead exceeded times of nodes */
} Snapshot;

/*
** Takes a snapshot. Ticks become ns by rounding their running sum, so nodes
** add up to the whole without a remainder, and the lines of a function add
** up to its self time with its zones. 'node' has room for all nodes, and
** so has 'memory', unless it is NULL. All other memory comes from the arena
** 'm'.
*/
CPROF_I void snapshot_take (Snapshot *s, const Memory *m, Recording *r,
                            const Overhead *o, ProfileNode *node,
                            NodeMemory *memory);

/* 'whole' times 'part' / 'all'; 'whole' if 'part' is not less than 'all'. */
CPROF_I int64_t snapshot_share (int64_t whole, double part, double all);

/* Parts that share a whole by their weights, one after the other. */
typedef struct Shares {
  int64_t whole, taken;
  double all, upto;	/* weight of all parts, and of those so far */
} Shares;

CPROF_I Shares snapshot_shares (int64_t whole, double all);

/* The share of the next part. All shares add up to the whole. */
CPROF_I int64_t snapshot_next (Shares *s, double weight);

/* Makes a snapshot that has the numbers of functions and nothing else. */
CPROF_I void snapshot_number (Snapshot *s, const Memory *m,
                              const Recording *r);

#endif

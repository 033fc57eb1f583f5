/*
** A snapshot: a recording as a profile. It has a copy of all figures, so
** that the recording may go on.
*/

#ifndef snapshot_h
#define snapshot_h

#include "cost/compensate.h"
#include "count/recording.h"
#include "profile/profile.h"


/* the overhead that is to be taken out of the times */
typedef struct Overhead {
  const char *unknown;	/* why it stays in the times, or NULL */
  Costs costs;		/* as measured */
  const Chunks *nodes;	/* int64_t: ns of each node; NULL: by 'costs' */
  const Chunks *lines;	/* const int64_t *: by function, ns of each line */
} Overhead;

typedef struct Snapshot {
  const Memory *memory;
  ProfileNode *node;	/* of each node of the tree, in the same order; the
			   caller's */
  NodeMemory *allocated;	/* likewise; NULL: allocations were not counted */
  uint32_t nodes;
  ProfileLine *line;	/* those for which something was counted */
  uint32_t lines, linecapacity;
  uint32_t *func;	/* of each function: its number here, plus one; 0: it
			   has no nodes */
  uint32_t funccapacity;
  uint32_t functions;	/* that have a number */
  Scale scale;		/* ns in a tick */
  double weight;	/* of samples: ns for what stands for 1 ns */
  Costs costs;		/* as far as 'overhead' is known */
  int64_t wall;		/* ns */
  int64_t paused;	/* ns of that in which nothing was recorded ... */
  int64_t preempted;	/* ... and in which others had the processor */
  int64_t overhead;	/* ns of that */
  int64_t clamped;	/* ns by which overhead exceeded times */
} Snapshot;

/*
** Takes a snapshot. Ticks become ns by rounding their running sum, so that
** nodes add up to the whole without a remainder, and the lines of a
** function to its self time and that of its zones. 'node' has room for all
** nodes, and 'memory', unless it is NULL, for what was allocated in them.
** 0: out of memory, and there is nothing to free.
*/
CPROF_I int snapshot_take (Snapshot *s, Recording *r, const Overhead *o,
                           ProfileNode *node, NodeMemory *memory);
CPROF_I void snapshot_free (Snapshot *s);

/*
** The part of 'whole' up to which a running sum of 'all' has come: rounded
** so, shares add up to the whole. All of it where 'all' is 0.
*/
CPROF_I int64_t snapshot_share (int64_t whole, double part, double all);

/* Numbers functions alone, for those that have nodes. Likewise. */
CPROF_I int snapshot_number (Snapshot *s, const Recording *r);

#endif

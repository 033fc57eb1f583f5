/*
** Compensation: how much overhead is in the times of a recording. It follows
** from the number of events, which is exact, and the measured cost of each.
*/

#ifndef compensate_h
#define compensate_h

#include "cost/costs.h"
#include "count/recording.h"


/* the overhead to take out of the times */
typedef struct Overhead {
  const char *unknown;	/* why it is not taken out, or NULL */
  Costs costs;		/* as measured */
  const Chunks *nodes;	/* int64_t: ns of each node; NULL: by 'costs' */
  const Chunks *lines;	/* const int64_t *: by function, ns of each line */
} Overhead;

/*
** The costs in this recording: the 'measured' ones, corrected by what its
** timed events took within the hook. 'rate' is ns in a tick.
*/
CPROF_I Costs compensate_costs (const Recording *r, const Costs *measured,
                                double rate);

/* Sets 'ps' of each node to the overhead of calls in its time, in ps. */
CPROF_I void compensate_nodes (const Recording *r, const Costs *c,
                               double *ps);

/*
** The overhead in ps of the switches that calls of a node make. It is in the
** time of the node's caller.
*/
CPROF_I double compensate_switches (const Recording *r, const Costs *c,
                                    uint32_t id);

/* The overhead in ns on a line that took 'raw' ns; never more than 'raw'. */
CPROF_I double compensate_line (const Costs *c, const Line *l, double raw);

/*
** The mean overhead in ns of the 'events' so far, while recording. What nodes
** cost when they are made is left out: most are made when a program starts, and
** a mean would charge it to all later events. 'rate' is ns in a tick.
*/
CPROF_I double compensate_mean (const Recording *r, const Costs *measured,
                                double rate, uint64_t events);

#endif

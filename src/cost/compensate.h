/*
** Compensation: how much overhead is in the times of a recording, by exact
** counts of events and the measured costs of each.
*/

#ifndef compensate_h
#define compensate_h

#include "cost/costs.h"
#include "count/recording.h"


/*
** The costs of this recording: 'measured' ones, corrected by what its
** timed events took within the hook. 'rate' is ns in a tick.
*/
CPROF_I Costs compensate_costs (const Recording *r, const Costs *measured,
                                double rate);

/* Sets 'ps' of each node to the overhead of calls in it. */
CPROF_I void compensate_nodes (const Recording *r, const Costs *c,
                               double *ps);

/* The overhead on a line that took 'raw' ns, in ns; at most that. */
CPROF_I double compensate_line (const Costs *c, const Line *l, double raw);

#endif

/*
** Compensation: takes what recording has cost out of the times of a
** snapshot, by exact counts of events and the costs that were measured,
** and gives it to the profiler's own node. So the whole stays the whole.
*/

#ifndef compensate_h
#define compensate_h

#include "recording.h"
#include "snapshot.h"


/*
** What events of this recording have cost, as far as some of them were
** timed; 'scale' is ns in a tick.
*/
CPROF_I Costs compensate_costs (const Recording *r, Scale scale);

/* ps that 'hits' of a line have cost, with INSTRUCTIONS times 'counts' */
CPROF_I double compensate_line (const Costs *c, double hits, double counts,
                                LineCode code);

/*
** Takes what 's->costs' are out of nodes. Adjusts 'self' of all nodes, whose 'raw' and 'owner', and 'own' of all
** functions, are those as recorded; there is a node of the profiler's own.
** Sets 'clamped'.
*/
CPROF_I void compensate (const Recording *r, Snapshot *s, uint32_t nodes);

#endif

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

/*
** Takes 's->costs' out of nodes, of which there are so many: adjusts their
** 'self', and 'left' of lines. 'raw' and 'owner' of nodes, 'raw' of lines
** and 'own' of functions are those as recorded; there is a node of the
** profiler's own. Sets 'clamped', and 'callcost' of functions.
*/
CPROF_I void compensate (const Recording *r, Snapshot *s, uint32_t nodes);

#endif

/*
** The rest of a time axis with slices: what was counted since the last slice
** ended, as a slice of its own. It is made from the counters, as a program may
** be killed before the recorder ends its slice.
*/

#ifndef rest_h
#define rest_h

#include "profile/range.h"


/*
** Makes an axis of all that was counted since the last slice of 'd', until
** 'end', in ticks. Its places have ids that follow those of 'd'. All memory
** comes from an arena.
*/
CPROF_I void rest_make (Axis *rest, const AxisData *d, const Memory *m,
                        const Recording *r, uint64_t end);

/* Appends an axis that 'rest_make' has made, for which there is room. */
CPROF_I void rest_append (AxisData *d, const Axis *rest);

#endif

/*
** Calibration: measures what recording costs, on a Lua state of its own,
** with the hook of the mode that is going to be recorded.
*/

#ifndef calibrate_h
#define calibrate_h

#include "recording.h"


/*
** What it costs to record as 'o' asks for it, measured for so many ns.
** 0: out of memory.
*/
CPROF_I int calibrate (Recording *r, const Options *o, unsigned ns,
                       Costs *costs);

#endif

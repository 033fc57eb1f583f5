/*
** Calibration: measures the costs of events in a Lua state of its own, with
** the hook of the mode that is to be recorded.
*/

#ifndef calibrate_h
#define calibrate_h

#include "cost/costs.h"
#include "follow/recorder.h"


/*
** Measures the costs of recording with these options, for 'ns' of processor
** time. 0: out of memory.
*/
CPROF_I int calibrate (const Memory *m, const Options *o, unsigned ns,
                       Costs *costs);

#endif

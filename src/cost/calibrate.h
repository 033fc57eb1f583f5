/*
** Calibration: measures the costs of events, in a scratch state, with the
** event function of the mode that is to be recorded.
*/

#ifndef calibrate_h
#define calibrate_h

#include "cost/costs.h"
#include "follow/recorder.h"


/*
** The costs of recording with these options, measured for so many ns. 0:
** out of memory.
*/
CPROF_I int calibrate (const Memory *m, const Options *o, unsigned ns,
                       Costs *costs);

#endif

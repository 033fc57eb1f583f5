/*
** Calibration: measures what recording costs, on a Lua state of its own,
** with the hook of the mode that is going to be recorded.
*/

#ifndef calibrate_h
#define calibrate_h

#include "recording.h"


/*
** What recording costs as 'o' asks for it, or why this is not known: gives
** that, or NULL. It measures once for each way to record, for some ms;
** 'anew': again.
*/
CPROF_I const char *calibrate (Recording *r, const Options *o, int anew,
                               Costs *costs);

/*
** While it was measured what 'r' costs, a neighbour may have kept the
** machine busy, for so short a time is easily hit as a whole. So this
** takes another look, some time after the last one; the median of the
** last ones counts.
*/
CPROF_I void calibrate_check (Recording *r);

#endif

/*
** Looks at what recording costs. One takes some ms, and is easily hit as a
** whole by a neighbour that keeps the machine busy; so there are several,
** some time apart, and their median counts.
*/

#ifndef looks_h
#define looks_h

#include "recording.h"


/*
** What recording costs as 'o' asks for it, or why this is not known: gives
** that, or NULL. It looks once for each way to record; 'anew': again, and
** what is seen then is what it costs.
*/
CPROF_I const char *looks_costs (Recording *r, const Options *o, int anew,
                                 Costs *costs);

/* another look at what 'r' costs, for a shorter time, if the last is old */
CPROF_I void looks_again (Recording *r);

#endif

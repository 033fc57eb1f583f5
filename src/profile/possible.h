/*
** Checks that figures are possible. In a file, which anyone may have
** written, they can be anything. Code that adds them up needs sums that do
** not overflow, and readers need figures that a program can have.
*/

#ifndef possible_h
#define possible_h

#include "count/recording.h"


/* largest figure of a whole profile, so that two of them can be added */
#define FIGURES_MOST	(INT64_MAX / 2)

/*
** Names figures that are impossible, such as "figures of a node"; NULL: all
** are possible. 'scale' converts ticks to ns.
*/
CPROF_I const char *possible_not (const Recording *r, Scale scale);

#endif

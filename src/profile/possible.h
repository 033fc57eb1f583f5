/*
** Is it possible? Figures that are read from a file, or lie in one that
** others can write to, may be anything. What adds them up relies on sums
** that do not overflow, and a reader on what a program can have done.
*/

#ifndef possible_h
#define possible_h

#include "profile/snapshot.h"


/*
** Which figures cannot be, as "figures of a node"; NULL: none. 'scale' is ns
** in a tick.
*/
CPROF_I const char *possible_not (const Recording *r, Scale scale);

#endif

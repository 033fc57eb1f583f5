/*
** Makes a recording of the blocks and records of a file. They were found
** to lie within it; of what they hold, nothing is believed.
*/

#ifndef restore_h
#define restore_h

#include "reader.h"


/* 0: it is damaged, or out of memory */
CPROF_I int restore (Loaded *l);

#endif

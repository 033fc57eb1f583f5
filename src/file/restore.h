/*
** Makes a recording of the blocks and records of a file, which lie within
** it. Of what they hold, nothing is believed.
*/

#ifndef restore_h
#define restore_h

#include "file/reader.h"


/* 0: it is damaged, or out of memory; 'l->why' says which. */
CPROF_I int restore (Loaded *l);

#endif

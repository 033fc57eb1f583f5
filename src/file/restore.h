/*
** Makes a recording of the blocks and records of a file, which the reader has
** found to lie within the file. All their contents are checked before use.
*/

#ifndef restore_h
#define restore_h

#include "file/reader.h"


/* 0: the file is damaged, or out of memory; 'l->why' says which. */
CPROF_I int restore (Loaded *l);

#endif

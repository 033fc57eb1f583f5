/*
** The checksum of a complete file, which detects damage. A file has none
** while recording goes on, because its counters change all the time then.
*/

#ifndef checksum_h
#define checksum_h

#include "file/format.h"


/*
** The checksum of a file of 'size' bytes. It leaves out the fields 'checksum'
** and 'state' of the header, so that it can be written before the state
** changes. Never 0.
*/
CPROF_I uint64_t checksum_of (const char *bytes, size_t size);

/* The checksum of any bytes. */
CPROF_I uint64_t checksum_bytes (const char *p, size_t size);

#endif

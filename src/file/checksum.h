/*
** The checksum of a complete file, by which damage is seen. No one can set it
** while recording goes on, for the counters change all the time.
*/

#ifndef checksum_h
#define checksum_h

#include "file/format.h"


/*
** That of the 'size' bytes of a file, from its header on: all but the field
** itself and the state, so that it can be there before the state changes.
** Never 0.
*/
CPROF_I uint64_t checksum_of (const char *bytes, size_t size);

/* The same of any bytes. */
CPROF_I uint64_t checksum_bytes (const char *p, size_t size);

#endif

/*
** Probes: can memory be read at all, before it is? The system tells: it
** refuses to copy what it cannot read, from this process to itself or to a
** pipe.
*/

#ifndef probe_h
#define probe_h

#include <stddef.h>

#include "base/platform.h"


typedef struct MemoryProbe {
  PlatformFile read, write;	/* the pipe's ends */
  long process;		/* that opened it */
  unsigned generation;	/* ... see platform.h */
} MemoryProbe;

/* 0: no pipe can be had */
CPROF_I int probe_open (MemoryProbe *p);
CPROF_I void probe_close (const MemoryProbe *p);

#define PROBE_MOST	512	/* bytes at once; a pipe takes as many */

/* 0: the bytes at 'at' cannot be read. May be called in a signal handler. */
CPROF_I int probe_copy (const MemoryProbe *p, const void *at, void *to,
                        size_t size);

static inline int probe_readable (const MemoryProbe *p, const void *at,
                                  size_t size) {
  char bytes[PROBE_MOST];
  return probe_copy(p, at, bytes, size);
}

#endif

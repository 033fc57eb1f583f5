/*
** Probes find out whether memory can be read, without a fault if it cannot.
** The system is asked to copy the memory, from this process to itself or to
** a pipe; it refuses to copy what cannot be read.
*/

#ifndef probe_h
#define probe_h

#include <stddef.h>

#include "base/platform.h"


typedef struct MemoryProbe {
  PlatformFile read, write;	/* the pipe's ends */
  PlatformSelf owner;	/* the process that opened the pipe */
} MemoryProbe;

/* 0: the system gives no pipe */
CPROF_I int probe_open (MemoryProbe *p);
CPROF_I void probe_close (const MemoryProbe *p);

#define PROBE_MOST	512	/* most bytes at once; every pipe holds that */

/*
** Copies up to PROBE_MOST bytes. 0: the bytes at 'at' cannot be read. May be
** called in a signal handler.
*/
CPROF_I int probe_copy (const MemoryProbe *p, const void *at, void *to,
                        size_t size);

static inline int probe_readable (const MemoryProbe *p, const void *at,
                                  size_t size) {
  char bytes[PROBE_MOST];
  return probe_copy(p, at, bytes, size);
}

#endif

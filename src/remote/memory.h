/*
** The memory of another process, which is read through one function. It may
** fail for any address, and may return anything: what reads here trusts
** nothing that it has read.
*/

#ifndef remote_memory_h
#define remote_memory_h

#include <stddef.h>
#include <stdint.h>

#include "base/platform.h"

#if PLATFORM_WATCH


#define REMOTE_PAGE	4096	/* bytes that are read at once */
#define REMOTE_PAGES	256	/* pages that are kept */
#define REMOTE_CHUNK	65536	/* bytes that are searched at once */

/* Reads 'size' bytes from an address there. 0: not all can be read. */
typedef int (*RemoteRead) (void *ud, uint64_t at, void *to, size_t size);

typedef struct RemoteMemory {
  RemoteRead read;
  void *ud;
  uint64_t pages[REMOTE_PAGES];	/* addresses, with a REMOTE_... bit */
  unsigned char bytes[REMOTE_PAGES][REMOTE_PAGE];
  unsigned char chunk[REMOTE_CHUNK];
} RemoteMemory;

CPROF_I void remote_open (RemoteMemory *m, RemoteRead read, void *ud);

/* Forgets what was read, since it may have changed. */
CPROF_I void remote_forget (RemoteMemory *m);

/* Copies from an address there. 0: not all can be read. */
CPROF_I int remote_copy (RemoteMemory *m, uint64_t at, void *to, size_t size);

/*
** Reads up to a chunk into 'm->chunk', where pages that cannot be read are
** zeros. Returns its size. Nothing is kept.
*/
CPROF_I size_t remote_chunk (RemoteMemory *m, uint64_t from, uint64_t to);

/* Read numbers and addresses; what cannot be read is 0. */
CPROF_I uint64_t remote_word (RemoteMemory *m, uint64_t at);
CPROF_I uint32_t remote_half (RemoteMemory *m, uint64_t at);
CPROF_I unsigned remote_byte (RemoteMemory *m, uint64_t at);

#endif

#endif

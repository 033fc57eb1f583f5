/*
** An arena: memory that is freed all at once. Where no memory is left, it calls
** a function that does not return, so its users never get NULL.
*/

#ifndef arena_h
#define arena_h

#include "base/memory.h"


typedef struct Arena {
  Memory memory;	/* to allocate in the arena; what it gives need not be
			   freed one by one */
  Memory from;		/* where its blocks come from */
  void (*fail) (void *ud);
  void *ud;
  struct ArenaBlock *first;
} Arena;

CPROF_I void arena_init (Arena *a, const Memory *from,
                         void (*fail) (void *ud), void *ud);
CPROF_I void arena_free (Arena *a);

#endif

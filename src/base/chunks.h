/*
** Typed storage that grows by chunks. An item never moves and is never
** freed on its own, so records can point to it and another process can
** map it.
*/

#ifndef chunks_h
#define chunks_h

#include "base/memory.h"


/*
** A source of chunks other than memory: the pages of a file (file/mapped.h).
** 'get' returns pages of zeros for chunk number 'owner', aligned to a cache
** line. They are never given back one by one.
*/
typedef struct Pages {
  void *(*get) (const struct Pages *p, uint32_t owner, size_t size);
			/* NULL: no room */
  void *ud;
  uint32_t kind;	/* what the pages are for; known to 'get' */
  uint32_t *published;	/* number of complete items; NULL: nobody reads it */
} Pages;

/* Room of zeros, in 'p' or, if that is NULL, in memory. NULL: no room. */
static inline void *pages_new (const Pages *p, const Memory *m,
                               uint32_t owner, size_t size) {
  return p != NULL ? p->get(p, owner, size) : memory_zeroed(m, size);
}


typedef struct Chunks {
  const Memory *memory;
  const Pages *pages;	/* NULL: chunks come from 'memory' */
  char **chunk;
  size_t size;		/* bytes of an item */
  unsigned shift;	/* a chunk has 2^shift items */
  uint32_t count;	/* items */
  uint32_t chunks;
  uint32_t capacity;	/* capacity of the array 'chunk' */
  struct Chunks *next;	/* of the same ChunkSet, see index.h */
} Chunks;

CPROF_I void chunks_init (Chunks *c, const Memory *m, size_t size,
                          unsigned shift);

/* A new item of zeros; its id is the old 'count'. NULL: out of memory. */
CPROF_I void *chunks_add (Chunks *c);

/*
** Adds an item to a list whose first one is not used, and to its copy in a
** file, if there is one. NULL: out of memory.
*/
CPROF_I void *chunks_addcopied (Chunks *c, Chunks *copy);

/* Tells other processes that all items so far are complete. */
static inline void chunks_publish (const Chunks *c) {
  if (c->pages && c->pages->published)
    platform_publish(c->pages->published, c->count);
}

/* Forgets the items, keeps the chunks. */
CPROF_I void chunks_clear (Chunks *c);
CPROF_I void chunks_free (Chunks *c);

static inline void *chunks_at (const Chunks *c, uint32_t id) {
  uint32_t within = id & ((1u << c->shift) - 1);
  return c->chunk[id >> c->shift] + c->size * within;
}

#endif

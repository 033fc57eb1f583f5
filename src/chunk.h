/*
** Memory: the one place that asks for it, and typed storage that grows
** by chunks. What a chunk holds never moves and is never freed alone, so
** that records can point into it, and a later reader can map it.
*/

#ifndef chunk_h
#define chunk_h

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "platform.h"


typedef struct Memory {
  lua_Alloc alloc;
  void *ud;
} Memory;

/* all give NULL when out of memory; 'memory_resize' then keeps 'p' */
CPROF_I void *memory_resize (const Memory *m, void *p, size_t from, size_t to);
CPROF_I void memory_free (const Memory *m, void *p, size_t size);

/*
** Makes room for a 'count + 1'st element in an array of '*capacity', by
** doubling. 0 when out of memory.
*/
CPROF_I int memory_grow (const Memory *m, void **array, uint32_t *capacity,
                         uint32_t count, size_t size);

#define memory_new(m, t, n)	\
	cast(t *, memory_resize(m, NULL, 0, (n) * sizeof(t)))


/*
** Where else chunks can come from: pages that are never given back one by
** one, lie at a line of the cache, hold zeros, and belong to 'owner'.
*/
typedef struct Pages {
  void *(*get) (void *ud, uint32_t owner, size_t size);	/* NULL: none */
  void *ud;
  uint32_t *shown;	/* items that are complete; NULL: nobody looks */
} Pages;


typedef struct Chunks {
  const Memory *memory;
  const Pages *pages;	/* of the chunks; NULL: memory like all else */
  char **chunk;
  size_t size;		/* of an item */
  unsigned shift;	/* items in a chunk, as a power of two */
  uint32_t count;	/* items */
  uint32_t chunks;	/* chunks there are */
  uint32_t capacity;	/* chunks that 'chunk' has room for */
} Chunks;

CPROF_I void chunks_init (Chunks *c, const Memory *m, size_t size,
                          unsigned shift);

/* a new item of zeros, its id is 'count' before; NULL: out of memory */
CPROF_I void *chunks_add (Chunks *c);

/* all items that there are can be looked at */
static inline void chunks_show (const Chunks *c) {
  if (c->pages && c->pages->shown)
    platform_publish(c->pages->shown, c->count);
}

/* forgets the items but keeps the chunks */
CPROF_I void chunks_clear (Chunks *c);
CPROF_I void chunks_free (Chunks *c);

static inline void *chunks_at (const Chunks *c, uint32_t id) {
  uint32_t within = id & ((1u << c->shift) - 1);
  return c->chunk[id >> c->shift] + c->size * within;
}

#endif

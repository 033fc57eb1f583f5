/*
** Finds items of chunks by a hash of what they hold. An item has a field
** 'next' (uint32_t), and id 0 is none.
*/

#ifndef index_h
#define index_h

#include "chunk.h"


typedef struct Index {
  Chunks *items;
  size_t next;		/* where in an item that field is */
  uint32_t (*hash) (const void *item);
  uint32_t *bucket;
  uint32_t buckets;	/* a power of two */
} Index;

CPROF_I void index_init (Index *x, Chunks *items, size_t next,
                         uint32_t (*hash) (const void *item));
CPROF_I void index_free (Index *x);

/*
** Enters the item that was added last. 0: out of memory, and the item is
** taken away again.
*/
CPROF_I int index_last (Index *x);

/* enters all items anew, after some were changed or taken away */
CPROF_I void index_all (Index *x);

/* the first item that may have this hash; follow 'next' from there */
static inline uint32_t index_first (const Index *x, uint32_t hash) {
  return x->buckets ? x->bucket[hash & (x->buckets - 1)] : 0;
}

/* a good hash of 64 bits that are not */
static inline uint32_t index_mix (uint64_t h) {
  return (uint32_t)((h * 0x9E3779B97F4A7C15u) >> 32);
}

#endif

/*
** A hash table over the items of Chunks. An item has a field 'next'
** (uint32_t) that links its bucket; id 0 ends a bucket.
*/

#ifndef index_h
#define index_h

#include "base/chunks.h"


typedef struct Index {
  Chunks *items;
  size_t next;		/* offset of that field in an item */
  uint32_t (*hash) (const void *item);	/* NULL: of the key */
  size_t key, size;	/* offset and size of the key in an item, if all of its
			   bytes identify the item */
  uint32_t *bucket;
  uint32_t buckets;	/* a power of two */
  struct Index *nextindex;	/* in a ChunkSet */
} Index;

/* Chunks, and indexes of their items, that are cleared and freed together. */
typedef struct ChunkSet {
  const Memory *memory;
  const Pages *pages;	/* by kind; NULL: all chunks come from 'memory' */
  Chunks *first;
  Index *indexes;
} ChunkSet;

CPROF_I void chunkset_init (ChunkSet *s, const Memory *m, const Pages *pages);

/* Sets up chunks from the set's pages of this kind; 0: from memory. */
CPROF_I void chunkset_add (ChunkSet *s, Chunks *c, size_t size, unsigned shift,
                           unsigned kind);
CPROF_I void chunkset_index (ChunkSet *s, Index *x);

/* Forgets all items, keeps the chunks. */
CPROF_I void chunkset_clear (const ChunkSet *s);
CPROF_I void chunkset_free (const ChunkSet *s);

CPROF_I void index_init (Index *x, Chunks *items, size_t next,
                         uint32_t (*hash) (const void *item));
CPROF_I void index_free (Index *x);

/* An index by a field of the items, 'key', which consists of 32-bit words. */
#define index_by(x,items,type,key)	\
	index_key(x, items, offsetof(type, next), offsetof(type, key), \
		  sizeof ((type *)0)->key)
CPROF_I void index_key (Index *x, Chunks *items, size_t next, size_t key,
                        size_t size);

/* The item with this key; 0: there is none. */
CPROF_I uint32_t index_find (const Index *x, const void *key);

/*
** Enters the last item of the chunks; the table grows if need be. 0: out of
** memory, and the item is removed from the chunks.
*/
CPROF_I int index_last (Index *x);

/* Take an item out of the table, and put it back. */
CPROF_I void index_remove (Index *x, uint32_t id);
CPROF_I void index_enter (Index *x, uint32_t id);

/* Rebuilds the table, after items were changed or removed. */
CPROF_I void index_all (Index *x);

/* The first item of a bucket; follow 'next' from there. */
static inline uint32_t index_first (const Index *x, uint32_t hash) {
  return x->buckets ? x->bucket[hash & (x->buckets - 1)] : 0;
}

/* Mixes 64 bits into a hash of 32. */
static inline uint32_t index_mix (uint64_t h) {
  return (uint32_t)((h * 0x9E3779B97F4A7C15u) >> 32);
}

#endif

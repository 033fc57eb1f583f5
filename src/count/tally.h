/*
** A tally: ticks by keys, in a hash table. With a file, its counts are also
** written there.
*/

#ifndef tally_h
#define tally_h

#include "base/index.h"
#include "count/blocks.h"


#define TALLY_SHIFT	6

typedef struct TallyCount {
  uint64_t ticks;
  uint32_t key[4];
} TallyCount;

typedef struct TallyItem {
  TallyCount is;
  uint32_t next;	/* in the bucket of the hash */
} TallyItem;

typedef struct Tally {
  Chunks list;		/* of TallyItem; the first one is not used */
  Index index;
  Chunks copy;		/* of TallyCount, in a file, if there is one; never
			   read, as other programs may change the file */
} Tally;

/* 'kind': the blocks of a file that hold the copy. In memory there is none. */
CPROF_I void tally_init (Tally *t, ChunkSet *s, BlockKind kind);

/* Is there a count with the key of 'x'? */
CPROF_I int tally_has (const Tally *t, const TallyCount *x);

/* Adds the ticks of 'x'. 0: out of memory, and nothing was added. */
CPROF_I int tally_add (Tally *t, const TallyCount *x);

/* The count with id 'i', from 1 on; NULL: there are no more. */
static inline const TallyCount *tally_at (const Tally *t, uint32_t i) {
  return i < t->list.count ? &cast(const TallyItem *,
                                   chunks_at(&t->list, i))->is : NULL;
}

#endif

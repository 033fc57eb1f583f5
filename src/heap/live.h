/*
** Live blocks: where the blocks in use were allocated. Either all blocks are
** samples, or some, a number of bytes apart on average. Each sample keeps
** its node and its line until it is freed. Its figures are weighted by what
** it stands for, so sums are unbiased.
**
** In mode sample, the node and line of a block are known at the next event
** only; until then the block waits.
*/

#ifndef live_h
#define live_h

#include "follow/recorder.h"
#include "heap/gaps.h"


#define LIVE_WAITERS	64	/* waiting blocks whose addresses are kept */
#define LIVE_NOBODY	UINT32_MAX	/* node of a block that waits */

typedef struct LiveBlock {
  uintptr_t address;	/* 0: this place is free */
  int64_t *bytes_of;	/* its line's bytes in use; NULL: not counted */
  uint64_t bytes;	/* that it stands for */
  uint32_t count;	/* blocks that it stands for */
  uint32_t node;
} LiveBlock;

typedef struct Live {
  int on;
  const Memory *memory;
  LiveBlock *list;	/* hash table by address, with linear probing */
  uint32_t blocks;
  uint32_t bits;	/* 'list' has 2^bits places; 0: there is no list */
  Gaps gaps;
  int64_t sum;		/* bytes in use of all blocks, weighted */
  int waits;		/* is this mode sample? */
  uint32_t waiting;	/* number of blocks that wait for the next event */
  uintptr_t waiter[LIVE_WAITERS];	/* addresses of the first of these */
} Live;


CPROF_I void live_begin (Live *l, const Memory *m, uint64_t interval,
                         int waits);
CPROF_I void live_end (Live *l);

/* Forgets all blocks. */
CPROF_I void live_clear (Live *l);

/*
** Notes that block 'p' of 'old' bytes became 'block' of 'to' bytes. 'p' is
** NULL for a new block, 'to' is 0 for a freed one. 'sampled': it is new or
** has grown, and that is a sample, charged to what runs. 0: out of memory.
*/
CPROF_I int live_change (Live *l, Recorder *r, const void *p, size_t old,
                         const void *block, size_t to, int sampled);

/* Charges all waiting blocks to 'node', and to the line of 'bytes_of'. */
CPROF_I void live_settle (Live *l, Recorder *r, const Node *node,
                          int64_t *bytes_of);

static inline uint32_t live_home (const Live *l, uintptr_t address) {
  return (uint32_t)((uint64_t)address * 0x9E3779B97F4A7C15u >>
                    (64 - l->bits));
}

/* May 'p' be in the list? 0: it is certainly not. */
static inline int live_maybe (const Live *l, const void *p) {
  return l->list != NULL &&
         l->list[live_home(l, (uintptr_t)p)].address != 0;
}

#endif

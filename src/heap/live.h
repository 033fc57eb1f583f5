/*
** Live blocks: where what is in use was allocated. Blocks are sampled, so
** many bytes apart on average, or all are; each that is remembers its node
** and its line until it is freed. Those that are sampled stand for others:
** their figures are weighted, so that sums are true on average.
**
** In mode sample, who has made a block is known at the next event: until
** then it waits.
*/

#ifndef live_h
#define live_h

#include "follow/recorder.h"
#include "heap/gaps.h"


#define LIVE_WAITERS	64
#define LIVE_NOBODY	UINT32_MAX	/* node of a block that waits */

typedef struct LiveBlock {
  uintptr_t address;	/* 0: this place is free */
  int64_t *bytes_of;	/* bytes in use of its line; NULL: it has none */
  uint64_t bytes;	/* that it stands for */
  uint32_t count;	/* blocks that it stands for */
  uint32_t node;
} LiveBlock;

typedef struct Live {
  int on;
  const Memory *memory;
  LiveBlock *list;	/* by the hash of the address, then by turns */
  uint32_t blocks;
  uint32_t bits;	/* places: 2^bits; 0: no list */
  Gaps gaps;
  int64_t sum;		/* bytes that are in use */
  int waits;		/* is this mode sample? */
  uint32_t waiting;	/* blocks that have waited since the last event */
  uintptr_t waiter[LIVE_WAITERS];	/* their addresses, as far as there is room */
} Live;


CPROF_I void live_begin (Live *l, const Memory *m, uint64_t interval,
                         int waits);
CPROF_I void live_end (Live *l);

/* All blocks are forgotten. */
CPROF_I void live_clear (Live *l);

/*
** Block 'p' of 'old' bytes became 'block' of 'to'; each may be none. Is it
** a sample, charged to what runs, where it grew? 0: out of memory.
*/
CPROF_I int live_change (Live *l, Recorder *r, const void *p, size_t old,
                         const void *block, size_t to, int sampled);

/* What waits was made in 'node', and on the line of 'bytes_of'. */
CPROF_I void live_settle (Live *l, Recorder *r, const Node *node,
                          int64_t *bytes_of);

static inline uint32_t live_home (const Live *l, uintptr_t address) {
  return (uint32_t)((uint64_t)address * 0x9E3779B97F4A7C15u >>
                    (64 - l->bits));
}

/* 0: block 'p' is not known. */
static inline int live_maybe (const Live *l, const void *p) {
  return l->list != NULL &&
         l->list[live_home(l, (uintptr_t)p)].address != 0;
}

#endif

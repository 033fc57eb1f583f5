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

#include <stddef.h>
#include <stdint.h>

#include "base/platform.h"
#include "follow/recorder.h"


/* {======================================================
** Gaps: chooses which of the allocated blocks are samples, 'interval' bytes
** apart on average, and gives the weight of each. Whether a block is a
** sample does not depend on those before it, so sums of weights are unbiased.
** ======================================================= */

typedef struct Gaps {
  uint64_t interval;	/* average bytes between samples; 1: all blocks */
  int64_t next;		/* bytes to the next sample */
  uint64_t seed;
} Gaps;

/* the weight of a sample: what it stands for */
typedef struct BlockWeight {
  uint32_t count;	/* blocks */
  uint64_t bytes;
} BlockWeight;

CPROF_I void gaps_begin (Gaps *g, uint64_t interval);

/* Chooses the gap to the next sample. */
CPROF_I void gaps_choose (Gaps *g);

/* The weight of a sample of 'bytes' bytes. */
CPROF_I BlockWeight gaps_weight (const Gaps *g, size_t bytes);

/*
** Is the next block, of 'bytes' bytes, a sample? Call this once for each block.
*/
static inline int gaps_take (Gaps *g, size_t bytes) {
  g->next -= (int64_t)bytes;
  if (g->next > 0) return 0;
  gaps_choose(g);
  return 1;
}

/* }====================================================== */


#define LIVE_WAITERS	64	/* waiting blocks whose addresses are kept */
#define LIVE_NOBODY	UINT32_MAX	/* node of a block that waits */

typedef struct LiveBlock {
  uintptr_t address;	/* 0: this place is free */
  int64_t *bytes_of;	/* its line's bytes in use; NULL: not counted */
  uint64_t bytes;	/* bytes that it stands for */
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
  uintptr_t waiter[LIVE_WAITERS];	/* addresses of the first waiting
					   blocks */
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


/* {======================================================
** Allocations in mode "sample": each sampled block requests an event, as a
** tick does. Until then its weight waits, for the event tells who runs.
** ======================================================= */

typedef struct HeapSample {
  int on;
  Gaps gaps;
  int waits;		/* does any weight wait for the next event? */
  Allocated kind[ALLOC_KINDS];	/* sums of waiting weights, by kind */
} HeapSample;

CPROF_I void heapsample_begin (HeapSample *s, uint64_t interval);

/* Forgets all waiting weights. */
CPROF_I void heapsample_clear (HeapSample *s);

/* Adds the weight of a sampled block of 'bytes' bytes to what waits. */
CPROF_I void heapsample_add (HeapSample *s, Figures *f, AllocKind kind,
                             size_t bytes);

/*
** Charges all waiting weights to node 'n', and to the instruction with the
** counters 'at' unless that is NULL. 'before': the event came before that
** instruction ran, not at a call or return.
*/
CPROF_I void heapsample_settle (HeapSample *s, Live *l, Recorder *r,
                                const Node *n, InstructionAllocated *at,
                                int before);

/* }====================================================== */

#endif

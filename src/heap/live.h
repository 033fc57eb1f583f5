/*
** Live blocks: where the blocks in use were allocated. Either all blocks are
** samples, or some, a number of bytes apart on average. Each sample keeps
** its node and its line until it is freed. Its figures are weighted by what
** it stands for, so sums are unbiased.
**
** Where the interval adapts, all blocks are samples at first. When these are
** many, the interval grows. Some of the samples are then dropped, and the
** others stand for them, too: sums stay unbiased.
**
** In mode sample, the node and line of a block are known at the next event
** only; until then the block waits.
**
** A block that is not freed may be garbage that the collector has not found
** yet. When recording stops, such garbage is taken out of the figures by an
** estimate: of the blocks that no complete cycle of the collector has looked
** at, the share counts that was left of their node's older blocks.
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

/* Chooses the gap to the next sample. */
COLD CPROF_I void gaps_choose (Gaps *g);

/* From now on, samples are 'interval' bytes apart on average. */
COLD CPROF_I void gaps_change (Gaps *g, uint64_t interval);

/*
** Is the next block, of 'bytes' bytes, a sample? Call this once for each block.
*/
static inline int gaps_take (Gaps *g, size_t bytes) {
  g->next -= (int64_t)bytes;
  if (g->next > 0) return 0;
  if (g->interval > 1) gaps_choose(g);
  return 1;
}

/* }====================================================== */


#define LIVE_WAITERS	64	/* waiting blocks whose addresses are kept */
#define LIVE_NOBODY	UINT32_MAX	/* node of a block that waits */

typedef struct LiveBlock {
  int64_t *bytes_of;	/* its line's bytes in use; NULL: not counted */
  uint64_t bytes;	/* bytes that it stands for */
  uint32_t count;	/* blocks that it stands for */
  uint32_t node;
  uint32_t cycle;	/* 'cycle' of Live when it was new */
} LiveBlock;

#define LIVE_AGES	3

/*
** Bytes of a node's samples, by the age of the blocks: the number of cycles of
** the collector that have ended since they were new, or the highest age.
*/
typedef struct LiveNode {
  uint64_t freed[LIVE_AGES];	/* bytes freed below the highest age */
  uint64_t lasted;	/* bytes freed at the highest age */
  uint64_t left[LIVE_AGES];	/* bytes that are not freed at the end */
  uint32_t cycle;	/* 'cycle' of Live when 'freed' was last brought up to
			   date */
} LiveNode;

/*
** A hash table by address, with linear probing. Addresses have an array of
** their own, small enough to stay in the processor's cache, since each block
** that Lua frees is looked up.
*/
typedef struct Live {
  int on;
  int exact;		/* are all blocks samples, now and later? */
  const Memory *memory;
  uintptr_t *address;	/* 0: this place is free */
  LiveBlock *list;	/* the blocks with these addresses */
  uint32_t blocks;
  uint32_t bits;	/* there are 2^bits places; 0: there is no table */
  Gaps gaps;
  int64_t sum;		/* bytes in use of all blocks, weighted */
  uint32_t cycle;	/* cycles of the collector that have ended */
  uint64_t mark;	/* mode sample: 'collection_now' at the last look */
  LiveNode *node;	/* by id; not if 'exact' */
  uint32_t nodes;	/* room in 'node' */
  int waits;		/* is this mode sample? */
  uint32_t waiting;	/* number of blocks that wait for the next event */
  uintptr_t waiter[LIVE_WAITERS];	/* addresses of the first waiting
					   blocks */
} Live;


COLD CPROF_I void live_begin (Live *l, const Memory *m, uint64_t interval,
                              int adapts, int waits);
COLD CPROF_I void live_end (Live *l);

/* Forgets all blocks. */
COLD CPROF_I void live_clear (Live *l);

/*
** Changes the interval, which becomes longer. Drops some blocks; the others
** then stand for more.
*/
COLD CPROF_I void live_thin (Live *l, Recorder *r, uint64_t interval);

/*
** To be called when recording stops, so that no block changes any more. Unless
** 'exact', takes garbage out of what is in use, and lowers estimates that
** exceed the size of the heap: it is 'heap' now, and was 'most' at its peak; 0:
** not known.
*/
COLD CPROF_I void live_finish (Live *l, Recorder *r, uint64_t heap,
                               uint64_t most);

/*
** Notes that block 'p' of 'old' bytes became 'block' of 'to' bytes. 'p' is
** NULL for a new block, 'to' is 0 for a freed one. 'sampled': it is new or
** has grown, and that is a sample, charged to what runs. 0: out of memory.
*/
CPROF_I int live_change (Live *l, Recorder *r, const void *p, size_t old,
                         const void *block, size_t to, int sampled);

static inline uint32_t live_home (const Live *l, uintptr_t address) {
  return (uint32_t)((uint64_t)address * 0x9E3779B97F4A7C15u >>
                    (64 - l->bits));
}

static inline uint32_t live_mask (const Live *l) {
  return (1u << l->bits) - 1;
}

/* The place of a block, or the free place where it would be. */
static inline uint32_t live_place (const Live *l, uintptr_t address) {
  uint32_t i = live_home(l, address);
  while (l->address[i] != 0 && l->address[i] != address)
    i = (i + 1) & live_mask(l);
  return i;
}

/* Is 'p' in the table? */
static inline int live_has (const Live *l, const void *p) {
  return l->address != NULL && l->address[live_place(l, (uintptr_t)p)] != 0;
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
COLD CPROF_I void heapsample_settle (HeapSample *s, Live *l, Recorder *r,
                                     const Node *n, InstructionAllocated *at,
                                     int before);

/* }====================================================== */

#endif

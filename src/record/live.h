/*
** Live blocks: where what is in use was allocated. Blocks are sampled, so
** many bytes apart on average, or all are; each that is remembers its node
** and its line until it is freed. Those that are sampled stand for others:
** their figures are weighted, so that sums are true on average.
*/

#ifndef live_h
#define live_h

#include "record/recorder.h"


typedef struct LiveBlock {
  uintptr_t address;	/* 0: this place is free */
  Line *line;		/* or NULL */
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
  uint64_t interval;	/* bytes from sample to sample; 1: all blocks */
  int64_t next;		/* bytes to the next one */
  uint64_t seed;
  int64_t sum;		/* bytes that are in use */
} Live;


CPROF_I void live_begin (Live *l, const Memory *m, uint64_t interval);
CPROF_I void live_end (Live *l);

/* All blocks are forgotten. */
CPROF_I void live_clear (Live *l);

/*
** Block 'p' of 'old' bytes became 'block' of 'to'; each may be none. Is it
** charged to what runs, where it grew? 0: out of memory.
*/
CPROF_I int live_change (Live *l, Recorder *r, const void *p, size_t old,
                         const void *block, size_t to, int charged);

#endif

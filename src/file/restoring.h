/*
** Restores a recording from the blocks and records of a file: what the files
** that do so have in common.
*/

#ifndef restoring_h
#define restoring_h

#include "file/reader.h"


/* needed only while a file is restored */
typedef struct Restoring {
  Loaded *l;
  const FormatHeader *h;
  Recording *r;
  uint32_t *source;	/* by id of a text: index of its source; 0: none */
  uint32_t *highest;	/* by index of a source: its highest line */
  uint32_t texts, sources;	/* room in 'source' and 'highest' */
  Chunks *to;		/* where chunks go */
} Restoring;

typedef int (*RestoreBlock) (Restoring *c, const FileBlock *b);

/* Calls 'f' for each block of a kind. 0: 'f' has failed. */
static inline int restore_each (Restoring *c, BlockKind kind,
                                RestoreBlock f) {
  const FileBlock *b = block_first(c->l);
  for (; b < block_end(c->l); b = block_after(b))
    if (b->kind == (uint32_t)kind && !f(c, b)) return 0;
  return 1;
}

/* The bytes of a block, which stay where they are. */
static inline char *restore_bytes (const Restoring *c, const FileBlock *b) {
  return c->l->bytes + (block_bytes(b) - c->l->bytes);
}


/* These return 0 where the file is damaged, or out of memory. */

/* Restores functions and sources. */
CPROF_I int restore_code (Restoring *c);

/* Restores nodes, and what was counted in them, but for lines. */
CPROF_I int restore_counts (Restoring *c);

/* Restores what was counted in lines and instructions. */
CPROF_I int restore_lines (Restoring *c);

/* Restores the overhead of nodes and lines, in the file of a saved profile. */
CPROF_I int restore_overhead (Restoring *c);

/* Restores when samples came. */
CPROF_I int restore_axis (Restoring *c);

/* Restores the last events. */
CPROF_I int restore_ring (Restoring *c);

/* Charges what is not in a node yet: the time since the last event. */
CPROF_I int restore_since (Restoring *c);

#endif

/*
** Waits: for how long nodes, and their lines, waited. A table beside the
** nodes, since few of them ever wait.
*/

#ifndef waits_h
#define waits_h

#include "base/index.h"


/* what was off the processor of its own accord, in one node, on one line */
typedef struct Wait {
  uint64_t ticks;
  uint32_t node;
  int32_t line;		/* 0: lines are not counted there */
  uint32_t next;	/* in the bucket of the hash */
} Wait;

typedef struct Waits {
  Chunks list;		/* of Wait; the first stands for none */
  Index index;
} Waits;

CPROF_I void waits_init (Waits *w, const Memory *m);
CPROF_I void waits_free (Waits *w);
CPROF_I void waits_clear (Waits *w);

/* 0: out of memory, and nothing was added. */
CPROF_I int waits_add (Waits *w, uint32_t node, int line, uint64_t ticks);

/* those from 1 on; NULL: there are no more */
static inline const Wait *waits_at (const Waits *w, uint32_t i) {
  return i < w->list.count ? cast(const Wait *, chunks_at(&w->list, i)) : NULL;
}

#endif

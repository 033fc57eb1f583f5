/*
** Waits: for how long nodes, and their lines, waited. A table beside the
** nodes, since few of them ever wait.
*/

#ifndef waits_h
#define waits_h

#include "base/index.h"


#define WAITS_SHIFT	6

/* time that the thread was not on a processor for of its own accord */
typedef struct Wait {
  uint64_t ticks;
  uint32_t node;
  uint32_t func;	/* if 'node' is WAIT_LINE */
  int32_t line;		/* that ran; 0: not known */
  uint32_t unused;
} Wait;

/* The time is that of a line alone: in profiles, nodes have theirs apart. */
#define WAIT_LINE	UINT32_MAX

/* what is found by node and line */
typedef struct WaitItem {
  Wait is;
  uint32_t next;	/* in the bucket of the hash */
} WaitItem;

typedef struct Waits {
  Chunks list;		/* of WaitItem; the first one is not used */
  Index index;
  Chunks copy;		/* of Wait, where a file has them, too: only written,
			   for others may change that */
} Waits;

/* 'pages' of the copy; NULL: there is none. */
CPROF_I void waits_init (Waits *w, const Memory *m, const Pages *pages);
CPROF_I void waits_free (Waits *w);
CPROF_I void waits_clear (Waits *w);

/* 0: out of memory, and nothing was added. */
CPROF_I int waits_add (Waits *w, const Wait *x);

/* those from 1 on; NULL: there are no more */
static inline const Wait *waits_at (const Waits *w, uint32_t i) {
  return i < w->list.count ? &cast(const WaitItem *,
                                   chunks_at(&w->list, i))->is : NULL;
}

#endif

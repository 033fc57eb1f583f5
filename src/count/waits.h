/*
** Waits: for how long nodes, and their lines, waited. They have a table of
** their own, since few nodes ever wait.
*/

#ifndef waits_h
#define waits_h

#include "base/index.h"


#define WAITS_SHIFT	6

/* time for which the thread had left its processor by itself */
typedef struct Wait {
  uint64_t ticks;	/* in mode sample: a weight, see Node */
  uint32_t node;
  uint32_t func;	/* the line's function, if 'node' is WAIT_LINE */
  int32_t line;		/* the line that ran; 0: not known */
  uint32_t unused;
} Wait;

/*
** The 'node' of a wait that counts for a line only. Saved profiles have these:
** there, the waits of nodes and of lines are apart.
*/
#define WAIT_LINE	UINT32_MAX

/* a wait in the table, found by node, function and line */
typedef struct WaitItem {
  Wait is;
  uint32_t next;	/* in the bucket of the hash */
} WaitItem;

typedef struct Waits {
  Chunks list;		/* of WaitItem; the first one is not used */
  Index index;
  Chunks copy;		/* of Wait, in a file, if there is one; never read, as
			   other programs may change the file */
} Waits;

/* 'pages' are for the copy; NULL: there is none. */
CPROF_I void waits_init (Waits *w, const Memory *m, const Pages *pages);
CPROF_I void waits_free (Waits *w);
CPROF_I void waits_clear (Waits *w);

/* Adds the ticks of a wait. 0: out of memory, and nothing was added. */
CPROF_I int waits_add (Waits *w, const Wait *x);

/* The wait with id 'i', from 1 on; NULL: there are no more. */
static inline const Wait *waits_at (const Waits *w, uint32_t i) {
  return i < w->list.count ? &cast(const WaitItem *,
                                   chunks_at(&w->list, i))->is : NULL;
}

#endif

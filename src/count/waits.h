/*
** Waits: for how long nodes, and their lines, waited. They have a table of
** their own, since few nodes ever wait.
*/

#ifndef waits_h
#define waits_h

#include "count/tally.h"


/* time in which the thread had voluntarily given up its processor (blocked) */
typedef struct Wait {
  uint64_t ticks;	/* in mode sample: a weight, see Node */
  uint32_t node;
  uint32_t func;	/* the line's function, if 'node' is WAIT_LINE */
  int32_t line;		/* the line that ran; 0: not known */
} Wait;

/*
** The 'node' of a wait that counts for a line only. Saved profiles have these:
** there, the waits of nodes and of lines are apart.
*/
#define WAIT_LINE	UINT32_MAX

/* Adds the ticks of a wait. 0: out of memory, and nothing was added. */
static inline int waits_add (Tally *t, const Wait *w) {
  TallyCount x = ZEROS;
  x.ticks = w->ticks;
  x.key[0] = w->node;
  x.key[1] = w->func;
  x.key[2] = (uint32_t)w->line;
  return tally_add(t, &x);
}

static inline Wait wait_of (const TallyCount *x) {
  Wait w;
  w.ticks = x->ticks;
  w.node = x->key[0];
  w.func = x->key[1];
  w.line = (int32_t)x->key[2];
  return w;
}

/* Sets '*w' to the wait with id 'i', from 1 on. 0: there are no more. */
static inline int waits_at (const Tally *t, uint32_t i, Wait *w) {
  const TallyCount *x = tally_at(t, i);
  if (x == NULL) return 0;
  *w = wait_of(x);
  return 1;
}

#endif

/*
** Spots: the machine instructions at which samples have found the thread, where
** signal handlers can tell that. A spot belongs to the function on top of
** Lua's stack; its weight is a part of that function's running time.
*/

#ifndef spots_h
#define spots_h

#include "count/tally.h"


/* most spots that are kept; all others of a function are one, SPOT_MORE */
#if !defined(SPOTS_MOST)
#define SPOTS_MOST	131072u
#endif

typedef struct Spot {
  uint64_t weight;	/* as a node has it, see Node */
  uint32_t func;	/* id of a function */
  uint32_t module;	/* the text of its file, see base/modules.h; or one of
			   those below */
  uint64_t address;	/* address in that file, as the linker gave it */
} Spot;

#define SPOT_SYSTEM	UINT32_MAX	/* in a system call */
#define SPOT_NOWHERE	(UINT32_MAX - 1)	/* in no file */
#define SPOT_MORE	(UINT32_MAX - 2)	/* one beyond SPOTS_MOST */

static inline int spot_isinfile (const Spot *s) {
  return s->module < SPOT_MORE;
}

#if CPROF_WHOLE
static inline Spot spot_of (const TallyCount *x) {
  Spot s;
  s.weight = x->ticks;
  s.func = x->key[0];
  s.module = x->key[1];
  s.address = (uint64_t)x->key[3] << 32 | x->key[2];
  return s;
}
#endif

/* Adds the weight of a spot. 0: out of memory, and nothing was added. */
CPROF_I int spots_add (Tally *t, const Spot *s);

#endif

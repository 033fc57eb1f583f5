/*
** What the recorder's own work adds to the times that it takes, in
** picoseconds per event. The clock is read at one point of an event: what
** comes before is charged to the frame that is left, what comes after to
** the one that is entered. The machine's own work for a call, which it
** also does unrecorded, stays with the caller.
*/

#ifndef cost_h
#define cost_h

#include <stdint.h>

#include "toll.h"


/* kinds of functions that are called */
enum { COST_LUA, COST_C, COST_KINDS };

typedef struct Costs {
  int64_t caller[COST_KINDS];	/* of a call and its return */
  int64_t callee[COST_KINDS];
  int64_t unreturned;	/* less of a call that ends without a return */
  int64_t tail;		/* more of a function that a tail call calls */
  int64_t state;	/* of a new stack state, in this state */
  int64_t resume;	/* more of resume, or of what wrap gives */
  int64_t coroutine;	/* more of a function that begins one */
  int64_t resumer;	/* of a change of coroutine, in who resumed ... */
  int64_t yielder;	/* ... and in who yielded */
  int64_t line;		/* of coming to a line, there */
  int64_t step;		/* more of it, as Line has them */
  int64_t instruction;	/* of each, on a line that is counted */
  int64_t least;	/* no cost: what is left to each instruction */
  int64_t toll[TOLLS];	/* what of all these was within the hook */
} Costs;

#define COST_UNIT	1000.0	/* ps in a ns */
#define COST_MAX	1e9	/* ns: more than any event can cost */

/* some can be less than nothing */
static inline int64_t cost_of (double ps) {
  return ps > -COST_MAX * COST_UNIT && ps < COST_MAX * COST_UNIT
       ? (int64_t)ps : 0;
}

#endif

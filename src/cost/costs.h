/*
** Costs: what the recorder's own work adds to the times that it takes, in
** picoseconds per event. The clock is read at one point of an event: what
** comes before it is charged to the frame that is left, what comes after
** it to the one that is entered. What a call costs Lua itself, recorded or
** not, stays with the caller.
*/

#ifndef costs_h
#define costs_h

#include <stdint.h>

#include "count/timing.h"


/* kinds of called functions */
enum { COST_LUA, COST_C, COST_KINDS };

typedef struct Costs {
  int64_t caller[COST_KINDS];	/* of a call and its return, in the caller */
  int64_t callee[COST_KINDS];	/* ... and in the callee */
  int64_t unreturned;	/* less of a call without a return, in the caller */
  int64_t tail;		/* more of a tail call, in the callee */
  int64_t node;		/* more of a call that makes a node, in the callee */
  int64_t resume;	/* more of a function that resumes, in it */
  int64_t coroutine;	/* more of the first call in a coroutine, in it */
  int64_t resumer;	/* of a resume, in the resuming coroutine ... */
  int64_t yielder;	/* ... and of a yield, in the yielding one */
  int64_t line;		/* of a line event, on the line */
  int64_t step;		/* ... and more for each step, see LineCode */
  int64_t instruction;	/* of an instruction, on a counted line */
  int64_t least;	/* no cost: the least that an instruction takes */
  int64_t within[EVENT_KINDS];	/* of an event of each kind, within the hook */
} Costs;

#define COST_UNIT	1000.0	/* ps in a ns */
#define COST_MAX	1e9	/* ns: more than any event can cost */

/* A lower bound of the ns that any event costs, line events where 'lines'. */
static inline double costs_least (const Costs *c, int lines) {
  int64_t least = c->line;
  int k;
  for (k = 0; k < COST_KINDS; k++) {
    int64_t ps = (c->caller[k] + c->callee[k]) / 2;  /* call and return */
    if ((k == 0 && !lines) || ps < least) least = ps;
  }
  /* overhead is known to within a quarter */
  return least > 0 ? (double)least * 0.75 / COST_UNIT : 0;
}

/* Some costs can be negative. */
static inline int64_t cost_of (double ps) {
  return ps > -COST_MAX * COST_UNIT && ps < COST_MAX * COST_UNIT
       ? (int64_t)ps : 0;
}

#endif

/*
** Costs: what the recorder's own work adds to the times that it measures, in
** picoseconds per event. The clock is read at one point of an event: the work
** before it is charged to the call frame that is left, the work after it to
** the one that is entered. What a call costs Lua itself, recorded or not,
** stays with the caller.
*/

#ifndef costs_h
#define costs_h

#include <stdint.h>

#include "count/timing.h"


/* kinds of called functions */
enum { COST_LUA, COST_C, COST_KINDS };

typedef struct Costs {
  int64_t caller[COST_KINDS];	/* call and return, charged to the caller */
  int64_t callee[COST_KINDS];	/* call and return, charged to the callee */

  /* extra costs of some calls */
  int64_t unreturned;	/* a call without a return event, charged to the
			   caller; mostly negative, as an event is missing */
  int64_t tail;		/* a tail call, charged to the callee */
  int64_t resume;	/* a call of resume, charged to that function */
  int64_t coroutine;	/* a coroutine's first call, charged to the callee */
  int64_t begin;	/* a coroutine's first call, charged to the function that
			   resumes it */
  int64_t made;		/* a call that makes a coroutine, charged to its caller */
  int64_t resumer;	/* a call of resume, charged to its caller */
  int64_t yielder;	/* a call of yield, charged to its caller */

  int64_t line;		/* a line event, charged to the line */
  int64_t step;		/* extra cost of a line event's step, see LineCode */
  int64_t instruction;	/* an instruction, charged to a counted line */
  int64_t least;	/* not a cost: the least time that an instruction
			   takes */
  int64_t within[EVENT_KINDS];	/* an event, within the hook, by its kind */
} Costs;

#define COST_UNIT	1000.0	/* ps in a ns */
#define COST_MAX	1e9	/* ns: more than any event can cost */

/* The usual cost in ns of a call or a return. */
static inline double costs_event (const Costs *c) {
  int64_t ps = (c->caller[COST_LUA] + c->callee[COST_LUA]) / 2;
  return ps > 0 ? (double)ps / COST_UNIT : 0;
}

/* A cost from its ps, which can be negative; 0, if it is impossibly large. */
static inline int64_t cost_of (double ps) {
  return ps > -COST_MAX * COST_UNIT && ps < COST_MAX * COST_UNIT
       ? (int64_t)ps : 0;
}

#endif

/*
** The pace of samples: when the next tick comes, and how often one is worth
** its cost.
*/

#ifndef pace_h
#define pace_h

#include "base/timer.h"


typedef struct Pace {
  int timer;		/* below 0: none */
  int cpu;		/* does it count processor time? */
  volatile uint64_t ticks;	/* since the last sample */
  volatile uint64_t spent;	/* of the handler since then, by the clock ... */
  volatile uint64_t spent_ns;	/* ... and in ns */
  volatile uint64_t stands;	/* so many ticks the next one is */
  volatile uint32_t waited;	/* ticks that found the hook set */
  volatile uint64_t interval;	/* ns between ticks, on average ... */
  uint64_t period;	/* ... and as asked */
  uint64_t cost;	/* ns of a sample */
  uint64_t seed;
} Pace;

CPROF_I void pace_begin (Pace *p, uint32_t rate, int cpu);

/* Nothing has been seen since the last sample. */
CPROF_I void pace_forget (Pace *p);

/*
** The timer interrupts again. The time until then is random, so that no
** program can be in step with it. Where one C function goes on and on, its
** ticks get rare, for they interrupt what it waits for. May be called in a
** signal handler.
*/
CPROF_I void pace_next (Pace *p);

/*
** Have many ticks found the hook set, so that it may no longer work? May be
** called in a signal handler.
*/
CPROF_I int pace_stuck (const Pace *p);

/* A sample was made, so ticks are not rare any more. */
CPROF_I void pace_made (Pace *p);

/*
** Sets how often to sample from now on, by what this sample cost in the
** hook and in the handler.
*/
CPROF_I void pace_adjust (Pace *p, uint64_t ns);

/*
** How many samples this is, when so many ticks of the clock have 'passed'.
** The timer may go on where processor time does not.
*/
CPROF_I uint64_t pace_count (Pace *p, uint64_t passed);

/* Takes what a handler adds to, at once. */
CPROF_I uint64_t pace_take (volatile uint64_t *from);

#endif

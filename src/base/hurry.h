/*
** Makes the thread that takes samples get a processor in time: a thread that
** has to wait for one until a short piece of work is over never sees that work.
*/

#ifndef hurry_h
#define hurry_h

#include <stdint.h>

#include "base/platform.h"

#if PLATFORM_WATCH


/* how the system schedules a thread, see sched_setattr(2) */
typedef struct HurryTurns {
  uint32_t size, policy;
  uint64_t flags;
  int32_t nice;
  uint32_t priority;
  uint64_t runtime, deadline, period;
} HurryTurns;

/* how a thread was scheduled before */
typedef struct Hurry {
  HurryTurns turns;	/* of size 0: they were not changed */
  int slack;		/* ns by which its sleeps may be longer; 0: unchanged */
} Hurry;

/*
** Asks the system for short turns of the calling thread, which come sooner, and
** for the first place among others where that is allowed.
*/
CPROF_I void hurry_begin (Hurry *before);

/* Schedules the thread as before. */
CPROF_I void hurry_end (Hurry *before);

#endif

#endif

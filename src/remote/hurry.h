/*
** The thread that takes samples comes to its processor in time: what waits for
** one until a short piece of work is over never sees that work.
*/

#ifndef remote_hurry_h
#define remote_hurry_h

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
** The calling thread asks for short turns, which come sooner for it, and for
** the first place among others where that is allowed.
*/
CPROF_I void hurry_begin (Hurry *before);

/* The thread is scheduled as before. */
CPROF_I void hurry_end (Hurry *before);

#endif

#endif

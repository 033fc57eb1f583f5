/*
** Makes the thread that takes samples get a processor in time: a thread that
** has to wait for one until a short piece of work is over never sees that work.
*/

#ifndef hurry_h
#define hurry_h

#include <stdint.h>

#include "base/platform.h"

#if PLATFORM_WATCH


#define HURRY_TURN	100000	/* ns, the shortest turn that Linux gives */

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
** Asks the system for short turns of the calling thread, which come sooner; if
** 'first', also for the first place among others where that is allowed. A
** thread in the program's process does without: on a busy machine, it held up
** the program's own threads. The likely reason is that Linux schedules
** processes in groups, where its processor gets most of the group's weight.
*/
CPROF_I void hurry_begin (Hurry *before, int first);

/*
** For how many ns may the calling thread run while others wait for its
** processor? 0: the system does not say, and gives no short turns, as Linux
** before 6.12; or the user chose another policy than the usual one.
*/
CPROF_I uint64_t hurry_turn (void);

/* Schedules the thread as before. */
CPROF_I void hurry_end (Hurry *before);

#endif

#endif

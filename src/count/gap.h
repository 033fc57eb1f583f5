/*
** Gaps: where the time went between two events that lie far apart. The
** thread may have computed, as in a C function; it may have waited, as for a
** file or a sleep; or others had its processor (it was preempted). To tell
** these apart, the thread's clocks are read (a look). A look takes about as
** long as ten events, so between close events the thread is assumed to have
** computed.
*/

#ifndef gap_h
#define gap_h

#include "base/clock.h"


#define GAP_LOOK	100000u	/* ticks that a look takes at most */
#define GAP_TRIES	4	/* most looks until one is not interrupted */
#define GAP_NEVER	(UINT64_MAX / 2)	/* ticks: longer than any gap */

/* the clocks, in ns */
typedef struct GapLook {
  uint64_t wall;
  uint64_t cpu;		/* this thread's processor time */
  uint64_t delay;	/* how long it was ready, but others ran */
  uint64_t blocks;	/* how often it has given up its processor voluntarily
			   (it blocked) */
} GapLook;

typedef struct Gap {
  int on;		/* are there clocks to look at? */
  int known;		/* does the system tell when others ran? */
  PlatformFile file;	/* the file that tells, see platform_delay */
  int64_t thread;	/* whose clocks they are, see platform_threadid */
  GapLook last;		/* the last look */
  GapLook now;		/* the look that gap_read has taken since 'last' */
  double rate;		/* ns in a tick */
  uint64_t noise;	/* if the thread was off its processor for no more ns,
			   the system is not asked who had it */
  uint64_t least, most;	/* ticks: bounds of the shortest gap worth a look */
} Gap;

typedef enum GapKnown {
  GAP_UNKNOWN,
  GAP_AWAY,		/* time off the processor, but not whether others had
			   it */
  GAP_WAITED		/* both waiting and preempted time */
} GapKnown;

static inline GapKnown gap_known (const Gap *g) {
  return !g->on ? GAP_UNKNOWN : g->known ? GAP_WAITED : GAP_AWAY;
}

/* parts of a gap, in ticks; in the rest, the thread computed */
typedef struct GapParts {
  uint64_t waited;
  uint64_t preempted;
} GapParts;

/*
** Begins to record gaps, in this thread. Returns the shortest gap, in ticks,
** that is worth a look; GAP_NEVER where there are no clocks to look at.
*/
CPROF_I uint64_t gap_begin (Gap *g, Clock *c);
CPROF_I void gap_end (Gap *g);

/* Reads the clocks of this thread from now on: another one was recorded. */
CPROF_I void gap_follow (Gap *g);

/* Looks at the clocks: what happened until now is part of no later gap. */
CPROF_I void gap_skip (Gap *g);

/*
** gap_skip, if the last look was long ago: many times off the processor that
** are each too short for a look must not add up.
*/
CPROF_I void gap_refresh (Gap *g);

/*
** Looks at the end of a gap. 0: others had the processor during the look, as
** is likely when a thread returns from the system.
*/
CPROF_I int gap_read (Gap *g);

/*
** Divides a gap of 'ticks' ticks, which ended 'late' ticks before gap_read.
** 'least' is the shortest gap that was worth a look. Returns its new value:
** more if the thread has only computed in this gap, else less.
*/
CPROF_I uint64_t gap_divide (Gap *g, uint64_t ticks, uint64_t late,
                             uint64_t least, GapParts *parts);

/*
** Divides the gap that a thread of another process is in now. The gap began
** 'ns' ago; 'last' is that thread's last look at its clocks. Sets '*waited' and
** '*preempted', in ns. 0: the thread's clocks cannot be read.
*/
CPROF_I int gap_divideother (const GapLook *last, int64_t process,
                             int64_t thread, uint64_t ns, uint64_t *waited,
                             uint64_t *preempted);

#endif

/*
** Gaps: where the time went between two events that lie far apart. The
** thread may have computed, as a C function does; it may have waited, as
** for a file or a sleep; or others had its processor (it was preempted).
** A look at the thread's clocks takes about as long as ten events, so
** events close to each other are taken for computing.
*/

#ifndef gap_h
#define gap_h

#include "base/clock.h"


#define GAP_LOOK	100000u	/* ticks that looking takes at most */
#define GAP_TRIES	4	/* looks until one is not interrupted */
#define GAP_NEVER	(UINT64_MAX / 2)	/* ticks: no gap is looked at */

/* the clocks, in ns */
typedef struct GapLook {
  uint64_t wall;
  uint64_t cpu;		/* this thread's processor time */
  uint64_t delay;	/* time in which others had its processor */
  uint64_t blocks;	/* how often it has left it to wait */
} GapLook;

typedef struct Gap {
  int on;		/* are there clocks to look at? */
  int known;		/* is it known when others had the processor? */
  int file;		/* that says so, see platform_delay; -1: none */
  GapLook last;		/* the last look */
  GapLook now;		/* the one that gap_read has taken since */
  double rate;		/* ns in a tick */
  uint64_t noise;	/* ns away for which it is not asked who had it */
  uint64_t least, most;	/* ticks: bounds of the gap that is looked at */
} Gap;

typedef enum GapKnown {
  GAP_UNKNOWN,
  GAP_AWAY,		/* what the thread was not on a processor for */
  GAP_WAITED		/* and what of that it waited for others to leave one */
} GapKnown;

static inline GapKnown gap_known (const Gap *g) {
  return !g->on ? GAP_UNKNOWN : g->known ? GAP_WAITED : GAP_AWAY;
}

/* how a gap divides, in ticks; the rest was computing */
typedef struct GapParts {
  uint64_t waited;
  uint64_t preempted;
} GapParts;

/*
** Time is recorded from now on, in this thread. Returns how many ticks two
** events are to lie apart for a look; GAP_NEVER where there is nothing to
** look at.
*/
CPROF_I uint64_t gap_begin (Gap *g, Clock *c);
CPROF_I void gap_end (Gap *g);

/* The last look is now: what was before it is not part of a gap. */
CPROF_I void gap_skip (Gap *g);

/*
** gap_skip where the last look was long ago: times away that are too short
** to look at must not add up.
*/
CPROF_I void gap_refresh (Gap *g);

/*
** Reads the clocks. 0: others had the processor meanwhile, as is likely when
** a thread returns from the system.
*/
CPROF_I int gap_read (Gap *g);

/*
** How a gap divides that took so many ticks and ended 'late' ticks before
** the clocks were read. Returns how far events are to lie apart for the
** next look, if they were 'least' for this one: further where this one has
** shown nothing but computing.
*/
CPROF_I uint64_t gap_divide (Gap *g, uint64_t ticks, uint64_t late,
                             uint64_t least, GapParts *parts);

#endif

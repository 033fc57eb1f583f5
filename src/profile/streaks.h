/*
** Streaks: which coroutines samples found without a break, by the time axis of
** mode sample. All samples of a streak found one path of calls up to the
** function of a coroutine. As its resumer stands still while a coroutine runs,
** a slice that has samples lies within a streak; but a streak may have several
** slices, of one coroutine or of several that were resumed at one place.
*/

#ifndef streaks_h
#define streaks_h

#include "profile/range.h"


#define STREAKS	10	/* that are kept of a function */

typedef struct Streak {
  uint32_t body;	/* node of the function of the coroutine */
  uint32_t node;	/* the deepest node that all samples were in, or below */
  double from, to;	/* ns since recording began: when samples found something
			   else before it, and after it */
  double most;		/* ns from 'from' to 'to' that were recorded */
  uint64_t samples;
} Streak;

/* the longest streaks of a function, the longest first */
typedef struct Streaks {
  Streak list[STREAKS];
  uint32_t count;
} Streaks;

/*
** Finds the streaks from 'from' to 'to', in ns. 'body' tells of each node
** whether it is that of a coroutine's function. 'out' has a list for each
** function of the nodes, all empty. All memory comes from an arena.
*/
CPROF_I void streaks_find (const AxisData *d, const Memory *m,
                           const Nodes *nodes, const uint32_t *body,
                           double from, double to, Streaks **out);

#endif

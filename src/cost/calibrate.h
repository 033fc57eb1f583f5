/*
** Calibration: measures the costs of events in a Lua state of its own, with
** the hook of the mode that is to be recorded. This takes some ms, and the
** whole machine may be busy just then. So there are several calibrations of a
** Lua state, some time apart, and their median counts.
*/

#ifndef calibrate_h
#define calibrate_h

#include "cost/costs.h"
#include "follow/recorder.h"


#define CALIBRATIONS_KEPT	5
#define CALIBRATIONS_MOST	8

/* the calibrations of one way of recording */
typedef struct Calibrated {
  unsigned key;		/* see 'calibrations_key' */
  unsigned taken;	/* number of calibrations so far */
  uint64_t last;	/* ns, when the last one was taken */
  Costs costs[CALIBRATIONS_KEPT];	/* a ring: the last calibrations */
} Calibrated;

typedef struct Calibrations {
  Calibrated list[CALIBRATIONS_MOST];	/* for the ways of recording that
					   were used last */
} Calibrations;

/*
** The costs of recording with these options, as known so far. If there are
** none, they are measured for 6 ms of processor time. 0: out of memory.
*/
CPROF_I int calibrations_get (Calibrations *c, const Memory *m,
                              const Options *o, Costs *costs);

/*
** A number for the options that the costs depend on: equal if all of these are.
*/
CPROF_I unsigned calibrations_key (const Options *o);

/*
** Makes the costs known, if they are not. 'kept' are those that an earlier
** process has measured, or NULL. They count if a call still costs about as much
** as it did, which takes half a millisecond to find out; else the costs are
** measured. 1: they were measured, and are in 'costs'.
*/
CPROF_I int calibrations_settle (Calibrations *c, const Memory *m,
                                 const Options *o, const Costs *kept,
                                 Costs *costs);

/*
** Measures the costs again, for 6 ms, and returns only these. 0: out of memory.
*/
CPROF_I int calibrations_measure (Calibrations *c, const Memory *m,
                                  const Options *o, Costs *costs);

/*
** Measures the costs again, for 1.5 ms, unless they were measured twice, and
** less than 0.1 s ago. Sets 'costs' only if it has measured them.
*/
CPROF_I void calibrations_refresh (Calibrations *c, const Memory *m,
                                   const Options *o, Costs *costs);

#endif

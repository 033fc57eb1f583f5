/*
** Calibrations of a state: a calibration takes some ms and may hit a time
** when the machine is busy as a whole. So there are several of them, some
** time apart, and their median counts.
*/

#ifndef calibrations_h
#define calibrations_h

#include "cost/calibrate.h"


#define CALIBRATIONS_KEPT	5
#define CALIBRATIONS_WAYS	32

typedef struct Calibrated {
  unsigned taken;
  uint64_t last;	/* ns, when the last one was */
  Costs costs[CALIBRATIONS_KEPT];	/* of the last ones */
} Calibrated;

typedef struct Calibrations {
  Calibrated way[CALIBRATIONS_WAYS];	/* by what options ask for */
} Calibrations;

/*
** The costs of recording with these options. The first time they are
** measured, for 12 ms of processor time. 0: out of memory.
*/
CPROF_I int calibrations_get (Calibrations *c, const Memory *m,
                              const Options *o, Costs *costs);

/* Measures the costs again. */
CPROF_I int calibrations_anew (Calibrations *c, const Memory *m,
                               const Options *o, Costs *costs);

/* Measures again for 1 ms, if the last time is a while ago. */
CPROF_I void calibrations_refresh (Calibrations *c, const Memory *m,
                                   const Options *o, Costs *costs);

#endif

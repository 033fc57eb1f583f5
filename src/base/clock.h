/*
** Time: ticks while recording, nanoseconds in a profile.
*/

#ifndef clock_h
#define clock_h

#include <stdint.h>

#include "base/platform.h"


typedef enum ClockKind {
  CLOCK_TICKS,
  CLOCK_MONO,
  CLOCK_CPU,
  CLOCK_HOST,		/* set by the host: nanoseconds */
  CLOCK_COUNT		/* no time, but a counter */
} ClockKind;

typedef uint64_t (*ClockNow) (void *ud);

/* one moment on two clocks */
typedef struct Moment {
  uint64_t ticks;
  uint64_t ns;
} Moment;

/* ns = ticks * factor / 2^shift, rounded down, without overflow */
typedef struct Scale {
  uint64_t factor;	/* below 2^32 */
  unsigned shift;	/* at most 32 */
} Scale;

typedef struct Clock {
  ClockKind kind;
  ClockNow host;	/* NULL: the host set no clock */
  void *ud;
  const uint64_t *counter;
  uint64_t ahead;	/* ns that are added to processor time, of one thread */
  Moment origin;	/* the first moment, moved by later jumps */
  Moment agreed;	/* the last moment that agrees with the rate */
  int steady;		/* does the processor's counter run at one rate? */
  Scale scale;		/* the final one, once asked for; factor 0: none yet */
} Clock;


static inline uint64_t clock_read (const Clock *c) {
  switch (c->kind) {
    case CLOCK_TICKS: return platform_ticks();
    case CLOCK_MONO: return platform_monotonic();
    case CLOCK_CPU: return platform_cpu() + c->ahead;
    case CLOCK_COUNT: return *c->counter;
    default: return c->host(c->ud);
  }
}

/*
** Starts the clock: processor time if 'cpu', else the host's clock if
** there is one, else the time stamp counter where it is steady, unless
** ticks must be 'nanoseconds', else the monotonic clock.
*/
CPROF_I void clock_start (Clock *c, int cpu, int nanoseconds);

/*
** The calling thread takes the clock over, at the time 'now'. Its processor
** time continues from there.
*/
CPROF_I void clock_follow (Clock *c, uint64_t now);

/* Starts the clock with a counter in place of time. */
CPROF_I void clock_count (Clock *c, const uint64_t *counter);

/* Notes the first moment, so that jumps are seen from the start on. */
CPROF_I void clock_open (Clock *c);

/*
** Returns by how many ns the monotonic clock has jumped ahead of the
** processor's counter since the last call; below 0: the counter has jumped
** ahead. 0: they agree (within 1 ms plus 0.1 %) or cannot be compared. Later
** calls compare with the clocks as they are now.
*/
CPROF_I int64_t clock_jumped (Clock *c);

/*
** The rate, measured against the monotonic clock, without its jumps. A
** clock that 'stopped' keeps the rate that is measured first.
*/
CPROF_I Scale clock_scale (Clock *c, int stopped);

CPROF_I uint64_t clock_ns (Scale s, uint64_t ticks);

/* ns in a tick */
CPROF_I double clock_rate (Scale s);

/* "tsc", "monotonic", "cpu", "host" or "instructions" */
CPROF_I const char *clock_name (const Clock *c);

#endif

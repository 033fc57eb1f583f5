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
  Moment origin;	/* the first one, but for jumps since then */
  Moment agreed;	/* the last one that fits the rate since 'origin' */
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
** Another thread runs what is timed from now on, when it is 'now': processor
** time goes on from there.
*/
CPROF_I void clock_follow (Clock *c, uint64_t now);

/* Starts it with a counter in the place of time. */
CPROF_I void clock_count (Clock *c, const uint64_t *counter);

/* Notes the first moment, so that jumps are seen from the start on. */
CPROF_I void clock_open (Clock *c);

/*
** ns by which the monotonic clock has jumped ahead of the processor's
** counter, or the counter (below 0), since the last call. 0: they agree, to
** a millisecond and a thousandth, or cannot be compared. What comes later is
** compared with the clocks as they are now.
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

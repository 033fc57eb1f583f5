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
  CLOCK_COUNT		/* a counter in place of time */
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
  uint64_t ahead;	/* ns added to the thread's processor time, see
			   clock_follow */
  Moment origin;	/* the first moment; later jumps move it */
  Moment agreed;	/* the last moment that agrees with the rate */
  int steady;		/* does the processor's counter run at one rate? */
  Scale scale;		/* a stopped clock's rate; factor 0: not measured */
} Clock;


/* The host's clock may be gone once its recording has ended. */
static inline uint64_t clock_read (const Clock *c) {
  switch (c->kind) {
    case CLOCK_TICKS: return platform_ticks();
    case CLOCK_MONO: return platform_monotonic();
    case CLOCK_CPU: return platform_cpu() + c->ahead;
    case CLOCK_COUNT: return *c->counter;
    default: return c->host != NULL ? c->host(c->ud) : 0;
  }
}

/*
** Starts the clock. The first of these that applies is used: processor time,
** if 'cpu'; the host's clock, if there is one; the time stamp counter, if it
** is steady and ticks need not be 'nanoseconds'; the monotonic clock.
*/
CPROF_I void clock_start (Clock *c, int cpu, int nanoseconds);

/*
** The calling thread takes over the clock, whose time is 'now'. From there
** on, a clock of processor time counts that of this thread.
*/
CPROF_I void clock_follow (Clock *c, uint64_t now);

/* Starts the clock with a counter in place of time. */
CPROF_I void clock_count (Clock *c, const uint64_t *counter);

/* Notes the first moment, so that all later jumps are noticed. */
CPROF_I void clock_open (Clock *c);

/*
** Returns by how many ns the monotonic clock has jumped ahead of the
** processor's counter since the last call; below 0: the counter has jumped
** ahead. 0: they agree (within 1 ms plus 0.1 %) or cannot be compared. Each
** jump is reported once.
*/
CPROF_I int64_t clock_jumped (Clock *c);

/*
** Measures the clock's rate against the monotonic clock, whose jumps are left
** out. Once a clock has 'stopped', its first measured rate is kept.
*/
CPROF_I Scale clock_scale (Clock *c, int stopped);

CPROF_I uint64_t clock_ns (Scale s, uint64_t ticks);

/* ns in a tick */
CPROF_I double clock_rate (Scale s);

#endif

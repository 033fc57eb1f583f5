/*
** Timers: a signal interrupts the thread that a timer belongs to, again and
** again. Each tick comes after the time that was asked for last.
*/

#ifndef timer_h
#define timer_h

#include "base/platform.h"


#define TIMER_MOST	64	/* at the same time */

/* what a tick has interrupted; TIMER_RUNS without PLATFORM_INTERRUPTED */
typedef enum TimerWithin {
  TIMER_RUNS,
  TIMER_WAITS,		/* a system call, which goes on after the tick ... */
  TIMER_ENDS		/* ... or fails with EINTR */
} TimerWithin;

/* Called in a signal handler, in the thread that the timer belongs to. */
typedef void (*TimerTick) (void *ud, TimerWithin within);

/*
** A timer for this thread, which does not run yet; below 0: there can be
** none, and '*why' says why. 'cpu': it counts processor time of the thread,
** where there are such timers; these have no more than 100 to 1000 ticks a
** second, depending on the kernel.
*/
CPROF_I int timer_begin (TimerTick tick, void *ud, int cpu,
                         const char **why);

/* Does the timer belong to this thread? */
CPROF_I int timer_ishere (int timer);

/*
** Moves the timer to this thread; it does not run yet. When this returns, no
** tick runs in the other thread. 0: this thread cannot have a timer, and
** '*why' says why.
*/
CPROF_I int timer_follow (int timer, const char **why);

/*
** The next tick, and the only one, comes in 'ns'; 0: none comes. May be
** called in a signal handler. Does nothing in the child of a fork.
*/
CPROF_I void timer_next (int timer, uint64_t ns);

/*
** Ends the timer: no more ticks come, not even pending ones, and none runs
** in another thread. The signal is the program's again when no timer is left.
*/
CPROF_I void timer_end (int timer);

/*
** In the child of a fork, which has no timers: each of this thread's ticks
** once, so that its owner finds out.
*/
CPROF_I void timer_forked (void);

/* Has the program taken the signal since, so that no tick comes any more? */
CPROF_I int timer_lost (int timer);

#endif

/*
** Timers. At each tick, a signal interrupts the thread that the timer belongs
** to. Where there are no signals, another thread suspends that thread for the
** tick. Ticks do not repeat: 'timer_next' asks for each of them.
*/

#ifndef timer_h
#define timer_h

#include "base/platform.h"


#define TIMER_MOST	64	/* most timers at the same time */
#define TIMER_SIGNALS	65	/* Linux's last signal is 64 */

/* what a tick has interrupted; without PLATFORM_INTERRUPTED, TIMER_RUNS */
typedef enum TimerWithin {
  TIMER_RUNS,		/* anything but a system call that waits */
  TIMER_WAITS,		/* a system call that begins again after the tick */
  TIMER_ENDS		/* a system call that fails with EINTR */
} TimerWithin;

/*
** In a tick: the address of the machine instruction that it has interrupted, or
** one of these. Page faults, and what else the system does for a thread
** outside of its calls, count as the instruction that caused them.
*/
#define TIMER_UNKNOWN	((uintptr_t)0)
#define TIMER_SYSTEM	((uintptr_t)1)	/* a system call */

CPROF_I uintptr_t timer_at (int timer);

/*
** Called in a signal handler, in the thread that the timer belongs to. Where
** there are no signals, called in another thread, while that one is suspended.
*/
typedef void (*TimerTick) (void *ud, TimerWithin within);

/*
** Makes a timer for this thread, without a tick so far. Below 0: there can
** be none, and '*why' says why. If 'cpu', it counts the thread's processor
** time, where the system has such timers; these have at most 100 to 1000
** ticks a second, depending on the kernel.
*/
CPROF_I int timer_begin (TimerTick tick, void *ud, int cpu,
                         const char **why);

/* Does the timer belong to this thread? */
CPROF_I int timer_ishere (int timer);

/*
** Moves the timer to this thread, without a tick so far. When this returns,
** no tick runs in the other thread. 0: this thread cannot have a timer, the
** timer has ended, and '*why' says why.
*/
CPROF_I int timer_follow (int timer, const char **why);

/*
** Asks for a tick 'ns' from now, in place of one that was asked for before;
** 0: for none. May be called in a signal handler. Does nothing in the child
** of a fork.
*/
CPROF_I void timer_next (int timer, uint64_t ns);

#if PLATFORM_WATCH
/*
** Makes a tick come now. May be called in another thread, while the timer does
** not end or move. 'cpu': the processor time of the timer's thread, in ns, when
** it was last seen to run; 0: it was not. A system call that has begun since
** then begins again, rather than fail, where that is possible.
*/
CPROF_I void timer_now (int timer, uint64_t cpu);

/*
** If 'on', the timer of this thread counts the time for which the thread runs
** its own code, no longer wall time. There are ticks for the system's work,
** too, but only when the system looks, see 'timer_system'. 0: it does not, as
** that is not allowed, or not possible with the timer's signal.
*/
CPROF_I int timer_counts (int timer, int on);

/*
** Does the timer still count the time in which its thread runs? The program may
** have closed its descriptor. May be called in another thread, while the timer
** does not end or move.
*/
CPROF_I int timer_iscounting (int timer);

/*
** In a tick: the ns of the system's work for the thread that the tick stands
** for; 0: the tick is not one for the system's work.
*/
CPROF_I uint64_t timer_system (int timer);
#else
#define timer_counts(timer,on)	((void)(timer), (void)(on), 0)
#define timer_system(timer)	((void)(timer), 0u)
#endif

/*
** Ends the timer: no more ticks come, not even pending ones, and none runs
** in another thread. With the last timer, the program gets its signal back.
*/
CPROF_I void timer_end (int timer);

/*
** For the child of a fork, which has no timers any more: calls the tick
** function of each timer of this thread once, so that its owner finds out.
*/
CPROF_I void timer_forked (void);

/* Has the program set its own handler since, so that no tick comes? */
CPROF_I int timer_lost (int timer);

#endif

/*
** The pace of samples: when the next tick comes, how much time it stands
** for, and how often a sample is worth its cost.
**
** The time between ticks is random, with an exponential distribution: when the
** next tick comes depends neither on earlier ticks nor on the program. A tick
** stands for the mean of this distribution. Sums of such weights are right on
** average, even where a program does short work between long waits, and where
** the mean changes. By the wall clock, a sample also stands for the time from
** its tick to itself: nothing else ran in between. That time is measured; the
** mean, which is for the time before the tick, is an estimate.
*/

#ifndef pace_h
#define pace_h

#include "base/timer.h"


typedef struct Pace {
  int timer;		/* its number, see timer.h; below 0: none */
  int cpu;		/* do ticks count processor time, not wall time? */
  int watched;		/* does a watching thread ask for the ticks? */
  volatile int counts;	/* does the timer count the time in which the thread
			   runs, so that the watching thread asks only for
			   ticks in waits? */
  volatile uint64_t mean;	/* average ns from the last tick to the next */
  volatile uint64_t due;	/* when the next tick is due, on the
				   monotonic clock */
  volatile uint64_t weight;	/* ns that the ticks since the last sample stand
				   for; 0: none came */
  volatile uint64_t each;	/* what the last armed tick stands for; the
				   interval may be shorter since */
  volatile uint64_t since;	/* when the last armed tick was due, see
				   'pace_tick' */
  volatile uint64_t late;	/* ns from 'since' until the handler of that
				   tick began */
  volatile uint64_t ran;	/* the thread's processor time at the last
				   armed tick */
  volatile int waits;	/* did the last armed tick interrupt a system call? */
  volatile int seen;	/* was the thread seen to run when the last armed tick
			   was due? */
  volatile uint64_t within;	/* ns that handlers took since the last armed
				   tick */
  volatile uint64_t spent;	/* ticks of the recording's clock that handlers
				   took, and samples of allocations */
  uint64_t taken;	/* the part of 'spent' that 'pace_take' returned */
  volatile uint32_t waited;	/* ticks since the last armed one that found the
				   hook set */
  volatile uint64_t interval;	/* average ns between ticks, while not rare */
  uint64_t period;	/* the shortest interval: the one that was asked for */
  uint64_t cost;	/* average ns that a sample takes */
  uint64_t dear;	/* ns that the last dear sample took, see 'pace_cost'; 0:
			   there was none */
  uint64_t sincedear;	/* samples since then */
  int cheap;		/* was the last sample a cheap one? */
  uint64_t seed;
  uint64_t seedrest;	/* seed of the watching thread */
} Pace;

/* a tick */
typedef struct PaceTick {
  uint64_t at;		/* when its handler began, on the monotonic clock */
  uint64_t due;
  uint64_t ns;		/* what it stands for */
  int armed;		/* it has set the hook, or counts as if it had; else
			   the hook was set already */
  int waits;		/* it has interrupted a system call */
  int seen;		/* the thread was seen to run when it was due */
} PaceTick;

/* what a sample stands for */
typedef struct Weight {
  uint64_t ns;
  uint64_t wait;	/* the part of 'ns' in which the thread waited */
  uint64_t samples;	/* how many samples it counts as */
} Weight;

/* ns since the last sample in which the thread did not run, where known */
typedef struct Away {
  uint64_t waited;	/* ns in which it had given up its processor voluntarily
			   (it blocked) */
  uint64_t preempted;	/* ns in which it was ready, but others ran */
} Away;

/* Begins with 'rate' ticks a second; 'cpu': of processor time. */
CPROF_I void pace_begin (Pace *p, uint32_t rate, int cpu);

/* Forgets the ticks since the last sample, and the time that they took. */
CPROF_I void pace_forget (Pace *p);

/*
** Asks the timer for the next tick, unless a watching thread asks for all.
** Ticks are rare where they would tell nothing new: after a tick that has
** interrupted a system call ('waits'), as the next event tells which function
** made that call; and ever rarer while one C function goes on and on. May be
** called in a signal handler, as may 'pace_tick', 'pace_toomany' and
** 'pace_stuck'.
*/
CPROF_I void pace_next (Pace *p, int waits);

#if PLATFORM_WATCH
/*
** Returns the ns until the watching thread's next look, and sets '*mean' to
** what they are on average. Looks are rarer while one C function goes on and
** on, and when the thread has waited for long: for 'waited' ns so far.
*/
CPROF_I uint64_t pace_rest (Pace *p, uint64_t waited, uint64_t *mean);

/*
** In the watching thread: makes the look at 'now', which came 'mean' ns after
** the one before it on average, the next tick.
*/
CPROF_I void pace_due (Pace *p, uint64_t now, uint64_t mean);
#endif

/*
** Counts a tick. An armed one adds to the weight; when it came, and what it
** interrupted, tells 'pace_weigh' where the measured part of the sample's time
** begins. Another one, which found the hook set, only counts in 'waited': by
** the wall clock, its time is in that part; by processor time, where there is
** no such part, it adds to the weight, too.
*/
CPROF_I void pace_tick (Pace *p, const PaceTick *t);

/*
** Must a tick that stands for '*ns' be dropped, as samples would come faster
** than the rate allows? Chance decides: of ticks that stand for less than the
** interval, the part '*ns' / interval is kept. Each of these then stands for
** the interval, and so for the dropped ones, too.
*/
CPROF_I int pace_toomany (Pace *p, uint64_t *ns);

/*
** Have enough ticks found the hook set to suspect that it no longer works? The
** answer is yes at 8 ticks, at 16, at 32 and so on.
*/
CPROF_I int pace_stuck (const Pace *p);

/*
** Returns what a sample at 'now' stands for, and lets ticks come at the usual
** rate again. 'passed' and 'away' are about the time since the last sample.
** 'passed' is all of it, in ticks of the recording's clock, which are ns if
** that counts processor time. If no tick came, the sample stands for 1 ns. If
** its tick was due while others had the processor, it stands only for the time
** since then in which they did not have it. It counts as one sample for each
** interval in the time that it stands for. But the time of one tick is always
** one sample, even if the interval is shorter since the tick was set.
*/
CPROF_I Weight pace_weigh (Pace *p, uint64_t now, uint64_t passed,
                           Away away);

/*
** Average ns that a handler has taken since the last armed tick. There is a
** maximum, as the thread may have been preempted in one.
*/
CPROF_I uint64_t pace_handler (const Pace *p);

/*
** Sets how often to sample from now on, after a sample that took 'ns'. A sample
** that alone takes much longer than the others changes little: it may have been
** interrupted, even by the machine that runs this virtual one. After two that
** take much less than those before, the rate soon is as requested again.
*/
CPROF_I void pace_adjust (Pace *p, uint64_t ns);

/* Returns what was added to 'spent' since the last call. */
CPROF_I uint64_t pace_take (Pace *p);

#endif

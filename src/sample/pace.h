/*
** The pace of samples: when the next tick comes, how much time it stands
** for, and how often one is worth its cost.
**
** The time between ticks is random and without memory, whatever the program
** does: it has an exponential distribution. So a tick stands for the mean of
** it, and sums of that are true to what ran, on average: also where a
** program does short things between long waits, and where the mean changes.
** By the wall clock, all that passes from a tick to its sample belongs to
** that sample, as what runs does not change in between: only the time
** before the tick is a guess.
*/

#ifndef pace_h
#define pace_h

#include "base/timer.h"


typedef struct Pace {
  int timer;		/* below 0: none */
  int cpu;		/* does it count processor time? */
  int watched;		/* do ticks come by looks from another thread? */
  volatile uint64_t mean;	/* ns until the next tick, on average ... */
  volatile uint64_t due;	/* ... and when it comes */
  volatile uint64_t weight;	/* ns that the ticks since the last sample stand
				   for; 0: none came */
  volatile uint64_t since;	/* when the last of these was due */
  volatile uint64_t late;	/* ns from then until its handler began */
  volatile uint64_t ran;	/* the thread's processor time then ... */
  volatile int waits;	/* ... and did it wait in a system call? */
  volatile uint64_t within;	/* ns of the handler since then */
  volatile uint64_t spent;	/* ns that ticks and samples took, by the clock
				   of the recording ... */
  uint64_t taken;	/* ... that 'pace_take' has returned */
  volatile uint32_t waited;	/* ticks that found the hook set */
  volatile uint64_t interval;	/* ns between ticks, on average ... */
  uint64_t period;	/* ... and as asked */
  uint64_t cost;	/* ns of a sample ... */
  uint64_t last;	/* ... and of the last one */
  uint64_t seed;
} Pace;

/* what a sample stands for */
typedef struct Weight {
  uint64_t ns;
  uint64_t wait;	/* ns of these in which the thread waited */
  uint64_t samples;
} Weight;

/* where the thread was since the last sample, in ns, as far as that is known */
typedef struct Away {
  uint64_t waited;	/* not on a processor of its own accord */
  uint64_t preempted;	/* others had its processor */
} Away;

CPROF_I void pace_begin (Pace *p, uint32_t rate, int cpu);

/* Nothing has been seen since the last sample. */
CPROF_I void pace_forget (Pace *p);

/*
** The timer interrupts again: rarely where the last tick has interrupted a
** system call that 'waits', since the next event tells who did, and ever
** more rarely where one C function goes on and on. May be called in a signal
** handler, as may 'pace_tick' and 'pace_stuck'.
*/
CPROF_I void pace_next (Pace *p, int waits);

#if PLATFORM_WATCH
/*
** Where another thread looks, the timer does not tick by itself: ns until the
** next look, '*mean' on average; less often while one C function goes on and
** on, or has been waiting for 'waited' ns.
*/
CPROF_I uint64_t pace_rest (Pace *p, uint64_t waited, uint64_t *mean);

/*
** In that thread: the look at 'now', 'mean' ns after the one before it on
** average, is to be the next tick.
*/
CPROF_I void pace_due (Pace *p, uint64_t now, uint64_t mean);
#endif

/*
** A tick came at 'now'. 'armed': it has set the hook, else that was set.
** 'waits': it has interrupted a system call.
*/
CPROF_I void pace_tick (Pace *p, uint64_t now, int armed, int waits);

/* Have many ticks found the hook set, so that it may no longer work? */
CPROF_I int pace_stuck (const Pace *p);

/*
** A sample is made at 'now', after so many ns on the clock of the recording
** since the last one. Ticks are not rare any more. Without a tick, it stands
** for hardly any time; so does one whose tick was due while others had the
** processor.
*/
CPROF_I Weight pace_weigh (Pace *p, uint64_t now, uint64_t passed,
                           Away away);

/* ns that a handler took since the last sample; others may interrupt it. */
CPROF_I uint64_t pace_handler (const Pace *p);

/*
** Sets how often to sample from now on: this sample cost so much; 'sure': of
** processor time, so that it is not longer for an interruption.
*/
CPROF_I void pace_adjust (Pace *p, uint64_t ns, int sure);

/* What ticks and samples took since this was asked last. */
CPROF_I uint64_t pace_take (Pace *p);

#endif

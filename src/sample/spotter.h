/*
** At which machine instructions ticks have found the thread. A signal handler
** notes their addresses. The next sample finds out which files the addresses
** are in, while these are still loaded, and charges its running time to the
** instructions.
*/

#ifndef spotter_h
#define spotter_h

#include "base/modules.h"
#include "count/recording.h"


#define SPOTTER_TICKS	64	/* a power of two */

typedef struct SpotterTick {
  uintptr_t at;		/* see 'timer_at' */
  uint64_t ns;		/* time that the tick stands for */
} SpotterTick;

typedef struct Spotter {
  SpotterTick tick[SPOTTER_TICKS];	/* since the last sample */
  volatile uint32_t count;
  uint32_t waits;	/* ticks since then that found the thread waiting */
  uint64_t seed;
  Modules modules;
} Spotter;

/* To be called when recording begins, or all samples have been forgotten. */
CPROF_I void spotter_begin (Spotter *s, const Memory *m, Functions *fs);
CPROF_I void spotter_free (Spotter *s);

/*
** In a signal handler: notes a tick. 'waits': it has interrupted a system call
** that waits. Calls nothing outside of spotter.c but 'random_bits'.
*/
CPROF_I void spotter_tick (Spotter *s, uintptr_t at, uint64_t ns, int waits);

/*
** Charges 'ns', in which the function ran, to where ticks since the last sample
** have found it. No tick may come meanwhile. 0: out of memory.
*/
CPROF_I int spotter_charge (Spotter *s, Recording *r, uint32_t func,
                            uint64_t ns);

#endif

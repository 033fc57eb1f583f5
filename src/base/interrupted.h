/*
** What a signal has interrupted, by the registers with which the thread goes
** on after its handler. For signal handlers: calls nothing but sigpending.
*/

#ifndef interrupted_h
#define interrupted_h

#include "base/timer.h"


#if PLATFORM_SIGNALS

typedef struct Interrupted {
  TimerWithin within;
  uintptr_t at;		/* see 'timer_at' */
  uintptr_t stack;	/* the stack pointer; 0: not known */
} Interrupted;

/* Without PLATFORM_INTERRUPTED, nothing of this is known. */
CPROF_I Interrupted interrupted_find (const void *context);

#if PLATFORM_TIMERS
/*
** Makes a system call begin again. 'sig' has ended it with EINTR when it had
** just begun to wait. 0: it does not begin again, as it may have done
** something, or may have ended for another signal.
*/
CPROF_I int interrupted_again (void *context, int sig);
#endif

#endif

#endif

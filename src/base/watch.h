/*
** Watches: a thread of cprof's own looks at another thread from time to
** time, and does not interrupt it.
*/

#ifndef watch_h
#define watch_h

#include "base/platform.h"


#if PLATFORM_WATCH

typedef struct Watch Watch;

/*
** Called in the watching thread. Returns the nanoseconds until it is called
** again; 0: it is not called again.
*/
typedef uint64_t (*WatchLook) (void *ud, const Watch *w);

/* Does the system tell of this thread what 'watch_preempts' has to know? */
CPROF_I int watch_ispossible (void);

/*
** Watches this thread, from 'ns' from now on; if 'prompt', only where the
** system gives the watching thread short turns, so that looks come in time on a
** busy machine, too. NULL: that is not possible.
*/
CPROF_I Watch *watch_begin (WatchLook look, void *ud, uint64_t ns, int prompt);

/* The next look comes at once. */
CPROF_I void watch_wake (Watch *w);

/*
** Ends and frees it. When this returns, no look is in progress. In the child of
** a fork, which has no such thread, it only frees.
*/
CPROF_I void watch_end (Watch *w);

/* For looks: the processor time of the thread, in ns. 0: there is none. */
CPROF_I uint64_t watch_cpu (const Watch *w);

/*
** For looks: did the thread run until this look, and has the watching thread
** taken the processor from it?
*/
CPROF_I int watch_preempts (const Watch *w);

/* For looks: does the thread wait in the system, not for a processor? */
CPROF_I int watch_waits (const Watch *w);

#endif

#endif

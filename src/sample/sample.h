/*
** Mode "sample": a timer interrupts the program now and then, and the next
** event of Lua tells what ran. In between, there is no hook.
*/

#ifndef sample_h
#define sample_h

#include "follow/recorder.h"


#define SAMPLE_RATE_MOST	10000	/* a second */

/*
** Begins to sample what runs in L's state, in this thread, also after a
** pause. 0: it cannot, and '*why' says why.
*/
CPROF_I int sample_start (Recorder *r, const char **why);

/*
** No samples until 'sample_start', which soon comes. Hooks that are still set
** take themselves away.
*/
CPROF_I void sample_pause (Recorder *r, lua_State *L);

/* No more samples: as sample_pause, and nothing is kept for later. */
CPROF_I void sample_stop (Recorder *r, lua_State *L);

/*
** This thread runs the state: the timer follows it. 0: it cannot, or has
** missed what another thread ran; then recording has ended.
*/
CPROF_I int sample_follow (Recorder *r);

/*
** sample_follow where the host says that this thread runs the state, on the
** C stack that is in use now.
*/
CPROF_I void sample_enter (Recorder *r);

/*
** The time since the last sample is shared by all of them, by what each
** stands for, but for what the handler has spent. Returns that time.
*/
CPROF_I uint64_t sample_pass (Recorder *r);

/*
** What waits for the next event is recorded now: L runs. 0: out of memory,
** or no more samples come.
*/
CPROF_I int sample_settle (Recorder *r, lua_State *L);

/*
** In a hook of L: the sample that is due, if any. What runs there is
** 'recorded', or not. Swapping hooks must be blocked meanwhile.
*/
CPROF_I void sample_due (Recorder *r, int recorded, lua_State *L,
                         lua_Debug *ar);

#if PLATFORM_SIGNALS
/* Coroutines get hooks again, see 'sample_interrupt'. */
CPROF_I void sample_unblock (Recorder *r);
#endif

/* All nodes were forgotten. */
CPROF_I void sample_forget (Recorder *r);

/* In a signal handler, the coroutine that runs, with the program's hook. */
CPROF_I lua_State *sample_current (Recorder *r);

#if PLATFORM_SIGNALS
/*
** In a signal handler, in the thread that runs the state: the coroutine that
** runs, with the program's own hook. No coroutine gets another until
** 'sample_unblock'. NULL: that must not be now; signal 'number' comes again.
*/
CPROF_I lua_State *sample_interrupt (Recorder *r, int number);
#endif

/* The next event is to tell who has allocated, see heapsample.h. */
CPROF_I void sample_ask (Recorder *r);

/* What was recorded is freed; and the recorder. */
CPROF_I void sample_clear (Recorder *r);
CPROF_I void sample_free (Recorder *r);

#endif

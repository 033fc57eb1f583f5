/*
** Mode "sample": ticks of a timer interrupt the program now and then, and the
** next event of Lua tells what ran. Between samples, no hook is set.
*/

#ifndef sample_h
#define sample_h

#include "follow/recorder.h"


/*
** Begins to sample the recorder's state, which this thread runs, or goes on
** after a pause. 0: it cannot, and '*why' says why.
*/
CPROF_I int sample_start (Recorder *r, const char **why);

/*
** Pauses sampling until 'sample_start', which is expected soon, so a watching
** thread is kept. Takes our hook from L and the main thread; hooks in other
** coroutines remove themselves.
*/
CPROF_I void sample_pause (Recorder *r, lua_State *L);

/* Pauses sampling; also ends the timer and the watching thread. */
CPROF_I void sample_stop (Recorder *r, lua_State *L);

/*
** To be called in the thread that runs the state: makes the timer interrupt
** this thread. 0: it cannot, or another thread ran the state without
** cprof_thread; then recording has ended.
*/
CPROF_I int sample_follow (Recorder *r);

/*
** 'sample_follow', where the host says that this thread runs the state from
** now on. Notes which C stack is in use.
*/
CPROF_I void sample_enter (Recorder *r);

/*
** Adds the time since the last event to Figures.sampled, which is divided among
** all nodes by the weights of their samples. The part of that time which
** signal handlers took is added to overhead instead. Returns the sum of both,
** in ticks of the recording's clock. Also charges the waits that a watching
** thread has seen. The recorder must have a sampler.
*/
CPROF_I uint64_t sample_pass (Recorder *r);

/*
** Adds to the time axis what was not recorded since the last sample: a pause,
** and time in which others had the processor. 0: out of memory.
*/
CPROF_I int sample_unsampled (Recorder *r);

/*
** To be called where L runs a C function, outside of hooks: takes now the
** sample that would else be taken at the next event, and charges waits and
** allocations that are not charged yet. The recorder must have a sampler. 0:
** out of memory, or sampling cannot go on; then recording has ended.
*/
CPROF_I int sample_settle (Recorder *r, lua_State *L);

/*
** 'sample_settle', if a sample is due: what L runs is about to be in a zone of
** C code, or in none, without an event.
*/
CPROF_I void sample_boundary (Recorder *r, lua_State *L);

/*
** In a hook of L: takes the sample that is due, if any, and if what L runs is
** 'recorded'. The recorder must have a sampler, and swapping hooks must be
** blocked meanwhile.
*/
CPROF_I void sample_due (Recorder *r, int recorded, lua_State *L,
                         lua_Debug *ar);

#if PLATFORM_SIGNALS
/* Ends what 'sample_interrupt' has begun: ticks may set our hook again. */
CPROF_I void sample_unblock (Recorder *r);
#endif

/* To be called when all nodes have been forgotten. Forgets all samples. */
CPROF_I void sample_forget (Recorder *r);

/*
** In a signal handler, in the thread that runs the state: returns the
** coroutine that runs. Puts the program's hook back in it, unless hooks are
** being swapped.
*/
CPROF_I lua_State *sample_current (Recorder *r);

#if PLATFORM_SIGNALS
/*
** In a signal handler, in the thread that runs the state: returns the
** coroutine that runs, with the program's hook. No coroutine gets our hook
** until 'sample_unblock'. NULL: hooks are being swapped, so nothing was done;
** when that is over, signal 'number' is raised again.
*/
CPROF_I lua_State *sample_interrupt (Recorder *r, int number);
#endif

/* Requests an event, which tells who has allocated, see heap/live.h. */
CPROF_I void sample_ask (Recorder *r);

/* Ends the timer, and frees what refers to a recording, which is cleared. */
CPROF_I void sample_clear (Recorder *r);

/* Frees the sampler of a recorder, which is about to be freed. */
CPROF_I void sample_free (Recorder *r);

#endif

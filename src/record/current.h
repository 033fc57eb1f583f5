/*
** The coroutine that runs, for a signal handler that is to interrupt it,
** whether it is recorded or not.
*/

#ifndef current_h
#define current_h

#include "follow/recorder.h"


/*
** From now on, this thread runs the state of 'r', and what runs there is
** found also while nothing is recorded. 0: out of memory.
*/
CPROF_I int current_begin (Recorder *r);

/*
** The coroutine that runs: the one that is recorded, if that still runs, or
** what running.h finds; NULL: nothing is recorded, and 'current_begin' was
** not called, or another thread runs the state. For a signal handler: it
** does what running.h and 'sample_current' say, and in mode sample no other
** signal may come meanwhile.
*/
CPROF_I lua_State *current_find (Recorder *r);

#endif

/*
** Finds the coroutine that runs, recorded or not, for a signal handler that
** interrupts the program.
*/

#ifndef current_h
#define current_h

#include "follow/recorder.h"


/*
** Notes that this thread runs the state of 'r' from now on. After this,
** 'current_find' works also while nothing is recorded. 0: out of memory.
*/
CPROF_I int current_begin (Recorder *r);

/*
** The coroutine that runs: the recorded one if that still runs, else what
** running.h finds. NULL: another thread runs the state; or nothing is recorded,
** and 'current_begin' was not called. For a signal handler: it does only what
** running.h and 'sample_current' allow. In mode sample, signals must be
** blocked meanwhile.
*/
CPROF_I lua_State *current_find (Recorder *r);

#endif

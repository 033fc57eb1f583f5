/*
** Programs that a command starts as child processes.
*/

#ifndef child_h
#define child_h

#include "base/platform.h"


#if PLATFORM_SIGNALS
/*
** Sends a signal to the program that was started last, if it still runs. May
** be called in a signal handler.
*/
CPROF_I void child_tell (int number);
#endif

#endif

/*
** Programs that a command starts as child processes.
*/

#ifndef child_h
#define child_h

#include "base/platform.h"


#if PLATFORM_SIGNALS
/*
** Handles a signal that ends this process: the program that was started last
** gets it, too, if it still runs.
*/
CPROF_I void child_end (int number);
#endif

#endif

/*
** Programs that a command starts as child processes.
*/

#ifndef child_h
#define child_h

#include "base/platform.h"


#if PLATFORM_SIGNALS
/*
** Handles a signal that ends this process: sends it to the program that was
** started last, too, if that still runs.
*/
CPROF_I void child_end (int number);
#endif

#endif

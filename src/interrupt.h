/*
** Ctrl-C in a program that is recorded: an error there, as the stand-alone
** interpreter does it, but in whichever coroutine runs, and so that
** recording goes on when the program catches it.
*/

#ifndef interrupt_h
#define interrupt_h

#include "platform.h"


/*
** The next SIGINT raises the error "interrupted!" in what is recorded in
** this thread; the one after it ends the process.
*/
CPROF_I void interrupt_once (void);

#endif

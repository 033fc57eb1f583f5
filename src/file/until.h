/*
** Ends a recording for a program that cannot do that itself, because a signal
** kills it.
*/

#ifndef until_h
#define until_h

#include "base/platform.h"


/*
** Notes in the file at 'path' that its recording ends now, and why. The
** recorded program must not run on. 0: nothing is being recorded into the
** file, or it cannot be written.
*/
CPROF_I int until_now (const char *path, const char *why);

#endif

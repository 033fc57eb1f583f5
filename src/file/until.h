/*
** The end of a recording whose program cannot write it, because a signal
** kills it where it is.
*/

#ifndef until_h
#define until_h

#include "base/platform.h"


/*
** Notes in the file at 'path' that its recording ends now, and why. The
** program must not go on. 0: it is no file that is being recorded into.
*/
CPROF_I int until_now (const char *path, const char *why);

#endif

/*
** A copy of a recording, which may be in memory and may go on, as a file: what
** a live file would have if recording ended now. Only a build without the
** reports has this: others save profiles.
*/

#ifndef copy_h
#define copy_h

#include "cost/compensate.h"
#include "file/journal.h"

#if !CPROF_WHOLE

/*
** Writes to a journal what only the Lua part, or the host, knows. 0: no room.
*/
typedef int (*CopyDescribe) (void *ud, Journal *j);

/*
** Writes the recording to a file at 'aside', and moves that to 'path'. All of
** its figures have to be up to date. 'o': its overhead. 0: it cannot be
** written, and 'why' (MAPPED_MESSAGE bytes) says why; then there is no file at
** 'aside', and the one at 'path' is as it was.
*/
CPROF_I int copy_write (Recording *x, const Overhead *o, const char *path,
                        const char *aside, CopyDescribe describe, void *ud,
                        char *why);

#endif

#endif

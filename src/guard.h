/*
** A file that is mapped can be cut short by any program that may write
** to it; a store to what is gone then raises SIGBUS, which ends the
** process. While files are guarded, such a page is replaced by an empty
** one instead, and the owner is told.
**
** There is one handler of a signal in a process: this is the one part of
** cprof that the states of a process share. The handler is there while a
** file is guarded, and hands all signals that are not about guarded pages
** to the one that was there before.
*/

#ifndef guard_h
#define guard_h

#include <stddef.h>

#include "platform.h"


#define GUARD_NONE	(-1)

/* most files that are guarded at a time */
#define GUARD_MAX	64

/*
** Guards 'size' bytes at 'base'. 'tell' is called, with 'ud', by the
** handler when a page was lost; it may do what a handler may. GUARD_NONE
** when there is no place left.
*/
CPROF_I int guard_add (void *base, size_t size, void (*tell) (void *ud),
                       void *ud);
CPROF_I void guard_remove (int guard);

/* was a page lost? */
CPROF_I int guard_lost (int guard);

#endif

/*
** A mapped file can be cut short by any program that may write to it; a
** store to the part that is gone raises SIGBUS, which ends the process.
** While a range of memory is guarded, such a page is replaced by an empty
** one instead, and the owner of the range is notified.
**
** A process has one handler per signal, so all Lua states of a process share
** the ranges. The handler is installed while a range is guarded. It passes
** all signals that are not about guarded pages to the handler that was there
** before.
*/

#ifndef sigbus_h
#define sigbus_h

#include <stddef.h>

#include "base/platform.h"


#define SIGBUS_NONE	(-1)

/* most ranges at a time */
#define SIGBUS_MAX	64

/*
** Guards 'size' bytes at 'base'. When a page is lost, the signal handler
** calls 'tell' with 'ud', which may do no more than a signal handler may.
** SIGBUS_NONE: there are too many ranges.
*/
CPROF_I int sigbus_add (void *base, size_t size, void (*tell) (void *ud),
                        void *ud);
CPROF_I void sigbus_remove (int range);

/* Has a page of the range been lost? */
CPROF_I int sigbus_lost (int range);

#endif

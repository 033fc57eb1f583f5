/*
** The task clock of a thread: signals that come after it has run for a given
** time, however short. Such a signal comes only while the thread is in its own
** code, never in a system call, so it interrupts no system call.
*/

#ifndef taskclock_h
#define taskclock_h

#include "base/platform.h"


#if PLATFORM_WATCH

typedef struct TaskClock {
  int file;	/* descriptor of the event; below 0: none */
  uint64_t id;	/* the system's number of the event */
} TaskClock;

/*
** Opens a task clock that sends 'signal' to this thread; none is due yet. 0:
** the system does not allow it.
*/
CPROF_I int taskclock_open (TaskClock *c, int signal);

/* Turns the signals on or off. May be called in a signal handler, too. */
CPROF_I void taskclock_run (const TaskClock *c, int on);

/*
** The next signal comes after 'ns' of running, and the others 'ns' apart, until
** this is called again.
*/
CPROF_I void taskclock_next (const TaskClock *c, uint64_t ns);

/*
** Is the event still open? The program may have closed the descriptor, and
** opened another one with its number.
*/
CPROF_I int taskclock_isopen (const TaskClock *c);

CPROF_I void taskclock_close (TaskClock *c);

/*
** For how many ns the system has worked for this thread: in system calls and
** page faults. It is counted in whole ticks of the system.
*/
CPROF_I uint64_t taskclock_system (void);

#endif

#endif

/*
** Another process: its memory, and its threads, which can be stopped for a
** moment. Nothing is written into it.
*/

#ifndef remote_process_h
#define remote_process_h

#include "remote/memory.h"


#if PLATFORM_WATCH

#define REMOTE_STOPPED	256	/* most threads that are stopped at once */

typedef struct RemoteProcess {
  RemoteMemory memory;
  long id;
  int count;
  long threads[REMOTE_STOPPED];	/* that are stopped ... */
  int signals[REMOTE_STOPPED];	/* ... and what each gets when it goes on */
} RemoteProcess;

/* Returns 0, or an errno: the system does not let us read its memory. */
CPROF_I int process_open (RemoteProcess *p, long id);

/* Stops a thread. Returns 0, or an errno; ESRCH: it has ended. */
CPROF_I int process_stop (RemoteProcess *p, long thread);

/* All threads that were stopped go on. */
CPROF_I void process_go (RemoteProcess *p);

/* Where a link goes, in up to 'room' bytes with the '\0'. 0: not known. */
CPROF_I int process_link (const char *path, char *to, size_t room);

/* The name of a system call in which threads wait; NULL: it is another. */
CPROF_I const char *process_call (long number);

/* Is its first argument a file descriptor? */
CPROF_I int process_takesfile (long number);

#endif

#endif

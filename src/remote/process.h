/*
** Another process: its memory, and its threads, which can be stopped for a
** moment. Nothing is written into it. Its memory may also be in a core file.
*/

#ifndef remote_process_h
#define remote_process_h

#include "remote/memory.h"


#if PLATFORM_WATCH

#define REMOTE_STOPPED	256	/* most threads that are stopped at once */

/* a part of the memory that a file has */
typedef struct RemoteSegment {
  uint64_t from, to, offset;
  const char *path;	/* NULL: the core file */
} RemoteSegment;

typedef struct RemoteProcess {
  RemoteMemory memory;
  long id;
  int file;		/* -1: there is none */
  const char *path;	/* path of one other file that is open; NULL: none is */
  int other;		/* descriptor of that file; -1: it cannot be opened */
  size_t segments;
  const RemoteSegment *segment;
  long late;		/* a thread that was to stop, and has not; 0: none */
  int count;
  long threads[REMOTE_STOPPED];	/* numbers of the threads that are stopped */
  int signals[REMOTE_STOPPED];	/* the signal that each gets when it goes on */
} RemoteProcess;

/* Returns 0, or an errno: the system does not let us read its memory. */
CPROF_I int process_open (RemoteProcess *p, long id);

/*
** Reads the memory in a file instead, whose segments stay where they are.
** Returns 0, or an errno.
*/
CPROF_I int process_openfile (RemoteProcess *p, const char *path,
                              const RemoteSegment *segment, size_t n);

/* 'process_goall'; and closes the file. */
CPROF_I void process_close (RemoteProcess *p);

/*
** Stops a thread. Returns 0, or an errno; ESRCH: it has ended; ETIMEDOUT: it
** has not stopped yet, as the system is busy for it. It stops later then, until
** 'process_go' is called again.
*/
CPROF_I int process_stop (RemoteProcess *p, long thread);

/* All threads that were stopped go on. */
CPROF_I void process_go (RemoteProcess *p);

/*
** 'process_go'; also waits, for some seconds at most, for a thread that has not
** stopped yet. If nobody let it go on, it would stay stopped for as long as
** this process runs.
*/
CPROF_I void process_goall (RemoteProcess *p);

/* Where a link goes, in up to 'room' bytes with the '\0'. 0: not known. */
CPROF_I int process_link (const char *path, char *to, size_t room);

/* a system call in which threads wait */
typedef struct ProcessCall {
  long number;
  const char *name;
  int file;		/* is the first argument a file descriptor? */
} ProcessCall;

/* NULL: threads do not wait in it. */
CPROF_I const ProcessCall *process_call (long number);

#endif

#endif

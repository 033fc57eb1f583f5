/*
** What a thread of another process runs: its calls, with their functions and
** lines.
*/

#ifndef remote_frames_h
#define remote_frames_h

#include "remote/layout.h"

#if PLATFORM_WATCH


#define REMOTE_SOURCE	1024	/* bytes of a source's name that are read */

typedef struct RemoteFrame {
  int isc;
  int tail;		/* was it called by a tail call? */
  uint64_t function;	/* the closure, or a C function without upvalues */
  uint64_t code;	/* the C function, or the prototype */
  int first, last;	/* lines of a Lua function's definition */
  int line;		/* the line that it is at; 0: not known */
  size_t length;
  char source[REMOTE_SOURCE];
} RemoteFrame;

/*
** Reads the call '*ci' of a thread that was proved, and sets '*ci' to its
** caller. NULL: all fits; else, what does not.
*/
CPROF_I const char *remote_frame (RemoteMemory *m, const RemoteLayout *l,
                                  uint64_t *ci, RemoteFrame *f);

/*
** The thread that the C function on top has as its first argument or upvalue:
** the one it resumed, if that is active. 0: there is none.
*/
CPROF_I uint64_t remote_resumed (RemoteMemory *m, const RemoteThread *t);

/* Reads a string, or its beginning, and adds a '\0'. 0: not a string. */
CPROF_I int remote_string (RemoteMemory *m, const RemoteLayout *l,
                           uint64_t at, char *to, size_t room,
                           size_t *length);

#endif

#endif

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
  int fresh;		/* does a C frame of the interpreter begin with it? */
  uint64_t function;	/* the closure, or a C function without upvalues */
  uint64_t code;	/* the C function, or the prototype */
  uint64_t pc;		/* of a Lua function: address after the instruction
			   that it is at */
  int first, last;	/* lines of a Lua function's definition */
  int line;		/* the line that it is at; 0: not known */
  size_t length;
  char source[REMOTE_SOURCE];
} RemoteFrame;

/* a function of Lua */
typedef struct RemoteProto {
  uint64_t at, code, steps, bases, source;
  uint32_t size, lines, nbases;
  int first, last;
} RemoteProto;

/* Reads a prototype. 0: it is not a prototype. */
CPROF_I int remote_proto (RemoteMemory *m, uint64_t at, RemoteProto *p);

/*
** Finds the line of an instruction, counted from 0. Line 0: the function is
** stripped. Returns 0 if the tables make no sense.
*/
CPROF_I int remote_line (RemoteMemory *m, const RemoteProto *p, int pc,
                         int *line);

/* Reads the name of its source, as remote_string does. */
CPROF_I int remote_sourcename (RemoteMemory *m, const RemoteLayout *l,
                               const RemoteProto *p, char *to, size_t room,
                               size_t *length);

/*
** Sets '*at' to the instruction before address 'pc', counted from 0. NULL: all
** fits; else, what does not.
*/
CPROF_I const char *remote_instruction (const RemoteProto *p, uint64_t pc,
                                        int *at);

/*
** Reads which function the call 'ci' of a thread runs: all of '*f' but lines
** and source. NULL: all fits; else, what does not.
*/
CPROF_I const char *remote_called (RemoteMemory *m, const RemoteLayout *l,
                                   uint64_t ci, RemoteFrame *f);

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

/* The bytes of a string; 0: also if it is not a string. */
CPROF_I uint64_t remote_stringsize (RemoteMemory *m, uint64_t at);

#endif

#endif

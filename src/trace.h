/*
** Where a trace goes: lines of a file, or a function that is called.
*/

#ifndef trace_h
#define trace_h

#include <stdio.h>

#include <lua.h>

#include "chunk.h"


typedef struct TraceEvent {
  int enters;		/* or leaves */
  uint32_t depth;	/* of what was entered since recording began */
  uint32_t coroutine;	/* its number; where calls nest by themselves */
  const char *title;
  uint64_t since;	/* ns from the start of recording */
  uint64_t took;	/* ns, of what is left */
} TraceEvent;

/* NULL, or an error message, which is left on the stack */
typedef const char *(*TraceCall) (lua_State *L, const TraceEvent *e);

typedef struct Trace {
  const Memory *memory;
  FILE *file;
  int json;		/* does it hold trace events, as JSON? */
  TraceCall call;	/* or, if it is NULL, the file */
  char **title;		/* by function */
  uint32_t titles;
  char why[128];	/* what went wrong */
} Trace;


/*
** To 'call', or to a file, or to standard error; a file whose name ends in
** .json holds trace events, as Perfetto and others read them. 0: 'why'
** tells.
*/
CPROF_I int trace_open (Trace *t, const char *path, TraceCall call,
                        const Memory *m);

/* 'why' stays */
CPROF_I void trace_close (Trace *t);

/* the title of a function, or NULL: not known yet */
CPROF_I const char *trace_title (const Trace *t, uint32_t func);

/* keeps a title; NULL: out of memory */
CPROF_I const char *trace_settitle (Trace *t, uint32_t func,
                                    const char *title, size_t length);

/* 0: 'why' tells */
CPROF_I int trace_write (Trace *t, lua_State *L, const TraceEvent *e);

#endif

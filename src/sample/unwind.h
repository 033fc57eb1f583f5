/*
** The walk of the stack: which node, and which instruction, a sample is
** about. What is as in the last sample is not looked for again.
*/

#ifndef unwind_h
#define unwind_h

#include "follow/recorder.h"
#include "follow/running.h"
#include "follow/walk.h"


#define UNWIND_CHAIN	224	/* coroutines that wait for each other; Lua
				   allows fewer */

/* a level of the stack of the last sample */
typedef struct UnwindLevel {
  Node *node;
  uint32_t func;
  uint32_t line;	/* of the call */
} UnwindLevel;

typedef struct Unwinder {
  Recorder *recorder;
  const Running *running;
  const InternalsState *at;	/* NULL: only the main thread is known */
  lua_State *thread[UNWIND_CHAIN];	/* from the main thread to L */
  uint32_t end[UNWIND_CHAIN + 1];	/* where in 'ci' those of each end */
  uint32_t threads;
  Walk walk;		/* what runs, from the top of L down */
  UnwindLevel *level;	/* the last sample, from the bottom up */
  uint32_t levels, room;
  Callee other;		/* one that is in no cache */
  RunningTop top;	/* what ran when the sample was asked for */
  CallAddress replaced;	/* where it is in the place of another; or NULL */
} Unwinder;

/* what was found */
typedef struct Unwound {
  Node *node;
  const Instructions *instructions;	/* of the function; or NULL */
  uint32_t at;		/* counter of the instruction */
} Unwound;

/* event of a sample that no event asked for */
#define UNWIND_NOEVENT	(-1)

/* What runs in L, at the event of 'ar', or at none. 0: out of memory. */
CPROF_I int unwind_look (Unwinder *s, lua_State *L, lua_Debug *ar, Unwound *x);

/* Lua's structures are read where 'at' is not NULL. */
CPROF_I void unwind_begin (Unwinder *s, const InternalsState *at);

/* All nodes were forgotten. */
CPROF_I void unwind_forget (Unwinder *s);

CPROF_I void unwind_clear (Unwinder *s);

#endif

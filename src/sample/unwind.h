/*
** The walk of the stack finds the call-tree node of a sample, and the
** instruction. It marks the calls that it finds. A call that still has its mark
** at the next sample has not ended, so the calls below it have not gone on. The
** walk ends there, so that a deep stack costs no more.
*/

#ifndef unwind_h
#define unwind_h

#include "follow/recorder.h"
#include "follow/running.h"
#include "follow/walk.h"


#define UNWIND_CHAIN	224	/* longest chain of coroutines, each resumed by
				   the one before; Lua allows fewer */

/* a level of the stack, as the last sample has found it */
typedef struct UnwindLevel {
  CallAddress ci;	/* NULL: a zone */
  Node *node;
  uint32_t func;
  uint32_t line;	/* the line of its call; 0: unknown */
} UnwindLevel;

/* one of the coroutines from the main thread to the one that runs */
typedef struct UnwindThread {
  lua_State *L;
  uint32_t from;	/* its first level */
  int kept;		/* was it at this place in the last sample, too? */
} UnwindThread;

typedef struct Unwinder {
  Recorder *recorder;
  const Running *running;
  const InternalsState *at;	/* NULL: only the main thread is known */
  UnwindThread thread[UNWIND_CHAIN];	/* the last one runs */
  uint32_t threads;
  Walk walk;		/* functions of a coroutine, from the top down to the
			   first one that is marked */
  UnwindLevel *level;	/* stack of the last sample, from the bottom up */
  uint32_t levels, room;
  uint32_t by_others;	/* see OpenZones; at the last sample */
  Callee other;		/* holds a callee that is in no cache */
  RunningTop top;	/* what ran when the sample was asked for */
  CallAddress replaced;	/* where 'unwind_replaced' has put a closure back;
			   NULL: nowhere */
} Unwinder;

/* what a walk has found */
typedef struct Unwound {
  Node *node;
  uint32_t func;	/* the function on top, which may have opened the zone
			   that is 'node' */
  const Instructions *instructions;	/* of the function on top; NULL: it has
					   none, or the current one is not
					   known */
  uint32_t at;		/* index of the current instruction */
  int c;		/* does a C function run, which may be excluded? */
} Unwound;

/* in place of an event's number, for a sample outside of hooks */
#define UNWIND_NOEVENT	(-1)

/*
** Sets '*x' to what runs in L, at the event 'ar'; NULL: outside of hooks. 0:
** out of memory.
*/
CPROF_I int unwind_look (Unwinder *s, lua_State *L, lua_Debug *ar, Unwound *x);

/* To be called before walks; they read Lua's structures if 'at' is not NULL. */
CPROF_I void unwind_begin (Unwinder *s, const InternalsState *at);

/* To be called when all nodes have been forgotten. */
CPROF_I void unwind_forget (Unwinder *s);

/* Frees its memory. */
CPROF_I void unwind_clear (Unwinder *s);

#endif

/*
** The walk of the stack: which node, and which instruction, a sample is
** about. What is as in the last sample is not looked for again.
*/

#ifndef walk_h
#define walk_h

#include "record/recorder.h"
#include "record/running.h"


#define WALK_CHAIN	224	/* coroutines that wait for each other; Lua
				   allows fewer */

/* a level of the stack of the last sample */
typedef struct WalkLevel {
  Node *node;
  uint32_t func;
  uint32_t line;	/* of the call */
} WalkLevel;

typedef struct Walk {
  Recorder *recorder;
  const Running *running;
  const InternalsState *at;	/* NULL: only the main thread is known */
  lua_State *thread[WALK_CHAIN];	/* from the main thread to L */
  uint32_t end[WALK_CHAIN + 1];	/* where in 'ci' those of each end */
  uint32_t threads;
  CallAddress *ci;	/* what runs, from the top of L down */
  uint32_t count, capacity;
  WalkLevel *level;	/* the last sample, from the bottom up */
  uint32_t levels, room;
  Callee other;		/* one that is in no cache */
} Walk;

/* what was found */
typedef struct Walked {
  Node *node;
  const Instructions *instructions;	/* of the function; or NULL */
  uint32_t at;		/* counter of the instruction */
} Walked;

/* event of a sample that no event asked for */
#define WALK_NOEVENT	(-1)

/* What runs in L, at the event of 'ar', or at none. 0: out of memory. */
CPROF_I int walk_look (Walk *s, lua_State *L, lua_Debug *ar, Walked *x);

/* All nodes were forgotten. */
CPROF_I void walk_forget (Walk *s);

CPROF_I void walk_clear (Walk *s);

#endif

/*
** The stack of a thread that waits, read from another thread: which call-tree
** node it belongs to, where a sample has told that before.
*/

#ifndef blocked_h
#define blocked_h

#include "base/watch.h"
#include "count/node.h"
#include "follow/running.h"

#if PLATFORM_WATCH

#include <pthread.h>


/*
** A number for what runs in a state: its coroutines from the main thread on,
** their functions, and where these are. The thread that runs the state waits,
** or calls this; what is read while it changes means nothing. 0: the stack is
** too deep, or cannot be read. Locks and allocates nothing.
*/
CPROF_I uint64_t blocked_stack (const Running *r);


/* what waits were seen in a node since that was asked last */
typedef struct BlockedWait {
  Node *node;
  uint64_t ns, samples;
} BlockedWait;

typedef struct BlockedStack {
  uint64_t stack;	/* its number; 0: none */
  uint64_t until;	/* when it is to be asked for anew, by the monotonic
			   clock: other code may be where the old one was */
  BlockedWait wait;
} BlockedStack;

#define BLOCKED_MOST	512	/* stacks that are known at the same time */

/* Two threads use it at a time. The child of a fork has only one of them. */
typedef struct BlockedStacks {
  pthread_mutex_t lock;
  unsigned generation;	/* of the process, and ... */
  long process;		/* ... its number: in others, there is nothing */
  volatile int waits;	/* are there any to take? */
  BlockedStack list[BLOCKED_MOST];
} BlockedStacks;

CPROF_I void blocked_init (BlockedStacks *b);

/* Is this the process in which it was made, and not the child of a fork? */
CPROF_I int blocked_isours (const BlockedStacks *b);

CPROF_I void blocked_free (BlockedStacks *b);

/* A sample in 'node' was of a thread that had waited with this stack. */
CPROF_I void blocked_learn (BlockedStacks *b, uint64_t stack, Node *node,
                            uint64_t now);

/* All nodes were forgotten. */
CPROF_I void blocked_forget (BlockedStacks *b);

/* A thread waits with this stack, for so long. 0: the node is not known. */
CPROF_I int blocked_wait (BlockedStacks *b, uint64_t stack, uint64_t now,
                          uint64_t ns, uint64_t samples);

/* Takes the waits of one node. 0: there are no more. */
CPROF_I int blocked_take (BlockedStacks *b, BlockedWait *to);

#endif

#endif

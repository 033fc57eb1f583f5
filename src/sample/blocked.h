/*
** Waiting stacks. While the thread that runs Lua waits, a watching thread
** reads its Lua stack and hashes it. If an earlier sample of an equal stack has
** told which call-tree node this hash stands for, the wait is charged to that
** node, and no signal is needed.
*/

#ifndef blocked_h
#define blocked_h

#include "base/watch.h"
#include "count/node.h"
#include "follow/running.h"
#include "sample/openzone.h"

/* the waits of one node that the watching thread has seen */
typedef struct BlockedWait {
  Node *node;
  uint64_t ns, samples;
} BlockedWait;


#if PLATFORM_WATCH

#include <pthread.h>


/*
** Returns a hash of what runs in a state: its coroutines from the main thread
** on, their functions, the instruction that each is at, and its open zones.
** The thread that runs the state must wait, or be the caller: the hash of a
** stack that changes meanwhile means nothing. 0: the stack is too deep, or
** cannot be read. Locks and allocates nothing.
*/
CPROF_I uint64_t blocked_stack (const Running *r, const OpenZones *z);


typedef struct BlockedStack {
  uint64_t stack;	/* its hash; 0: this entry is free */
  uint64_t until;	/* ns on the monotonic clock, from which on the node is
			   not trusted: a new function may by then have the
			   address of a freed one, thus an equal hash */
  uint64_t trust;	/* for how long it was trusted the last time, in ns */
  BlockedWait wait;	/* its node, and what 'blocked_take' has not taken
			   yet */
} BlockedStack;

#define BLOCKED_MOST	512	/* most stacks that are known at a time */

/*
** The known stacks. The thread that runs Lua and the one that watches it share
** them, under the lock. The child of a fork has no watching thread: there,
** nothing is added, found or taken.
*/
typedef struct BlockedStacks {
  pthread_mutex_t lock;
  PlatformSelf owner;	/* the process that has both threads */
  volatile int waits;	/* may there be any for 'blocked_take'? */
  BlockedStack list[BLOCKED_MOST];
} BlockedStacks;

/* Makes an empty list, which this process owns. */
CPROF_I void blocked_init (BlockedStacks *b);

/*
** Does this process own the list? 0: it is a forked child of the owner, and
** has no watching thread. May be called in a signal handler.
*/
CPROF_I int blocked_isours (const BlockedStacks *b);

CPROF_I void blocked_free (BlockedStacks *b);

/*
** Notes that this stack belongs to 'node', as a sample at the time 'now' has
** told. Each sample that says so again doubles the time for which the node is
** trusted. Does nothing if the entry for this stack has waits that were not
** taken yet.
*/
CPROF_I void blocked_learn (BlockedStacks *b, uint64_t stack, Node *node,
                            uint64_t now);

/*
** Forgets all stacks and waits. To be called when all nodes have been
** forgotten.
*/
CPROF_I void blocked_forget (BlockedStacks *b);

/*
** Adds 'ns' and 'samples' to the waits of this stack, at the time 'now'. 0:
** adds nothing, as no sample has told the stack's node, or the last one that
** did was too long ago.
*/
CPROF_I int blocked_wait (BlockedStacks *b, uint64_t stack, uint64_t now,
                          uint64_t ns, uint64_t samples);

/* Moves the waits of one stack to '*to'. 0: there are no more. */
CPROF_I int blocked_take (BlockedStacks *b, BlockedWait *to);

#endif

#endif

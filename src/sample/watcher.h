/*
** Samples by looks from another thread. A thread that runs gets a tick. One
** that waits is not interrupted where its stack has waited before, so that
** the program's system calls go on.
*/

#ifndef watcher_h
#define watcher_h

#include "sample/blocked.h"
#include "sample/pace.h"


#if PLATFORM_WATCH

typedef struct Watcher {
  Watch *watch;
  Pace *pace;
  const Running *running;
  BlockedStacks stacks;
  int asked;		/* has a tick been asked for that did not come? */
  int anew;		/* is the next look none, but draws when the next is? */
  volatile uint64_t rests;	/* since when it looks at nothing; 0: it looks */
  volatile uint64_t unknown;	/* the stack whose node that tick is to tell */
  /* of the watching thread */
  uint64_t mean;	/* ns from the last look to the next, on average */
  uint64_t cpu;		/* processor time of the thread where it waited last */
  uint64_t since;	/* when that wait was seen first */
  uint64_t stack;	/* of that wait; 0: its node is not known */
} Watcher;

/*
** Watches this thread, for a timer that was begun. The first tick may come
** before this returns, and finds the watcher in '*to'; NULL there: it cannot.
*/
CPROF_I void watcher_begin (Watcher **to, Pace *p, const Running *running);

/* Until 'watcher_resume', it looks at nothing. */
CPROF_I void watcher_rest (Watcher *w);
CPROF_I void watcher_resume (Watcher *w);

/* No look goes on when it returns. The handler may still use it. */
CPROF_I void watcher_end (Watcher *w);
CPROF_I void watcher_free (Watcher *w);

/*
** In the thread that is watched: has a tick been asked for? Then it counts
** as one that has come, and '*stack' is the one whose node is to be learnt;
** 0: none is.
*/
CPROF_I int watcher_tick (Watcher *w, uint64_t *stack);

/* The sample of that tick is of 'node', in this thread, just now. */
CPROF_I void watcher_learn (Watcher *w, uint64_t stack, Node *node);

#endif

#endif

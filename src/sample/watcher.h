/*
** Samples without interrupting waits. A watching thread looks at the thread
** that runs Lua. If the thread waits with a stack whose node is known, the node
** gets the time, and no signal ends the system call. Else the watcher asks for
** a tick, which a sample follows as usual.
*/

#ifndef watcher_h
#define watcher_h

#include "sample/blocked.h"
#include "sample/pace.h"


/*
** NULL stands for no watcher: the timer's ticks come by themselves. For NULL,
** the functions below do nothing and return 0, except 'watcher_tick', which
** returns 1, and 'watcher_resume', which needs a watcher.
*/
typedef struct Watcher Watcher;

/* a tick that the watcher has asked for */
typedef struct WatcherTick {
  uint64_t ns;		/* what it stands for; 0: it was not asked for */
  uint64_t stack;	/* hash of the stack whose node the sample is to tell;
			   0: of none */
  int seen;		/* was the thread seen to run when it was asked for? */
} WatcherTick;

#if PLATFORM_WATCH

/*
** Begins to watch this thread, whose timer was begun, and sets '*to' to the
** watcher; NULL: this thread cannot be watched or, if 'prompt', looks would
** come late on a busy machine. The first tick may come before this returns, and
** finds the watcher in '*to'.
*/
CPROF_I void watcher_begin (Watcher **to, Pace *p, const Running *running,
                            const OpenZones *zones, int prompt);

/* Lets the watcher look at nothing until 'watcher_resume'. */
CPROF_I void watcher_rest (Watcher *w);

/* Lets the watcher look again, after a rest. 'w' must not be NULL. */
CPROF_I void watcher_resume (Watcher *w);

/*
** Ends the watching thread. When this returns, no look is in progress. The
** handler may still use the watcher until its timer has ended; 'watcher_free'
** then frees it.
*/
CPROF_I void watcher_end (Watcher *w);
CPROF_I void watcher_free (Watcher *w);

/* Do ticks come only when the watcher asks for them? */
CPROF_I int watcher_asks (const Watcher *w);

/*
** In the thread that is watched, also in its signal handler: does a tick count?
** It does if the watcher has asked for one and none has come since, or if the
** timer's ticks come by themselves.
*/
CPROF_I int watcher_tick (Watcher *w, WatcherTick *t);

/*
** In the thread that is watched, in a sample: the node of 'stack', which is
** from 'watcher_tick', is 'node'. Does nothing if another stack runs by now.
*/
CPROF_I void watcher_learn (Watcher *w, uint64_t stack, Node *node);

/* see 'blocked_take' and 'blocked_forget' */
CPROF_I int watcher_take (Watcher *w, BlockedWait *to);
CPROF_I void watcher_forget (Watcher *w);

#else

#define watcher_begin(to,p,running,zones,prompt) \
	((void)(to), (void)(p), (void)(running), (void)(zones), (void)(prompt))
#define watcher_rest(w)	((void)(w))
#define watcher_resume(w)	((void)(w))
#define watcher_end(w)	((void)(w))
#define watcher_free(w)	((void)(w))
#define watcher_asks(w)	((void)(w), 0)
#define watcher_tick(w,t) \
	((void)(w), (t)->ns = (t)->stack = 0, (t)->seen = 0, 1)
#define watcher_learn(w,stack,node) \
	((void)(w), (void)(stack), (void)(node))
#define watcher_take(w,to)	((void)(w), (void)(to), 0)
#define watcher_forget(w)	((void)(w))

#endif

#endif

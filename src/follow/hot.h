/*
** Hot: what every event needs of a recorder, in a few cache lines.
*/

#ifndef hot_h
#define hot_h

#include "count/frames.h"
#include "count/gap.h"
#include "count/recording.h"
#include "follow/stack.h"
#include "internals/internals.h"


struct Recorder;

/* an entry of the inline cache: a callee as an event shows it */
typedef struct Callee {
  uintptr_t address;	/* C function; of a Lua function the source, or, where
			   Lua's structures are read, the prototype ... */
  uint64_t lines;	/* of its definition; CALLEE_C: a C function */
  const void *source;	/* ... with this source ... */
  const void *code;	/* ... and this code */
  FrameIs is;		/* what its frames are */
  LineAt entry;		/* its first line, where lines are counted */
  uint64_t key;		/* what a Lua function is known by, see SourceKey */
} Callee;

/* a node beyond those that are kept in its caller's */
typedef struct Child {
  const Node *parent;
  Node *node;
  uint64_t key;		/* see node_key */
  uint64_t unused;	/* makes it half a cache line */
} Child;

#define CALLEE_C	UINT64_MAX
#define CALLEE_DOUBT	1u	/* bit of an address that no prototype has: only
				   closures identify it, see collection.h */
#define CALLEE_BITS	9
#define CALLEE_SLOTS	(1 << CALLEE_BITS)
#define CHILD_BITS	9

/* No address in it outlives what it stands for. */
typedef struct Cache {
  Callee callee[CALLEE_SLOTS];
  Child child[1 << CHILD_BITS];
  Callee unsure;	/* for what must not be cached */
} Cache;

/* what an event function is compiled for: bits that are constants there */
#define HOW_FOLD	1	/* recursion folds */
#define HOW_LINES	2
#define HOW_FRAMES	4	/* the host's */
#define HOW_CALLSITES	8
#define HOW_DIRECT	16	/* Lua's structures are read */
#define HOW_COUNT	64	/* instructions are counted */
#define HOW_ANY		32	/* the bits are known to the recorder only */

/* in mode count: what is counted, as long as no other event comes */
typedef struct Counting {
  CallAddress ci;	/* that of the function; NULL: none, look again */
  const void *code;
  Instruction *list;
  uint32_t *at;		/* see Frame */
  uint64_t ticks;	/* instructions that were counted */
  int on;		/* is this mode count? */
} Counting;

typedef struct Hot {
  lua_State *L;		/* the coroutine that runs; NULL: none is recorded */
  int how;		/* HOW_ANY: not for the fast event functions */
  ClockKind clock;
  uint64_t last;	/* ticks at the last event */
  uint64_t since;	/* ticks at the last event that was not a line event,
			   where there are line events */
  uint64_t gap;		/* ticks beyond which it is asked where they went */
  uint64_t countdown;	/* events to the next timed one */
  Frame *top;		/* of the current stack */
  Frame *limit;
  Callee *callee;	/* the caches */
  Child *child;
  const Tree *tree;
  Frames *frames;	/* NULL: the host has ended no frame yet */
  const Node **running;	/* where to tell which node runs */
  uint64_t scheduled;	/* events, when the countdown has ended */
  uint64_t due;	/* when the interval ends, see interval.h; 0: never */
  uint64_t seed;	/* of the choice of timed events */
  uint64_t epoch;	/* tells this recording from earlier ones */
  uint64_t worked;	/* the result of work that is timed, see hook_work */
  int timed;		/* are events timed? */
  int callsites;	/* are calls told apart by their lines? */
  int fold;
  int lines;		/* are lines counted? */
  int somelines;	/* ... of some sources only? */
  int crashes;		/* do line events crash functions without lines? */
  int recounts;		/* does Lua begin again to count instructions? */
  int direct;		/* are Lua's structures read? */
  int trace;
  Counting counting;
  int deferred;		/* a collection, see nogc.h */
  Line nowhere;		/* stands for all lines that are not counted ... */
  LineAllocated nowhere_allocated;	/* ... follows it, see line_allocated ... */
  Lines nowhere_lines;	/* ... and this is all of it */
  const Node *unread;	/* 'running' points here when nobody reads it */
  const void *thread;	/* the thread that has its address */
  int shared;		/* did several threads have it? */
  struct Recorder *recorder;
  Recording *recording;
  Gap *look;		/* where gaps between events went */
} Hot;

/*
** What this thread recorded last. It is compared with what an event says,
** never trusted: another state may run next. Where nothing was recorded,
** it is 'hot_nobody'.
*/
#if defined(CPROF_AMALGAMATION)  /* C++ cannot declare it and define it later */
static const Hot hot_nobody = ZEROS;
static PLATFORM_THREAD Hot *hot_current = (Hot *)&hot_nobody;
#else
CPROF_I const Hot hot_nobody;
CPROF_I PLATFORM_THREAD Hot *hot_current;
#endif

/* Another thread has recorded 'h' until now. */
COLD CPROF_I void hot_follow (Hot *h);

/* This thread records 'h' from now on. */
static inline void hot_enter (Hot *h) {
  hot_current = h;
  if (h->thread != &hot_current) hot_follow(h);
}

/*
** What this thread recorded last, in a signal handler: nothing where another
** thread records that now.
*/
static inline Hot *hot_own (void) {
  Hot *h = hot_current;
#if defined(__GNUC__)
  const void *thread = __atomic_load_n(&h->thread, __ATOMIC_SEQ_CST);
#else
  const void *thread = h->thread;
#endif
  return thread == &hot_current ? h : (Hot *)&hot_nobody;
}

/* A new one, or NULL; and one that is no longer needed. */
CPROF_I Hot *hot_new (void);
CPROF_I void hot_free (Hot *h);

/* the time, for what is not worth a path of its own */
CPROF_I uint64_t hot_read (const Hot *h);

static inline uint64_t hot_now (const Hot *h) {
  return likely(h->clock == CLOCK_TICKS) ? platform_ticks() : hot_read(h);
}

/* The clock is behind the last event: notes it, and goes on from there. */
COLD CPROF_I void hot_backwards (Hot *h, uint64_t now);

/*
** The time since the last event is longer than 'gap', or the clock is behind
** that event. Takes out what the thread was not on the processor for, see
** gap.h. Returns the time that it is now.
*/
COLD CPROF_I uint64_t hot_gap (Hot *h, uint64_t now);

/* Others had the processor: time passed that belongs to no function. */
COLD CPROF_I void hot_preempted (Hot *h, uint64_t ticks);

/*
** Where the time from the last event until 'now' went. What others had the
** processor for is noted, and not part of that time any more.
*/
COLD CPROF_I void hot_divide (Hot *h, uint64_t now, GapParts *parts);

/*
** The time, where what has passed since the last event is the profiler's:
** without the time in which others had the processor.
*/
COLD CPROF_I uint64_t hot_owngap (Hot *h);

/* Of the time up to the last event, what only lines were charged. */
static inline uint64_t hot_pending (const Hot *h) {
  return h->lines ? h->last - h->since : 0;
}

static inline LineAt hot_nowhere (Hot *h) {
  LineAt line;
  line.at = &h->nowhere;
  line.of = &h->nowhere_lines;
  return line;
}

/* Makes 'now' the time of the last event. */
static inline void hot_settime (Hot *h, uint64_t now) {
  h->last = h->since = now;
}

/* Charges the time up to 'now' to the line that runs. */
static inline void hot_chargeline (Hot *h, uint64_t now) {
  if (unlikely(now - h->last > h->gap)) now = hot_gap(h, now);
  h->top->line.at->self += now - h->last;
  h->last = now;
}

/* Charges the time up to 'now' to the frame on top, and to its line. */
static inline void hot_charge (Hot *h, uint64_t now) {
  if (unlikely(now - h->last > h->gap)) now = hot_gap(h, now);
  if (h->lines) h->top->line.at->self += now - h->last;
  h->top->node->self += now - h->last + hot_pending(h);
  hot_settime(h, now);
}

/* Events that were seen. */
static inline uint64_t hot_events (const Hot *h) {
  return h->scheduled - h->countdown;
}

#endif

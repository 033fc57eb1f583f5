/*
** Hot: the fields of a recorder that every event needs, in a few cache
** lines.
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
  uintptr_t address;	/* the C function, or the source of a Lua function;
			   its prototype where Lua's structures are read; else
			   its closure, if lines do not identify it */
  uint64_t lines;	/* first and last of its definition, if 'address' is a
			   source; CALLEE_C: a C function; CALLEE_CLOSURE */
  FrameIs is;		/* function and flags that its frames get */
  LineAt entry;		/* its first line, where lines are counted */
  uint64_t key;		/* what identifies a Lua function, see SourceKey */
  uint64_t unused[2];	/* pads it to a cache line */
} Callee;

/* a cached node that has no slot in its parent */
typedef struct Child {
  const Node *parent;
  Node *node;
  uint64_t key;		/* see node_key */
  uint64_t unused;	/* pads it to half a cache line */
} Child;

#define CALLTIME_SHIFT	8

#define CALLEE_C	UINT64_MAX
#define CALLEE_CLOSURE	(UINT64_MAX - 1)
#define CALLEE_BITS	10
#define CALLEE_SLOTS	(1 << CALLEE_BITS)
#define CALLEE_WAYS	4	/* slots in which one callee may be */
#define CHILD_BITS	9

/* An entry is cleared as soon as its addresses may stand for something else. */
typedef struct Cache {
  Callee callee[CALLEE_SLOTS];
  Child child[1 << CHILD_BITS];
} Cache;

/*
** What is recorded, as bits. Each set of them that is used often has a variant
** of the event function.
*/
#define WITH_FOLD	1	/* recursion folds */
#define WITH_LINES	2
#define WITH_FRAMES	4	/* the host ends frames */
#define WITH_CALLSITES	8
#define WITH_DIRECT	16	/* Lua's structures are read */
#define WITH_COUNT	64	/* instructions are counted */
#define WITH_DISTRIBUTION	128	/* durations of calls are counted */
#define WITH_RING	256	/* the last events are kept, see count/ring.h */
#define WITH_SLOW	32	/* no fast event function can be used */

/* in mode count: the function whose instructions are counted at present */
typedef struct Counting {
  CallAddress ci;	/* NULL: not known, ask 'instructions_enter' */
  const void *code;
  Instruction *list;
  uint32_t *at;		/* see Frame */
  uint64_t ticks;	/* instructions counted so far: the clock of the mode */
  int on;		/* is this mode count? */
} Counting;

#define HOT_NOSLICES	GAP_NEVER

typedef struct Hot {
  lua_State *L;		/* the coroutine that runs; NULL: none is recorded */
  int variant;		/* bits, see WITH_FOLD */
  ClockKind clock;
  uint64_t last;	/* ticks at the last event */
  uint64_t since;	/* ticks at the last event that was not a line event,
			   where there are line events */
  uint64_t gap;		/* a longer time between two events, in ticks, is
			   looked into, see gap.h; or has slices of its own */
  uint64_t countdown;	/* events to the next timed one */
  Frame *top;		/* the top of the current stack */
  Frame *limit;
  Callee *callee;	/* the caches */
  Child *child;
  const Tree *tree;
  Ring *ring;		/* NULL: events are not kept */
  Frames *frames;	/* NULL: the host has ended no frame yet */
  const Node **running;	/* where the node that runs is published */
  uint64_t scheduled;	/* number of events when the countdown reaches 0 */
  uint64_t due;	/* when the interval ends, see interval.h; 0: never */
  uint64_t seed;	/* seed of the random choice of timed events */
  uint64_t epoch;	/* tells this recording from earlier ones */
  uint64_t worked;	/* result of the work timed in hook_work: keeps the
			   compiler from removing it */
  int timed;		/* are events timed? */
  int rehearsals;	/* events to go before one is timed, see timing.h */
  int callsites;	/* do call sites have nodes of their own? */
  int fold;
  int lines;		/* are lines counted? */
  int somelines;	/* are lines of some sources only counted? */
  int crashes;		/* do line events crash in functions without lines? */
  int recounts;		/* does Lua's instruction count start again at times? */
  int direct;		/* are Lua's structures read? */
  int trace;
  int distribution;	/* are durations of calls counted? see calltime.h */
  uint64_t suspended;	/* 'suspended' of the current stack */
  DurationParts away;	/* 'away' of the current stack */
  uint64_t eventcost;	/* mean overhead of an event, in ticks shifted left by
			   CALLTIME_SHIFT */
  uint64_t waited;	/* ticks in which the thread waited so far */
  uint64_t budget;	/* ticks that a call may take; UINT64_MAX: any number */
  uint64_t leafcost;	/* ticks of overhead in a call, beyond its events' */
  uint64_t slice;	/* ticks of a slice, see slices.h; HOT_NOSLICES: there are
			   none */
  uint64_t sliced;	/* ticks, when the last slice ended */
  Scale scale;		/* the clock's rate, as known when recording began */
  Counting counting;
  int deferred;		/* does a collection wait? see nogc.h */
  Line nowhere;		/* stands for all lines that are not counted */
  LineAllocated nowhere_allocated;	/* must follow it, see line_allocated */
  Lines nowhere_lines;	/* the list whose only line is 'nowhere' */
  const Node *unread;	/* 'running' points here when nobody reads it */
  unsigned thread;	/* number of the thread that records it; 0: none has */
  int shared;		/* have several threads recorded it? */
  struct Recorder *recorder;
  Recording *recording;
  Gap *look;		/* finds out where gaps between events went */
} Hot;

/*
** What this thread recorded last; 'hot_nobody' if nothing. Another state may
** run next, so events compare it with their own state and never trust it.
*/
#if defined(CPROF_AMALGAMATION)  /* C++ cannot declare it and define it later */
static const Hot hot_nobody = ZEROS;
static PLATFORM_THREAD Hot *hot_current = (Hot *)&hot_nobody;
static PLATFORM_THREAD unsigned hot_thread;
#else
CPROF_I const Hot hot_nobody;
CPROF_I PLATFORM_THREAD Hot *hot_current;

/*
** This thread's number; 0: it has none yet. An address would not tell threads
** apart: a new thread may have its variables where one that ended had them.
*/
CPROF_I PLATFORM_THREAD unsigned hot_thread;
#endif

/* Makes this thread the one that records 'h', which was another or none. */
COLD CPROF_I void hot_follow (Hot *h);

/* Keeps the last look in the figures, for whoever reads the file. */
CPROF_I void hot_keeplook (Hot *h);

/* Looks at the clocks as 'gap_skip' does, and keeps the look. */
CPROF_I void hot_skipgap (Hot *h);

/* This thread records 'h' from now on. */
static inline void hot_enter (Hot *h) {
  hot_current = h;
  if (h->thread != hot_thread || h->thread == 0) hot_follow(h);
}

/*
** For a signal handler: what this thread recorded last, or 'hot_nobody' if
** another thread has recorded it since.
*/
static inline Hot *hot_own (void) {
  Hot *h = hot_current;
#if defined(__GNUC__)
  unsigned thread = __atomic_load_n(&h->thread, __ATOMIC_SEQ_CST);
#else
  unsigned thread = h->thread;
#endif
  return thread != 0 && thread == hot_thread ? h : (Hot *)&hot_nobody;
}

/* Allocates a Hot (NULL: out of memory), and frees one. */
CPROF_I Hot *hot_new (void);
CPROF_I void hot_free (Hot *h);

/* the time by any kind of clock; slower than 'hot_now' */
CPROF_I uint64_t hot_read (const Hot *h);

static inline uint64_t hot_now (const Hot *h) {
  return likely(h->clock == CLOCK_TICKS) ? platform_ticks() : hot_read(h);
}

/*
** The clock was set back to 'now', before the last event: notes by how much,
** and makes 'now' the time of the last event.
*/
COLD CPROF_I void hot_backwards (Hot *h, uint64_t now);

/*
** For a gap: the time since the last event is longer than 'gap', or the clock
** was set back. Excludes the part in which the thread was preempted, and notes
** the part in which it waited, see gap.h. Returns the current time.
*/
COLD CPROF_I uint64_t hot_gap (Hot *h, uint64_t now);

/*
** Ends a slice of the time axis, if it has slices, at the last event. Returns
** the ticks that this took: they are overhead, and the last event is later by
** as much.
*/
COLD CPROF_I uint64_t hot_slice (Hot *h);

/* Excludes 'ticks' in which the thread was preempted: no function gets them. */
COLD CPROF_I void hot_preempted (Hot *h, uint64_t ticks);

/*
** Divides the time from the last event until 'now' into '*parts', and
** excludes the part in which the thread was preempted.
*/
COLD CPROF_I void hot_divide (Hot *h, uint64_t now, GapParts *parts);

#if PLATFORM_SIGNALS
/*
** In a signal handler, when the signal is about to end the program: notes when
** that was, and how much of the time since the last event it has waited.
*/
CPROF_I void hot_killed (Hot *h);
#endif

/*
** The current time, where the time since the last event is overhead. Excludes
** the part in which the thread was preempted.
*/
COLD CPROF_I uint64_t hot_owngap (Hot *h);

/* The ring, or NULL; a recorder alone has none. */
static inline Ring *hot_ring (const Hot *h) {
  return CPROF_WHOLE ? h->ring : NULL;
}

/*
** Keeps in the ring that a node had the 'passed' ticks up to the last event.
*/
COLD CPROF_I void hot_keepany (Hot *h, uint32_t node, unsigned what,
                               uint64_t passed);

static INLINE void hot_keep (Hot *h, const Node *n, unsigned what,
                             uint64_t passed) {
  if (likely(ring_fits(h->ring, passed)))
    ring_put(h->ring, n->id, what, passed);
  else
    hot_keepany(h, n->id, what, passed);
}

/* 'hot_charge', where there is a ring. */
COLD CPROF_I void hot_chargekept (Hot *h, uint64_t now);

/* The time that was charged last was ended by a call, or by another event. */
static inline void hot_ended (Hot *h, unsigned what) {
  if (hot_ring(h) != NULL) ring_ended(h->ring, what, NODE_OVERHEAD);
}

/* Time up to the last event that was charged to lines, but not to nodes yet. */
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

/* Charges the time up to 'now' to the node on top, and to its line. */
static inline void hot_charge (Hot *h, uint64_t now) {
  if (unlikely(hot_ring(h) != NULL)) {
    hot_chargekept(h, now);
    return;
  }
  if (unlikely(now - h->last > h->gap)) now = hot_gap(h, now);
  if (h->lines) h->top->line.at->self += now - h->last;
  h->top->node->self += now - h->last + hot_pending(h);
  hot_settime(h, now);
}

/* the number of events so far */
static inline uint64_t hot_events (const Hot *h) {
  return h->scheduled - h->countdown;
}

#endif

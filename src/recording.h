/*
** A recording: all that is kept of one lua_State and its coroutines, and
** how an event finds it.
*/

#ifndef recording_h
#define recording_h

#include <lua.h>

#include "chunk.h"
#include "clock.h"
#include "cost.h"
#include "file.h"
#include "function.h"
#include "history.h"
#include "journal.h"
#include "node.h"
#include "stack.h"
#include "trace.h"


/* what the hook sees of a callee, and the function that it then is */
typedef struct Known {
  uintptr_t callee;	/* C function, or source of a Lua function */
  uint64_t lines;	/* where it is defined; LINES_C: a C function */
  FrameIs is;		/* what its frames are */
  Line *entry;		/* its first line, where lines are counted */
} Known;

/* a state beyond those that its caller knows by heart */
typedef struct Slot {
  const Node *parent;
  Node *node;
  uint32_t func;
  uint32_t line;	/* of the call */
  uint32_t flags;	/* FRAME_TRUNCATED, or none */
} Slot;

#define LINES_C		UINT64_MAX
#define KNOWN_BITS	9
#define SLOT_BITS	9

/* the caches of a recording; no address in them outlives what it tells */
typedef struct Cache {
  Known known[1 << KNOWN_BITS];
  Slot slot[1 << SLOT_BITS];
  Known unsure;		/* for what may not be kept */
} Cache;

/* what can be recorded with ticks, without asking further */
typedef enum Fast {
  FAST_NONE,
  FAST_CALLS,
  FAST_FOLDED,		/* calls, where recursion folds */
  FAST_PERIODS,		/* calls, period by period */
  FAST_LINES		/* calls and all lines */
} Fast;

/*
** What every event needs. It lies in a page of its own, which a fork
** wipes: in the child 'L' is no coroutine's address, and the next event
** takes the slow way and finds out.
*/
typedef struct Hot {
  lua_State *L;		/* the coroutine that runs; NULL: none is recorded */
  uint64_t last;	/* ticks at the last event */
  uint64_t since;	/* the same, but for events of lines */
  Frame *top;		/* of the current stack */
  Frame *limit;
  Cache *cache;
  const Tree *tree;
  History *history;	/* NULL: there are no periods */
  uint64_t events;
  uint64_t timed;	/* the next event that is timed; 0: none is */
  uint64_t seed;	/* decides which one it is */
  uint64_t backwards;	/* times that the clock ran backwards */
  uint64_t epoch;	/* tells what was recorded from what was before */
  ClockKind clock;
  Fast fast;
  int callsites;	/* are calls told apart by their lines? */
  int fold;		/* are active frames counted in their nodes? */
  int lines;		/* are lines counted? */
  int tiers;		/* of some sources only? */
  int trace;		/* is each enter and leave told? */
  Line nowhere;		/* stands for all other lines */
  int shared;		/* did several threads keep its address? */
  void *thread;		/* the one that keeps it */
  struct Recording *recording;
} Hot;

/*
** What this thread recorded last. It is only compared with what an event
** says, never trusted: another state may run next. Where nothing was
** recorded yet, it is 'recording_nobody'.
*/
#if defined(CPROF_AMALGAMATION)  /* C++ cannot declare it and define it later */
static const Hot recording_nobody = ZEROS;
static PLATFORM_THREAD Hot *recording_hot = (Hot *)&recording_nobody;
#else
CPROF_I const Hot recording_nobody;
CPROF_I PLATFORM_THREAD Hot *recording_hot;
#endif

/* this thread records 'h' from now on */
static inline void recording_enter (Hot *h) {
  recording_hot = h;
  if (h->thread != &recording_hot) {
    h->shared = h->thread != NULL;
    h->thread = &recording_hot;
  }
}

typedef enum State { STATE_STOPPED, STATE_RUNNING, STATE_PAUSED } State;

typedef struct Options {
  int cpu;		/* processor time instead of wall time */
  int callsites;
  int fold;		/* recursion */
  int foldc;		/* C functions */
  uint32_t max_nodes;
  int lines;
  uint32_t history;	/* periods to keep */
  int full;		/* with all their nodes? */
  double budget;	/* ms, beyond which a period is slow; 0: none */
  uint32_t slow;	/* slow periods to keep */
  const char *hidden;	/* sources of functions to be folded, then "" */
  int (*wanted) (void *functions, lua_State *L, const Function *f);
  int (*wantlines) (lua_State *L, const char *source);
  int trace;		/* is each enter and leave told? */
  const char *trace_path;
  TraceCall trace_call;
  /* leaves the title of what runs on the stack; NULL: there is none */
  const char *(*title) (void *functions, lua_State *L, const Function *f);
  File *file;		/* to record into; or NULL */
  int compensate;	/* is what recording costs to be subtracted? */
} Options;

#define LOOKS	5

/* costs of one way to record: the last ones measured */
typedef struct Looks {
  unsigned taken;
  uint64_t last;	/* ns, when the last one was */
  Costs costs[LOOKS];
} Looks;

#define LOOKS_WAYS	32

typedef struct Recording {
  Hot *hot;
  Cache *cache;
  Memory memory;
  int (*own) (lua_CFunction f);
  lua_State *main;
  const void *registry;	/* tells the coroutines of this state from others */
  State state;
  int started;		/* is there anything to report? */
  const char *ended;	/* why it stopped by itself, or NULL */
  Options options;	/* 'hidden' and 'trace_path' are not kept */
  File *file;		/* that nodes and more lie in; or NULL */
  Journal journal;
  /* tells a file the names of functions, before it is closed; or NULL */
  void (*naming) (struct Recording *r, lua_State *L);
  uint32_t named;	/* functions there were when it was told them */
  uint64_t rated;	/* ns, when the rate in the file was measured */
  Clock clock;
  Costs costs;
  const char *uncompensated;	/* why costs stay in the times; or NULL */
  Looks looks[LOOKS_WAYS];
  int64_t started_at;	/* seconds since 1970 */
  int64_t pid;		/* of the process that began it */
  Functions functions;
  Tree tree;
  Chunks tolls;		/* of calls, by the function that is called */
  Stacks stacks;
  History history;
  Trace trace;
  uint32_t period_func;	/* the zone of the work at the end of a period */
  Stack *current;	/* whose top is in 'hot' */
  lua_State *resuming;	/* the coroutine that was about to run ... */
  uint64_t resuming_at;	/* ... at this event */
  uint64_t begun;	/* ticks, when recording began */
  uint64_t paused_at;
  Figures *figures;	/* these, or those in the file */
  Figures own_figures;
  uint32_t serial;	/* of the zone that was opened last; never 0 */
} Recording;


/* the recording of L's state, or NULL; it is there while L's state is */
CPROF_I Recording *recording_get (lua_State *L);

/*
** The same, made if need be; raises an error when out of memory. 'own'
** tells the C functions that are to be folded.
*/
CPROF_I Recording *recording_make (lua_State *L, int (*own) (lua_CFunction f));

/* memory comes from 'alloc' from now on; what was recorded is forgotten */
CPROF_I void recording_setalloc (Recording *r, lua_Alloc alloc, void *ud);

/*
** Begins anew with these options, and takes the file; 0 when out of
** memory.
*/
CPROF_I int recording_begin (Recording *r, lua_State *L, const Options *o);

/* forgets all that was counted: 0 when out of memory */
CPROF_I int recording_clear (Recording *r);

/*
** Makes an empty recording of zeros, of which no state knows: for what a
** file holds. 0: out of memory; it is to be freed all the same.
*/
CPROF_I int recording_blank (Recording *r, const Memory *m);

/* gives back all that it holds */
CPROF_I void recording_free (Recording *r);

/* stops for a reason of its own; keeps what there is */
CPROF_I void recording_end (Recording *r, const char *why);

/*
** Has something come between: is this another process than the one that
** began, or has someone else cut its file? Then it ends.
*/
CPROF_I int recording_forked (Recording *r);

/* brings figures up to this moment, while it is recorded or pauses */
CPROF_I void recording_settle (Recording *r);

/*
** The stack of coroutine L, made if need be; 'sweeps' away those of
** coroutines that were collected now and then. NULL: out of memory.
*/
CPROF_I Stack *recording_stack (Recording *r, lua_State *running, lua_State *L);

/* is the coroutine of this stack still there? */
CPROF_I int recording_alive (Recording *r, lua_State *running, const Stack *s);

/* how this can be recorded fast; to be asked when something changed */
CPROF_I Fast recording_fast (const Hot *h);

/* the nodes of 's' are part of this period; 0: out of memory */
CPROF_I int recording_touch (Recording *r, Stack *s);

/* that of calls of function 'func'; NULL: out of memory */
CPROF_I Toll *recording_toll (Recording *r, uint32_t func);

/* what was timed so far is forgotten */
CPROF_I void recording_cleartolls (Recording *r);

/* the caches are void */
CPROF_I void recording_forget (Recording *r);

/* the time, for what is not worth a path of its own */
static inline uint64_t recording_now (const Hot *h) {
  if (likely(h->clock == CLOCK_TICKS)) return platform_ticks();
  return clock_read(&h->recording->clock);
}

/* 'now', or the last time, where clocks of processors differ */
static inline uint64_t recording_time (Hot *h, uint64_t now) {
  if (unlikely(now < h->last)) {
    h->backwards++;
    return h->last;
  }
  return now;
}

/* time up to 'now' goes to the line that runs */
static inline void recording_chargeline (Hot *h, uint64_t now) {
  now = recording_time(h, now);
  h->top->line->self += now - h->last;
  h->last = now;
}

/* time up to 'now' goes to the frame on top, and to the line it is at */
static inline void recording_charge (Hot *h, uint64_t now) {
  now = recording_time(h, now);
  if (h->lines) h->top->line->self += now - h->last;
  h->top->node->self += now - h->since;
  h->last = h->since = now;
}

/* makes 'now' the time of the last event */
static inline void recording_settime (Hot *h, uint64_t now) {
  h->last = h->since = now;
}

/* the serial of the next zone */
CPROF_I uint32_t recording_serial (Recording *r);

/* time since the last event was the profiler's own */
CPROF_I void recording_owntime (Recording *r);

#endif

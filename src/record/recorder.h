/*
** The recorder of one lua_State and its coroutines: its recording, its
** shadow stacks, and what it was asked to do. How it is started and
** stopped is in control.h, what it does with events in hook.h.
*/

#ifndef recorder_h
#define recorder_h

#include "record/frames.h"
#include "record/hot.h"
#include "record/recording.h"
#include "record/running.h"
#include "record/stack.h"


struct Allocations;
struct Recorder;
struct Store;

typedef enum State { STATE_STOPPED, STATE_RUNNING, STATE_PAUSED } State;

/* which of the options' functions is called right now, see callback.h */
typedef enum Callback {
  CALLBACK_NONE, CALLBACK_FILTER, CALLBACK_TRACE, CALLBACK_NAMES
} Callback;

/* in mode trace: a function, or zone, is entered or left */
typedef struct TraceEvent {
  int enters;		/* or leaves */
  uint32_t func;
  uint32_t depth;	/* of what was entered since recording began */
  uint32_t coroutine;	/* its number; calls nest within a coroutine */
  uint64_t since;	/* ns from the start of recording */
  uint64_t took;	/* ns, of what is left */
} TraceEvent;

/* What it points to must stay while recording goes on. */
typedef struct Options {
  Mode mode;
  uint32_t rate;	/* mode sample: samples a second */
  int cpu;		/* processor time instead of wall time */
  int callsites;	/* calls from different lines are different nodes */
  uint32_t foldat;	/* nodes from which on recursion folds; 0: always */
  int exclude_c;	/* C functions are charged to their callers */
  int timed;		/* are some events timed? */
  int memory;		/* are allocations counted? */
  uint64_t live;	/* bytes from sample to sample of live blocks, or 0 */
  uint64_t memory_interval;	/* mode sample: the same of allocations */
  int gc;		/* is the collector driven? */
  uint32_t max_nodes;
  uint32_t history;	/* frames to keep */
  int full;		/* with all their nodes? */
  double budget;	/* ms, beyond which a frame is slow; 0: none */
  double event_ns;	/* what an event costs at least, if that is known */
  uint32_t slow;	/* slow frames to keep */
  uint64_t every;	/* ns, see interval.h; 0: no end */
  void (*elapsed) (lua_State *L);	/* told of the end */
  const char *internal;	/* sources of the profiler's own: strings, then "" */
  struct Store *store;	/* to record into; NULL: memory */
  /* Is a function recorded? NULL: all are. See Policy. */
  int (*include) (const void *functions, lua_State *L, const Function *f);
  /* Are the lines of a source recorded? NULL: all are. */
  int (*include_lines) (lua_State *L, const char *source);
  /*
  ** Mode trace: told of each event, with the hook away. NULL, or an error
  ** message, which is left on the stack.
  */
  const char *(*trace) (lua_State *L, const Functions *fs,
                        const TraceEvent *e);
} Options;

/*
** What keeps a recording outside of memory, see file/livefile.h. Without
** one, counters lie in memory and nobody is told of anything.
*/
typedef struct Store {
  const Pages *nodes, *lines;	/* where their chunks come from ... */
  const Pages *instructions;	/* modes count and sample: in place of lines */
  const Pages *allocated, *kinds;	/* where allocations are counted */
  const Pages *waits;
  Figures *figures;
  const Node **running;		/* where to tell which node runs */
  /* Takes all that there is so far. 0: no room for it. */
  int (*begin) (struct Store *s, struct Recorder *r);
  /* Recording has begun. May raise an error of Lua's. */
  void (*started) (struct Store *s, struct Recorder *r, lua_State *L);
  /* See Policy. */
  int (*told) (void *store, uint32_t source);
  /* All nodes are about to be forgotten. */
  void (*clear) (struct Store *s, const struct Recorder *r);
  /* They are, and the root is there again. */
  void (*cleared) (struct Store *s);
  /* Is it damaged, so that recording must end? */
  int (*lost) (struct Store *s);
  /* Is it not, as far as can be told by looking at all of it? */
  int (*sound) (struct Store *s);
  /* Recording ended by itself. Returns the reason, 'why' or a better one. */
  const char *(*end) (struct Store *s, const char *why);
  /* Recording has stopped: completes it, and keeps the data in memory, but
     forgets what others may have changed. */
  void (*finish) (struct Store *s, struct Recorder *r, lua_State *L);
  /* The same in the child of a fork: it is another process's. */
  void (*abandon) (struct Store *s, struct Recorder *r);
  /* A store for the child of a fork, or NULL: it is not to be recorded. */
  struct Store *(*child) (struct Store *s, struct Recorder *r);
  void (*free) (struct Store *s);
} Store;

typedef struct Recorder {
  Hot *hot;
  Recording recording;
  lua_State *main;
  const void *registry;	/* tells the coroutines of this state from others */
  const void *shared;	/* so does this, where Lua's structures are read */
  State state;
  unsigned generation;	/* of the process, see platform.h */
  int started;		/* is there a recording? */
  Options options;
  Cache *cache;
  Store *store;		/* NULL: memory */
  Stacks stacks;
  Stack *current;	/* its top is in 'hot' */
  Frames frames;
  uint32_t frame_func;	/* the zone of the work at the end of a frame */
  lua_State *resuming;	/* the coroutine that was about to run ... */
  uint64_t resuming_at;	/* ... when there were so many events */
  Stack *resumed;	/* the last one of those, if it is still its; or NULL */
  uint64_t paused_at;
  Gap gap;
  int exact;		/* do times add up? not before recording has begun */
  struct Allocations *allocations;	/* NULL: they are not counted */
  int muted;		/* how often it was said that they are the profiler's */
  Callback callback;
  int nogc;		/* is the garbage collector held off? */
  uint64_t nogc_cycle;	/* since this collection, see collection.h */
  int own_pause;	/* does it pause for the profiler's own work? */
  uint64_t collection;	/* in which the cache was made, see collection.h */
  uint32_t serial;	/* of the zone that was opened last; never 0 */
  char why[128];	/* why it ended, if that is no constant */
  const lua_CFunction *internal;	/* the profiler's own C functions ... */
  uint32_t internals;			/* ... and how many these are */
  void *core;		/* of lua/lstate.h, freed with the recorder */
  void *sampler;	/* see sample.c; NULL: nothing was sampled yet */
  Running following;	/* see current.h; without a main thread: not begun */
} Recorder;


#define RECORDER_CLOSED	"the state is being closed"

/*
** The recorder of L's state, or NULL. It lives until the state is closed:
** finalizers that run after its own find none.
*/
CPROF_I Recorder *recorder_get (lua_State *L);

/* The same, made if need be. Raises an error when out of memory. */
CPROF_I Recorder *recorder_make (lua_State *L);

/* Sets where its memory comes from, and forgets what was recorded. */
CPROF_I void recorder_setalloc (Recorder *r, lua_Alloc alloc, void *ud);

/*
** A new recording with these options, of which it takes the store. 0: out
** of memory. May raise an error of Lua's for that, too.
*/
CPROF_I int recorder_begin (Recorder *r, lua_State *L, const Options *o);

/* Forgets all that was counted. 0: out of memory. */
CPROF_I int recorder_clear (Recorder *r);

/*
** The same in the child of a fork, for which its frames must have no nodes:
** goes on in the store 'to', which it takes. The one of the parent is left
** as it is.
*/
CPROF_I int recorder_move (Recorder *r, Store *to);

/* All changes of the state of a recorder. */
CPROF_I void recorder_setstate (Recorder *r, State state);

/* Recording ends by itself; what there is stays. */
CPROF_I void recorder_end (Recorder *r, const char *why);

/* The most frequent reason. Returns 0. */
COLD CPROF_I int recorder_nomemory (Recorder *r);

/* Is this the child of the process that is recorded? */
CPROF_I int recorder_forked (const Recorder *r);

/*
** Is something being recorded, or paused? Looks at what the hook cannot
** see: a damaged store, which ends it, and a fork. What is to be done then
** is in control.h.
*/
CPROF_I int recorder_active (Recorder *r);
CPROF_I int recorder_running (Recorder *r);

/*
** The pause has lasted until 'now'. One for the profiler's own work, such
** as a report, is as if there had been no such time.
*/
CPROF_I void recorder_paused (Recorder *r, uint64_t now);

/*
** Compares the clock with another one, and notes a jump. Returns ns by which
** the monotonic clock has jumped; below 0: the processor's counter.
*/
CPROF_I int64_t recorder_watch (Recorder *r);

/*
** Do the times that were charged, and the pauses, add up to what has passed?
** 0: others have changed them, in a file.
*/
CPROF_I int recorder_adds (const Recorder *r);

/* Brings figures up to this moment, while it records or pauses. */
CPROF_I void recorder_settle (Recorder *r);

/*
** Leaves out the time since the last event, in which garbage was collected
** for no call of the program: cprof's own at the start, and the program's
** when the state is closed.
*/
CPROF_I void recorder_skip (Recorder *r);

/*
** The stack of coroutine L, made if need be; removes those of coroutines
** that were collected: of one at the same address at once, of others now
** and then. NULL: out of memory.
*/
CPROF_I Stack *recorder_stack (Recorder *r, lua_State *running, lua_State *L);

/* Does the coroutine of this stack still exist? */
CPROF_I int recorder_alive (const Recorder *r, lua_State *running,
                            const Stack *s);

/* The host's frame has all nodes of 's'. 0: out of memory. */
CPROF_I int recorder_touch (Recorder *r, Stack *s);

/* The inline caches are void. */
CPROF_I void recorder_forget (Recorder *r);

/* The same of callees that are known by one of these (bits: SourceKey). */
CPROF_I void recorder_forgetkeys (Recorder *r, unsigned keys);

/* The same of what functions that were met since then contradict. */
CPROF_I void recorder_refresh (Recorder *r);

/* See functions_running; what it contradicts is forgotten. */
CPROF_I const Function *recorder_function (Recorder *r, lua_State *running,
                                           lua_State *at, lua_Debug *ar);

/* Sets 'hot->how'; to be called when something changed. */
CPROF_I void recorder_choose (Recorder *r);

/* the serial of the next zone */
CPROF_I uint32_t recorder_serial (Recorder *r);

/* The time since the last event was the profiler's own. */
CPROF_I void recorder_overhead (Recorder *r);

/* The time since the last event was not recorded: another hook ran. */
CPROF_I void recorder_unrecorded (Recorder *r);

#endif

/*
** The recorder of one lua_State and its coroutines: its recording, its
** shadow stacks, and what it was asked to do. How it is started and
** stopped is in control.h, what it does with events in hook.h.
*/

#ifndef recorder_h
#define recorder_h

#include "count/frames.h"
#include "follow/hooks.h"
#include "follow/hot.h"
#include "follow/lend.h"
#include "follow/options.h"
#include "follow/running.h"
#include "follow/store.h"


struct Allocations;

typedef enum State { STATE_STOPPED, STATE_RUNNING, STATE_PAUSED } State;

/* which of the options' functions is called right now, see callback.h */
typedef enum Callback {
  CALLBACK_NONE, CALLBACK_FILTER, CALLBACK_TRACE, CALLBACK_NAMES
} Callback;

/*
** A part of the recorder that has to hear when recording ends by itself,
** wherever the program is: 'disarm' calls nothing of Lua.
*/
typedef struct Part {
  void (*disarm) (void *ud);
  void *ud;
  struct Part *next;
} Part;

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
  int muted;		/* nesting depth of recorder_mute */
  int *mutes;		/* where the allocator reads that; or NULL */
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
  Lender *lender;	/* of samples, likewise */
  const Hooks *hooks;	/* the functions that are set as hooks */
  Part *parts;
  Running following;	/* see current.h; without a main thread: not begun */
} Recorder;


#define RECORDER_CLOSED	"the state is being closed"

/*
** The recorder of L's state, or NULL. It lives until the state is closed:
** finalizers that run after its own find none.
*/
CPROF_I Recorder *recorder_get (lua_State *L);

/*
** A new one for L's state, whose box has the finalizer 'gc'. Raises an error
** when out of memory.
*/
CPROF_I Recorder *recorder_new (lua_State *L, const Hooks *hooks,
                                lua_CFunction gc);

/* 'p' hears of the end until it is removed. It may be there already. */
CPROF_I void recorder_addpart (Recorder *r, Part *p);
CPROF_I void recorder_removepart (Recorder *r, Part *p);

/* Is this mode "sample"? */
static inline int recorder_samples (const Recorder *r) {
  return r->options.mode == MODE_SAMPLE;
}

/* What Lua allocates from here on, it allocates for the profiler. */
static inline void recorder_mute (Recorder *r) {
  r->muted++;
  if (r->mutes != NULL) *r->mutes = r->muted;
}

static inline void recorder_unmute (Recorder *r) {
  r->muted--;
  if (r->mutes != NULL) *r->mutes = r->muted;
}

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

/*
** Leaves out the time since the last event, in which garbage was collected
** for no call of the program: cprof's own at the start, and the program's
** when the state is closed.
*/
CPROF_I void recorder_skip (Recorder *r);

/* The host's frame has all nodes of 's'. 0: out of memory. */
CPROF_I int recorder_touch (Recorder *r, Stack *s);

/* The inline caches are void. */
CPROF_I void recorder_forget (Recorder *r);

/* The inline caches of callees known by these (bits: SourceKey) are void. */
CPROF_I void recorder_forgetkeys (Recorder *r, unsigned keys);

/* Inline caches that functions met since then contradict are void. */
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

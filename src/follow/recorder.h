/*
** The recorder of one lua_State and its coroutines: its recording, its
** shadow stacks, and its options. control.h starts and stops it, hook.h has
** what it does with events.
*/

#ifndef recorder_h
#define recorder_h

#include "count/frames.h"
#include "follow/hooks.h"
#include "follow/hot.h"
#include "follow/options.h"
#include "follow/running.h"
#include "follow/store.h"


struct Allocations;
struct OpenZones;

typedef enum State { STATE_STOPPED, STATE_RUNNING, STATE_PAUSED } State;

/* which function of Options runs at present, see calltrace.h */
typedef enum Callback {
  CALLBACK_NONE, CALLBACK_FILTER, CALLBACK_TRACE, CALLBACK_NAMES
} Callback;

/*
** A part of the recorder that must be told when recording ends by itself.
** This may happen anywhere, so 'disarm' must call nothing of Lua.
*/
typedef struct Part {
  void (*disarm) (void *ud);
  void *ud;
  struct Part *next;
} Part;

/* a call that took longer than the least budget of all */
typedef struct LateCall {
  uint32_t func;
  uint64_t took, ended;	/* ticks; 'ended' is since recording began */
  uint64_t preempted;	/* ticks; 'took' has none of them */
} LateCall;

#define RECORDER_LATE	4

typedef struct Recorder {
  /* the state that is recorded */
  lua_State *main;
  const void *registry;	/* identifies the state: all its coroutines share it */
  const void *shared;	/* its global_State, where Lua's structures are read */
  void *core;		/* the Core of lua/lstate.h; freed with the recorder */
  const lua_CFunction *internal;	/* the profiler's own C functions */
  uint32_t internals;			/* number of 'internal' */
  const Hooks *hooks;	/* the functions that are set as hooks */
  Running following;	/* see current.h; without a main thread: not begun */

  /* the recording */
  Hot *hot;
  Recording recording;
  Options options;
  State state;
  int started;		/* is there a recording? */
  unsigned generation;	/* the process's generation, see platform.h. No
			   PlatformSelf, as 'platform_isself' calls the system,
			   which is too slow for zones */
  Store *store;		/* NULL: memory */
  const void **notes;	/* the recorder that notes prototypes in this state, of
			   those of all copies of cprof; NULL: not asked yet */
  Cache *cache;
  uint64_t collection;	/* the collection during which cached closures are
			   valid */
  Callback callback;
  Part *parts;
  char why[128];	/* why it ended, if the text is not a constant */

  /* which coroutines run */
  Stacks stacks;
  Stack *current;	/* its top is in 'hot' */
  lua_State *resuming;	/* the coroutine that is about to run */
  uint64_t resuming_at;	/* number of events so far when 'resuming' was set */
  Stack *resumed;	/* stack of the coroutine that was resumed last, or
			   NULL; another coroutine may have it by now */
  lua_State *closing;	/* the coroutine that is being closed, or NULL */
  uint64_t tasked;	/* 'calltime_now' at the last switch; 0: there was none */
  uint64_t task_waited;	/* 'waited' of Hot at that time */
  uint32_t serial;	/* serial of the last opened zone; never 0 */

  /* frames of the host */
  Frames frames;
  uint32_t frame_func;	/* zone of the work at the end of a host frame */
  LateCall late[RECORDER_LATE];	/* those since 'elapsed' was called */
  uint32_t lates;
  double event_ns;	/* mean overhead of an event; 0: not known */

  /* time */
  Gap gap;
  uint64_t paused_at;	/* ticks */
  int own_pause;	/* is the pause for the profiler's own work? */
  int exact;		/* must times add up? 0 until recording has begun */

  /* allocations, and the garbage collector */
  struct Allocations *allocations;	/* NULL: they are not counted */
  int muted;		/* nesting depth of recorder_mute */
  int *mutes;		/* copy of 'muted' for the allocator; or NULL */
  int nogc;		/* is the garbage collector held off? */
  uint64_t nogc_cycle;	/* the collection during which it began, see
			   collection.h */

  /* samples */
  void *sampler;	/* see sample.c; NULL: nothing was sampled yet */
  HookSwap *hookswap;	/* the sampler's; NULL: nothing was sampled yet */
  struct OpenZones *zones;	/* the sampler's; NULL: nothing was sampled
				   yet */
} Recorder;


#define RECORDER_CLOSED	"the state is being closed"

/*
** The recorder of L's state, or NULL. It lives until the state is closed.
** Finalizers that run after its own get NULL.
*/
CPROF_I Recorder *recorder_get (lua_State *L);

/*
** Makes the recorder of L's state; 'gc' is the finalizer of the userdata that
** holds it. Raises an error when out of memory.
*/
CPROF_I Recorder *recorder_new (lua_State *L, const Hooks *hooks,
                                lua_CFunction gc);

/* From now until it is removed, 'p' is told when recording ends by itself. */
CPROF_I void recorder_addpart (Recorder *r, Part *p);
CPROF_I void recorder_removepart (Recorder *r, Part *p);

/* Is this mode "sample"? */
static inline int recorder_samples (const Recorder *r) {
  return r->options.mode == MODE_SAMPLE;
}

/* Until 'recorder_unmute', what Lua allocates is not counted. Both nest. */
static inline void recorder_mute (Recorder *r) {
  r->muted++;
  if (r->mutes != NULL) *r->mutes = r->muted;
}

static inline void recorder_unmute (Recorder *r) {
  r->muted--;
  if (r->mutes != NULL) *r->mutes = r->muted;
}

/* Sets the state of a recorder; nothing else does. */
CPROF_I void recorder_setstate (Recorder *r, State state);

/*
** May this recording note prototypes, until it is stopped? Not if another copy
** of cprof notes them, as it records this state, too. Raises an error when L's
** state is out of memory.
*/
CPROF_I int recorder_notes (Recorder *r, lua_State *L);

/* Ends the recording without the user; keeps what was recorded. */
CPROF_I void recorder_end (Recorder *r, const char *why);

/* 'recorder_end' for lack of memory. Returns 0. */
COLD CPROF_I int recorder_nomemory (Recorder *r);

/* Is this process a forked child of the one that is recorded? */
CPROF_I int recorder_forked (const Recorder *r);

/*
** Is a recording running or paused? Also finds what the hook cannot see: a
** damaged store, which ends the recording, and a fork, which 'control_active'
** deals with.
*/
CPROF_I int recorder_active (Recorder *r);
CPROF_I int recorder_running (Recorder *r);

/*
** Notes that the pause has lasted until 'now'. Where it was for the
** profiler's own work, such as a report, that time is left out of the
** recording altogether.
*/
CPROF_I void recorder_paused (Recorder *r, uint64_t now);

/*
** Compares the clock with another one, and notes a jump of either. Returns
** the ns of the jump: above 0, the monotonic clock's; below 0, the
** processor's counter's; 0: none.
*/
CPROF_I int64_t recorder_watch (Recorder *r);

/*
** Do the times charged and the pauses add up to the time that has passed? If
** not, somebody else has changed the file.
*/
CPROF_I int recorder_adds (const Recorder *r);

/*
** Leaves out the time since the last event, in which the collector ran
** outside of any call of the program: for cprof's garbage at the start, or
** for the program's when the state is closed.
*/
CPROF_I void recorder_skip (Recorder *r);

/* Adds all nodes of 's' to the host's current frame. 0: out of memory. */
CPROF_I int recorder_touch (Recorder *r, Stack *s);

/* Clears the inline caches. */
CPROF_I void recorder_forget (Recorder *r);

/* Clears cached callees that their lines alone do not identify. */
CPROF_I void recorder_forgetcode (Recorder *r);

/* Clears cached callees that new functions have shown to be out of date. */
CPROF_I void recorder_refresh (Recorder *r);

/* 'functions_running', then 'recorder_refresh'. */
CPROF_I const Function *recorder_function (Recorder *r, lua_State *running,
                                           lua_State *at, lua_Debug *ar);

/* Sets 'hot->variant'. To be called when what it depends on has changed. */
CPROF_I void recorder_choose (Recorder *r);

/* the serial of the next zone */
CPROF_I uint32_t recorder_serial (Recorder *r);

/* Charges the time since the last event to overhead. */
CPROF_I void recorder_overhead (Recorder *r);

/*
** The node of a zone below 'parent'. If it is new, the time since the last
** event is overhead. Hot.top must be in the current stack's array. NULL: out of
** memory.
*/
CPROF_I Node *recorder_zonenode (Recorder *r, Node *parent, uint32_t func);

/*
** Charges the time since the last event to "unrecorded", as another hook was
** set in place of ours.
*/
CPROF_I void recorder_unrecorded (Recorder *r);

#endif

/*
** Options of a recording.
*/

#ifndef options_h
#define options_h

#include "count/recording.h"


struct Store;

/* in mode trace: a function or zone is entered or left */
typedef struct TraceEvent {
  int enters;		/* 1: the function is entered; 0: it is left */
  uint32_t func;
  uint32_t depth;	/* counts only what was entered since recording began */
  uint32_t coroutine;	/* the coroutine's number; calls nest within it */
  uint64_t since;	/* ns from the start of recording */
  uint64_t took;	/* when it is left: ns since it was entered; else 0 */
} TraceEvent;

/* Everything it points to must outlive the recording. */
typedef struct Options {
  Mode mode;
  uint32_t rate;	/* mode sample: samples a second */
  double keep_last;	/* mode sample: the time axis keeps samples of at
			   least this many ns; 0: as many as it can. Mode call:
			   the ring keeps events of as many; 0: there is none */
  uint64_t keep_bytes;	/* the most bytes that these take; 0: the default */
  double budget_call;	/* with 'distribution': 'elapsed' gets the calls that
			   take more ns than this; 0: none */
  int cpu;		/* processor time instead of wall time */
  int watched;		/* mode sample: another thread asks for ticks */
  int prompt;		/* if 'watched': only where that thread gets a processor
			   in time on a busy machine, too */
  int counted;		/* if 'watched': does the timer count the time in
			   which the thread runs, where it can? */
  int callsites;	/* calls from different lines are different nodes */
  uint32_t foldat;	/* nodes from which on recursion folds; 0: always */
  int exclude_c;	/* C functions are charged to their callers */
  int timed;		/* are some events timed? */
  int memory;		/* are allocations counted? */
  uint64_t live;	/* live blocks: mean bytes between two samples, or 0 */
  uint64_t memory_interval;	/* mode sample: mean bytes between two samples
				   of allocations */
  int adapts;		/* are 'live' and 'memory_interval' only the first
			   intervals, which grow? */
  int gc;		/* is the collector driven? */
  int distribution;	/* are durations of calls counted? */
  int tasks;		/* are tasks counted? see count/tasks.h */
  int creator;		/* with tasks: are coroutines below the function that
			   made them, not below the one that resumes them? */
  double mean_ns, leaf_ns;	/* for 'distribution' and 'tasks': cost of an
				   event, and the extra cost of a callee;
				   mode line: 0 */
  uint32_t max_nodes;
  uint32_t history;	/* host frames to keep */
  int full;		/* are host frames kept with all their nodes? */
  double budget;	/* ms, beyond which a frame is slow; 0: none */
  uint32_t slow;	/* slow frames to keep */
  uint64_t every;	/* ns, length of an interval; 0: there are none */
  void (*elapsed) (lua_State *L);	/* called at the end of each interval */
  const char *internal;	/* names of the profiler's own sources, then "" */
  struct Store *store;	/* to record into; NULL: memory */
  /* Is a function recorded? NULL: all are. See Policy. */
  int (*include) (const void *functions, lua_State *L, const Function *f);
  /* Are the lines of a source recorded? NULL: all are. */
  int (*include_lines) (lua_State *L, const char *source);
  /*
  ** Mode trace: called at each event, while nothing is recorded. Returns
  ** NULL, or an error message, which is left on the stack.
  */
  const char *(*trace) (lua_State *L, const Functions *fs,
                        const TraceEvent *e);
} Options;

#endif

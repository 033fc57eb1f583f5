/*
** Samples of another process, as a value of the Lua part.
*/

#ifndef loutside_h
#define loutside_h

#include <lauxlib.h>

#include "base/hurry.h"
#include "count/durations.h"
#include "profile/rebuild.h"
#include "remote/native.h"
#include "remote/process.h"
#include "remote/stack.h"

#if PLATFORM_WATCH

/* functions of the profile before those that were met */
enum { OUTSIDE_ROOT, OUTSIDE_OVERHEAD, OUTSIDE_CUT, OUTSIDE_HOST,
       OUTSIDE_LOST, OUTSIDE_UNSEEN, OUTSIDE_ROWS };

/* C frames whose functions are kept */
#define OUTSIDE_KEPT	4096

/* what is known of a C frame */
typedef struct OutsideFrame {
  uint64_t key;		/* address of its function's beginning, or its own
			   place */
  JoinFrame as;
  uint32_t func;	/* id of its function in Known */
  int lost;		/* are its callers not known? */
} OutsideFrame;

typedef struct Outside {
  RemoteProcess *process;
  Known known;
  RemoteStack stack;
  Merge merge;
  int cpu;		/* are waits left out? */
  int asleep;		/* is nothing ever stopped? */
  uint64_t runs, waits;	/* samples in which it ran; in which it waited */
  uint64_t ran, waited;	/* ns that these stand for */
  uint64_t left;	/* waits that were left out */
  uint64_t leftns;	/* ns that these stand for */
  uint64_t dropped;	/* looks without a sample */
  uint64_t late;	/* looks that came too late */
  Native *native;	/* NULL: C frames are left out */
  int walked;		/* does 'native' have the stack of this sample? */
  uint32_t joined;	/* items of this sample; 0: calls of Lua alone */
  uint64_t at;		/* see task_at, of the last look; 0: not known */
  uint32_t charged;	/* function that the last look found; 0: no sample */
  OutsideFrame kept[OUTSIDE_KEPT];
  JoinCall call[STACK_DEEP];
  JoinFrame frame[NATIVE_DEEP];
  uint32_t func[NATIVE_DEEP];
  JoinItem item[STACK_DEEP + NATIVE_DEEP + 1];
  Hurry hurry;
  uint64_t stopped;	/* ns of all stops */
  Durations stops;	/* the slowest are in ns */
} Outside;

/* The value at 1; raises an error if it is not one. */
CPROF_I Outside *loutside_check (lua_State *L);

#endif

#endif

/*
** Allocations: who allocates. While a recording counts them, the allocator
** of its state is wrapped by one that charges each request to the function
** on top of the shadow stack, and to its line.
**
** Someone else may wrap ours in turn; then ours stays in place when
** recording stops, and counts nothing. From Lua 5.5 on, long strings keep the
** allocator that made them, so its Allocations is never freed, and later
** recordings use it again.
*/

#ifndef allocations_h
#define allocations_h

#include "heap/collector.h"
#include "heap/live.h"


typedef struct Allocations {
  lua_Alloc alloc;	/* the state's own allocator */
  void *ud;		/* argument of that allocator */
  Hot *hot;		/* NULL: nothing is recorded */
  int counts;		/* are allocations counted? */
  int muted;		/* depth of recorder_mute; nothing is counted above 0 */
  void (*ask) (Recorder *r);	/* mode sample: asks for an event */
  Part part;
  Collector collector;
  Live live;
  HeapSample sample;
  uint32_t taken;	/* samples since the interval last grew */
  int returned;		/* has the state its own allocator again? */
  int called;		/* was memory asked for while muted? */
  int64_t until;	/* bytes until the timeline's next point */
  const int64_t *debt;	/* where the heap's size is read; NULL: by lua_gc */
  const Node *node;	/* the node that was charged last */
  Allocated *own;	/* counters of 'node' */
  KindsAllocated *kinds;	/* counters of its function, by kind */
} Allocations;

/*
** Wraps the allocator of L's state, if the options say so. In mode "sample",
** 'ask' is called for each sample, to request an event. 0: out of memory.
*/
COLD CPROF_I int allocations_begin (Recorder *r, lua_State *L,
                                    void (*ask) (Recorder *r));

/* Stops counting, and gives the state its own allocator back, if it can. */
COLD CPROF_I void allocations_end (Recorder *r, lua_State *L);

/* Forgets all blocks and all waiting samples. */
COLD CPROF_I void allocations_clear (const Recorder *r);

/* Notes the size of the heap, before recording stops. */
COLD CPROF_I void allocations_last (Recorder *r);

/* Completes what is known of live blocks, after 'allocations_last'. */
COLD CPROF_I void allocations_finish (Recorder *r);

/* Notes in the recording if another allocator has replaced ours. */
COLD CPROF_I void allocations_check (Recorder *r, lua_State *L);

/* Are there samples that wait for the next event? See HeapSample in live.h. */
static INLINE int allocations_wait (const Recorder *r) {
  return r->allocations != NULL &&
         (r->allocations->sample.waits || r->allocations->live.waiting > 0);
}

/*
** Charges waiting samples to 'n' and 'at', see heapsample_settle. 'L' is the
** coroutine that runs.
*/
CPROF_I void allocations_settle (Recorder *r, lua_State *L, const Node *n,
                                 InstructionAllocated *at, int before);

/*
** Releases the collector. To be called before the recording ends or is
** interrupted, see collector_release.
*/
static INLINE void allocations_release (const Recorder *r, lua_State *L) {
  if (r->allocations != NULL) collector_release(&r->allocations->collector, L);
}

#endif

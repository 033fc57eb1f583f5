/*
** Allocations: who allocates. While a recording counts them, the allocator
** of its state is wrapped by one that charges each request to the function
** on top of the shadow stack, and to its line.
**
** Someone else may wrap ours in turn; then it stays where it is when
** recording stops, and counts nothing. From Lua 5.5 on, long strings keep the
** allocator that they were made with: what it needs is there for good, and
** used again by later recordings.
*/

#ifndef allocations_h
#define allocations_h

#include "heap/collector.h"
#include "heap/heapsample.h"
#include "heap/live.h"


typedef struct Allocations {
  lua_Alloc alloc;	/* the state's own */
  void *ud;
  Hot *hot;		/* NULL: nothing is recorded */
  int counts;		/* are allocations counted? */
  int muted;		/* that of the recorder; they are not while it is not 0 */
  void (*ask) (Recorder *r);	/* mode sample: asks for an event */
  Part part;
  Collector collector;
  Live live;
  HeapSample sample;
  int returned;		/* has the state its own allocator again? */
  int called;		/* was it called, while nothing was counted? */
  int64_t until;	/* bytes, until the size of the heap is looked at ... */
  const int64_t *debt;	/* ... here; NULL: Lua has to be asked */
  const Node *node;	/* the last one that was charged ... */
  Allocated *own;	/* ... and its counters */
  KindsAllocated *kinds;
} Allocations;

/*
** Wraps the allocator of L's state, if the options say so. In mode "sample",
** 'ask' is called to have an event soon. 0: out of memory.
*/
CPROF_I int allocations_begin (Recorder *r, lua_State *L,
                               void (*ask) (Recorder *r));

/* Gives it back, if it was wrapped. */
CPROF_I void allocations_end (Recorder *r, lua_State *L);

/* All that was counted is forgotten. */
CPROF_I void allocations_clear (const Recorder *r);

/* Recording is about to stop: notes how large the heap is. */
CPROF_I void allocations_last (Recorder *r);

/* Notes whether another allocator has taken the place of ours. */
CPROF_I void allocations_check (Recorder *r, lua_State *L);

/* Does what was allocated wait for the next event, see heapsample.h? */
static INLINE int allocations_wait (const Recorder *r) {
  return r->allocations != NULL &&
         (r->allocations->sample.waits || r->allocations->live.waiting > 0);
}

/* What waits was allocated by 'n', at 'at'; see heapsample_settle. */
CPROF_I void allocations_settle (Recorder *r, const Node *n,
                                 InstructionAllocated *at, int before);

/* Before what ends or interrupts the recording: see collector_release. */
static INLINE void allocations_release (const Recorder *r, lua_State *L) {
  if (r->allocations != NULL) collector_release(&r->allocations->collector, L);
}

#endif

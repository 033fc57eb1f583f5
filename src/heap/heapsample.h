/*
** Allocations in mode "sample": each sampled block requests an event, as a
** tick does. Until then its weight waits, for the event tells who runs.
*/

#ifndef heapsample_h
#define heapsample_h

#include "heap/gaps.h"
#include "heap/live.h"


typedef struct HeapSample {
  int on;
  Gaps gaps;
  int waits;		/* does any weight wait? */
  Allocated kind[ALLOC_KINDS];	/* sums of waiting weights, by kind */
} HeapSample;

CPROF_I void heapsample_begin (HeapSample *s, uint64_t interval);

/* Forgets all waiting weights. */
CPROF_I void heapsample_clear (HeapSample *s);

/* Adds the weight of a sampled block of 'bytes' bytes to what waits. */
CPROF_I void heapsample_add (HeapSample *s, Figures *f, AllocKind kind,
                             size_t bytes);

/*
** Charges all waiting weights to node 'n', and to the instruction with the
** counters 'at' unless that is NULL. 'before': the event came before that
** instruction ran, not at a call or return.
*/
CPROF_I void heapsample_settle (HeapSample *s, Live *l, Recorder *r,
                                const Node *n, InstructionAllocated *at,
                                int before);

#endif

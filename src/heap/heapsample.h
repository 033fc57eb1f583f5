/*
** Allocations in mode "sample": each block that is a sample asks for an
** event, as a tick does, and what it stands for waits until then.
*/

#ifndef heapsample_h
#define heapsample_h

#include "heap/gaps.h"
#include "heap/live.h"


typedef struct HeapSample {
  int on;
  Gaps gaps;
  int waits;		/* does anything? */
  Allocated kind[ALLOC_KINDS];	/* what waits */
} HeapSample;

CPROF_I void heapsample_begin (HeapSample *s, uint64_t interval);

/* What waits is forgotten. */
CPROF_I void heapsample_clear (HeapSample *s);

/* A block of so many bytes is a sample: it waits. */
CPROF_I void heapsample_add (HeapSample *s, Figures *f, AllocKind kind,
                             size_t bytes);

/*
** What waits was allocated by 'n', and by the instruction that has the
** counters 'at'; or NULL. The next instruction has told of it where 'before',
** else by a call or a return.
*/
CPROF_I void heapsample_settle (HeapSample *s, Live *l, Recorder *r,
                                const Node *n, InstructionAllocated *at,
                                int before);

#endif

/*
** The tree of a range of time: its nodes share the length of the range, by what
** the time axis has of them, and in exact modes there is overhead to take out.
**
** All memory comes from an arena.
*/

#ifndef ranging_h
#define ranging_h

#include "identity/line.h"
#include "profile/range.h"
#include "profile/rebuild.h"


/*
** A range, while its tree is made. Given are the first three, and 'line' and
** 'lines' in exact modes.
*/
typedef struct Ranging {
  const Memory *memory;
  const AxisData *axis;
  const Nodes *nodes;
  RangePart *part;	/* of each place */
  RangePart *of;	/* of each node */
  RangePart all;	/* of all nodes */
  uint32_t *first;	/* of each function: one of the places that are about its
			   instructions; 0: none */
  uint32_t *next;	/* of each place: another one of its function */
  ProfileLine *line;	/* exact modes: the counted lines of the recording,
			   then of the range */
  size_t lines;
  double *own;		/* exact modes: overhead of each node in the range */
  int64_t paused, preempted, overhead;	/* ns */
  int64_t run, wait;	/* ns that nodes share, by their parts */
  uint32_t *to;		/* of each node: the merged one; 0: none */
} Ranging;

/*
** Sums up places from 'from' to 'to'. 'counts' tells which functions have
** counters of instructions.
*/
CPROF_I void ranging_sum (Ranging *g, const uint8_t *counts, size_t functions,
                          double from, double to);

/*
** Exact modes, whose lines are in order of functions and numbers: sets 'own' of
** each node, takes it out of 'run', and replaces the figures of lines by those
** of the range.
*/
CPROF_I void ranging_overhead (Ranging *g, size_t functions);

/*
** Divides 'ns', the length of the range. In mode sample, how much of it the
** profiler took is not known; it is the share that it had of the whole
** recording. All lines together get no more than the nodes.
*/
CPROF_I void ranging_divide (Ranging *g, int64_t ns);

/* Makes the tree, and sets 'to'. */
CPROF_I void ranging_tree (Ranging *g, Merge *m);

/*
** The counters of the range, of the instructions of 'func': 'from' has 'count'
** of the recording.
*/
CPROF_I Instruction *ranging_counters (const Ranging *g, uint32_t func,
                                       const char *from, size_t count);

#endif

/*
** A range of time of a recording: which nodes it has, and how much of each, by
** the samples of the time axis or, in exact modes, by its slices.
**
** A sample stands for the time before it was taken. So a range that begins or
** ends within this time has a part of it; samples are counted where they were
** taken, several ones evenly. Figures of ranges that touch add up to those of
** both as one.
*/

#ifndef range_h
#define range_h

#include "count/recording.h"
#include "profile/profile.h"


/* a copy of a time axis, whose samples were checked */
typedef struct AxisData {
  double step;		/* ns */
  double mean;		/* as in Axis */
  double slice;		/* ns of a slice, about; 0: it has none */
  double begins;	/* ns; samples before were lost */
  AxisChunk *chunk;	/* in order of time */
  AxisPlace *place;	/* the first one is not used */
  uint32_t chunks, places;
} AxisData;

/*
** Sets the sizes of '*d' to those that a copy of the axis needs. The axis may
** lie in a file that other programs can write to. 'tick': ns. 'waiting': does
** the copy need one more place, and one more chunk, for 'range_wait'?
*/
CPROF_I void range_measure (AxisData *d, const Recording *r, double tick,
                            int waiting);

/* Copies the axis to 'd->chunk' and 'd->place', which have room for that. */
CPROF_I void range_copy (AxisData *d, const Recording *r);

/* what a copy has next */
typedef struct RangeCursor {
  const AxisData *d;
  uint32_t chunk;	/* the next one */
  AxisCursor at;
} RangeCursor;

/*
** Reads the next sample; at first, all of the cursor but 'd' is zero. 0: there
** is none.
*/
CPROF_I int range_next (RangeCursor *c, AxisSample *x);

/* Adds 'ns' until 'end', in which a node runs that has no sample. */
CPROF_I void range_wait (AxisData *d, uint32_t node, double end, double ns);

/* what a place has in a range; AXIS_NOWHERE: ns of pauses are 'run', those in
** which others had the processor are 'wait' */
typedef struct RangePart {
  double run, wait;	/* ns */
  int64_t samples;
} RangePart;

/*
** Adds what places have from 'from' to 'to', where both are ns, to the list
** 'part'. The sample at 'to' is part of it, the one at 'from' is not.
*/
CPROF_I void range_add (const AxisData *d, double from, double to,
                        RangePart *part);

/*
** Mode sample: what a sample of a range is worth. Where some samples stand for
** more time than others, shares depend mostly on these few. So the effective
** number of samples is (sum of their ns)^2 / sum of (ns^2): as many samples
** would tell as much if they stood for equal times. What one sample is worth is
** that number divided by the number of samples. 'worth[0]' is for samples that
** found the program running, 'worth[1]' for those that found it waiting, from 0
** to 1; 1 without samples.
*/
CPROF_I void range_worth (const AxisData *d, double from, double to,
                          double worth[2]);

/*
** Makes a time axis of what came after 'from', in ns, which begins there, to a
** step. 'to' has room for as many places as 'd' has and for one more
** chunk. 'node' has the new number of each node, plus one; 0: it is left out.
*/
CPROF_I void range_cut (AxisData *to, const AxisData *d, double from,
                        const uint32_t *node);

/* how the ns of a stretch of time are spent */
typedef struct RangeCell {
  double run, wait, paused, preempted;	/* ns */
} RangeCell;

/*
** Adds what 'count' stretches of 'ns' each have, from 'from' on. 'of' tells
** which places count; NULL: all. AXIS_NOWHERE always counts.
*/
CPROF_I void range_cells (const AxisData *d, double from, double ns,
                          const uint8_t *of, RangeCell *cell,
                          uint32_t count);

/*
** Exact modes: narrows or widens a range to the slices in it that mostly belong
** to places that count, which 'of' tells. A slice that is partly in the range
** is one of these. The slice before them, and the one after them, are added if
** they have some of such places. 0: there is no such slice.
*/
CPROF_I int range_extent (const AxisData *d, const uint8_t *of, double *from,
                          double *to);

/* the function that a stretch of time has much more of than the whole */
typedef struct RangeOdd {
  uint32_t func;
  double share, usual;	/* of the time, with callees, here and in all; 0: there
			   is no such function */
} RangeOdd;

/*
** Finds the unusual function in each of 'count' stretches of 'ns', from 'from'
** on. Of several functions with about the same excess, it is the one that calls
** the others. All memory comes from an arena.
*/
CPROF_I void range_odd (const AxisData *d, const Memory *m,
                        const Nodes *nodes, uint32_t functions, double from,
                        double ns, RangeOdd *odd, uint32_t count);

#endif

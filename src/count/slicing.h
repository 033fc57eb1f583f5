/*
** The time axis of the exact modes: what each node, and each line, took in each
** slice of time. At the end of a slice, the counters are compared with those at
** the end of the slice before; what has changed becomes samples of an Axis (see
** axis.h) that end together and stand for the whole slice. Their ns are in
** ticks of the clock, and they count as the calls of the node, or the hits of
** the line. Sums of slices are exactly what was counted.
**
** When there is no room for more slices, neighbours are merged in pairs, so
** slices get longer as the recording does.
*/

#ifndef slicing_h
#define slicing_h

#include "count/recording.h"


/*
** To be called before the first slice; 'tick': its ns. Returns the ticks of a
** slice.
*/
CPROF_I uint64_t slicing_begin (Recording *x, double tick);

/*
** Ends a slice, 'end' ticks after recording began. 0: out of memory, or there
** are too many nodes, and the time axis was given up.
*/
CPROF_I int slicing_end (Recording *x, uint64_t end);

/*
** Adds what was counted in 'x' since the marks of 's' to the axis 'a', as a
** slice until 'end'. 0: out of memory, or too many changes.
*/
CPROF_I int slicing_add (Slices *s, Axis *a, const Recording *x,
                         uint64_t end);

/* The mark of a node, or of a line of a function; NULL: there is none. */
CPROF_I SliceMark *slicing_mark (Slices *s, const Recording *x,
                                 const AxisPlace *p);

/* Makes marks for all nodes and lines that have none. 0: out of memory. */
CPROF_I int slicing_room (Slices *s, const Recording *x);

#endif

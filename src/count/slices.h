/*
** What the time axis of the exact modes is made from: what the slices so far
** have of each node and line, see slicing.h.
*/

#ifndef slices_h
#define slices_h

#include "base/index.h"


#if !defined(SLICES_CHUNKS)
#define SLICES_CHUNKS	256u	/* at most, which is 4 MB; and as many again,
				   into which they are merged */
#endif
#if !defined(SLICES_LENGTH)
#define SLICES_LENGTH	20e6	/* ns of a slice, at least */
#endif
#if !defined(SLICES_NODES)
#define SLICES_NODES	200000u	/* with more nodes, there are no slices: they take
				   half as much memory as nodes do */
#endif
#define SLICES_COST	64	/* a slice lasts at least this many times as
				   long as finding out what changed in it */

/* what the slices before have of a node or a line */
typedef struct SliceMark {
  uint64_t self;	/* ticks */
  uint64_t count;	/* calls or hits */
  int64_t waits;	/* ticks of waiting that belong to the next slices;
			   negative: those before have as many more */
  uint32_t place;	/* its AxisPlace; 0: it has none yet */
  uint32_t unused;
} SliceMark;

/* what is kept of slices in the figures of a recording, also in a file */
typedef struct SlicesKept {
  uint32_t series;	/* number of times that slices were merged: chunks of
			   other series are not valid */
  uint32_t lost;	/* were there too many nodes, or was there too little
			   memory? Then there are no slices */
  uint64_t length;	/* ticks of a slice, at least */
} SlicesKept;

typedef struct Slices {
  ChunkSet set;		/* all chunks of these */
  Chunks nodes, lines;	/* of SliceMark */
  Chunks first;		/* uint32_t of each function: id of the mark of its
			   first line, plus one; 0: it has none */
  Chunks waits;		/* uint64_t of each Wait: ticks that marks have */
} Slices;

CPROF_I void slices_init (Slices *s, const Memory *m);

#endif

/*
** The time axis of mode sample: when each sample came, what ran, and how much
** time it stands for. A sample takes three to four bytes, usually. The axis is
** a ring of chunks: when all of them are used, the oldest one is used again.
** So it always has the end of the recording.
**
** In exact modes, an axis has slices instead, see slicing.h.
**
** A sample is a row of numbers, each in as many bytes as it needs, 7 bits in a
** byte, the low ones first:
**   - steps of time since the sample before it
**   - its place * 2; + 1 if it found the thread waiting
**   - by how many steps its ns are above the mean time between samples, * 2;
**     + 1 if it does not count as exactly one sample. As this number of steps
**     may be negative, 0, -1, 1, -2, ... are written as 0, 1, 2, 3, ...
**   - in this case, the number of samples that it counts as
*/

#ifndef axis_h
#define axis_h

#include "base/index.h"
#include "count/blocks.h"


#define AXIS_ROOM	16360	/* bytes of samples in a chunk of 16 KB */
#if !defined(AXIS_CHUNKS)
#define AXIS_CHUNKS	1024u	/* at most, if no size is given: 16 MB */
#endif
#define AXIS_NUMBER	10	/* bytes of a number at most */
#define AXIS_LONGEST	(4 * AXIS_NUMBER)	/* bytes of a sample at most */
#define AXIS_USUAL	8	/* bytes of a sample, or less, on average */
#define AXIS_STEPS	32	/* steps in the mean time between samples */
#define AXIS_MOST	((uint64_t)1 << 53)	/* largest number in a sample */
#define AXIS_ABOVE	(AXIS_MOST / 4 - 1)	/* most steps above the mean */

/* what a sample has found */
typedef struct AxisPlace {
  uint32_t node;	/* of a line: its function */
  uint32_t at;		/* 0: the instruction is not known; else 2 * its index
			   + 2 if the sample came just before it ran, + 1 if it
			   came later, see Instruction. Of a line: AXIS_LINE and
			   its number */
} AxisPlace;

#define AXIS_LINE	0x80000000u

/* Is it a line of a function, of all its nodes together? */
static inline int axis_isline (const AxisPlace *p) {
  return (p->at & AXIS_LINE) != 0;
}

/* AxisSample.place where nothing was recorded, as recording paused or, if
** 'waits', as others had the processor */
#define AXIS_NOWHERE	0u

typedef struct AxisChunk {
  uint64_t number;	/* number of chunks before it, with overwritten ones */
  uint64_t from;	/* time of the sample before its first one, in steps */
  uint32_t used;	/* bytes of complete samples */
  uint32_t series;	/* of slices, see SlicesKept */
  unsigned char bytes[AXIS_ROOM];
} AxisChunk;

typedef struct AxisSample {
  double begin, end;	/* ns since recording began: it was taken at 'end', and
			   stands for the time since 'begin' */
  double ns;		/* time that it stands for */
  uint64_t samples;	/* number of samples that it counts as */
  uint32_t place;	/* id of its AxisPlace; or AXIS_NOWHERE */
  int waits;
} AxisSample;

/* an entry of the table in which places are found */
typedef struct AxisItem {
  AxisPlace is;
  uint32_t next;	/* in the bucket of the hash */
} AxisItem;

#define AXIS_SHIFT	10	/* a chunk has 2^10 places */

typedef struct Axis {
  double step;		/* ticks of the recording's clock; 0: no axis */
  double mean;		/* requested ns between samples; 0: exact modes */
  uint32_t limit;	/* chunks at most */
  ChunkSet set;		/* all chunks of these, and their index */
  Chunks list;		/* of AxisChunk */
  Chunks places;	/* of AxisItem, from 1 on */
  Index index;
  Chunks copy;		/* of AxisPlace. With a file, the recorder writes all
			   places to it, too, and never reads them there; else
			   what was read from a file */
  uint64_t number;	/* number of the chunk that is being written */
  uint32_t used;	/* bytes used in that chunk; other programs may
			   change the count that a file has */
  uint64_t last;	/* time of the last sample, in steps */
  uint64_t begin;	/* when the last slice began, in steps */
  uint32_t series;	/* of slices: see SlicesKept */
  uint32_t shift;	/* is added to the ids of places in samples */
  double rest;		/* ns that rounding has left for the next sample */
  uint64_t paused, preempted;	/* ticks that the axis already has, see
				   Figures */
} Axis;

CPROF_I void axis_init (Axis *a, const Memory *m, const Pages *pages);
CPROF_I void axis_clear (Axis *a);

/*
** Before the first sample: sets 'mean', and 'step' for a clock whose ticks last
** 'tick' ns. The axis has room for the samples of at least the last 'keep' ns;
** 0: for as many as fit. They take at most 'bytes'; 0: at most AXIS_CHUNKS
** chunks.
*/
CPROF_I void axis_pace (Axis *a, double mean, double tick, double keep,
                        uint64_t bytes);

/*
** Writes a number, 7 bits in a byte, the lowest ones first. Returns the end of
** what it has written: AXIS_NUMBER bytes at most.
*/
CPROF_I unsigned char *axis_write (unsigned char *to, uint64_t n);

/* The id of a place, new or not. 0: out of memory. */
CPROF_I uint32_t axis_place (Axis *a, uint32_t node, uint32_t at);

/*
** Adds a sample that was taken 'ticks' ticks after the recording began; ignores
** its 'begin' and 'end'. Of a slice, 'ns' is in ticks. 0: out of memory, or
** there is no room for more slices.
*/
CPROF_I int axis_add (Axis *a, uint64_t ticks, const AxisSample *x);

/* 'axis_add' to a chunk that has room. Updates 'used' of the axis, too. */
CPROF_I void axis_put (Axis *a, AxisChunk *c, uint64_t ticks,
                       const AxisSample *x);


/* {======================================================
** Reading
** ======================================================= */

/* where in a chunk the next sample is */
typedef struct AxisCursor {
  const AxisChunk *chunk;
  uint32_t at;
  uint64_t steps;	/* time of the last sample that was read, in steps */
  uint64_t begin;	/* when its slice began */
} AxisCursor;

static inline void axis_first (AxisCursor *c, const AxisChunk *chunk) {
  c->chunk = chunk;
  c->at = 0;
  c->steps = c->begin = chunk->from;
}

/* ns that a step stands for in the ns of a sample */
static inline double axis_unit (double step, double mean) {
  return mean > 0 ? mean / AXIS_STEPS : step;
}

/*
** Reads the next sample; 'step' and 'mean' are those of the axis, in ns. 0:
** there is none, or it is damaged; 'axis_check' cuts a damaged chunk.
*/
CPROF_I int axis_next (AxisCursor *c, double step, double mean,
                       AxisSample *x);

/*
** Are all samples of a chunk valid, in an axis with this number of places? If
** not, the chunk is cut before the first one that is not.
*/
CPROF_I int axis_check (AxisChunk *chunk, double step, double mean,
                        uint32_t places);

/* }====================================================== */

#endif

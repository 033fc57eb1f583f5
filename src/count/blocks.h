/*
** Blocks: the pieces of a recording in a file. Each kind of block has pages of
** its own, where the chunks of one part of a recording come from.
*/

#ifndef blocks_h
#define blocks_h

#include "base/chunks.h"


typedef enum BlockKind {
  BLOCK_NODES = 1,	/* a chunk of nodes */
  BLOCK_LINES,		/* counters of the lines of a function; behind them,
			   if 'memory', LineAllocated of each */
  BLOCK_JOURNAL,	/* records */
  BLOCK_NODEOVERHEAD,	/* ns (int64_t) for each node of a chunk */
  BLOCK_LINEOVERHEAD,	/* ns (int64_t) for each line counter of a function */
  BLOCK_INSTRUCTIONS,	/* counters of the instructions of a function; behind
			   them, if 'memory', InstructionAllocated of each */
  BLOCK_ALLOCATED,	/* NodeAllocated, for each node of a chunk */
  BLOCK_KINDS,		/* KindsAllocated, for each function of a chunk */
  BLOCK_WAITS,		/* a chunk of TallyCount, see waits.h */
  BLOCK_DURATIONS,	/* Durations, for each function of a chunk */
  BLOCK_AXIS,		/* an AxisChunk */
  BLOCK_PLACES,		/* a chunk of AxisPlace */
  BLOCK_TASKS,		/* a chunk of Task */
  BLOCK_PAUSES,		/* a chunk of TaskPause */
  BLOCK_LOOPS,		/* a chunk of Loop */
  BLOCK_FRAMEMARKS,	/* a chunk of LoopMark */
  BLOCK_WORST,		/* a chunk of WorstFrame */
  BLOCK_FRAMENODES,	/* a chunk of FrameNode */
  BLOCK_SPOTS,		/* a chunk of TallyCount, see spots.h */
  BLOCK_RING,		/* a RingBlock, of a recording that keeps its last
			   events */
  BLOCK_COUNT
} BlockKind;

#endif

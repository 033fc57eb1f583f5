/*
** Loops: what is kept of the host's frames by name, in a form that a file can
** hold. All frames are counted, in a histogram of their times. The times of the
** last frames are kept, and the call-tree nodes of the slowest of each loop.
*/

#ifndef loops_h
#define loops_h

#include "count/durations.h"
#include "count/node.h"


#define LOOPS_MOST	64u	/* names */
#define LOOP_NAME	64	/* bytes of a name, with its final zero */
#define LOOP_WORST	16u	/* slowest frames of a loop, whose nodes are
				   kept */
#define LOOP_NODES	16384u	/* most nodes that are kept of a frame */
#define LOOP_MARKS	8192u	/* last frames, whose times are kept: two
				   minutes at 60 in a second */

#define LOOPS_SHIFT	0
#if !defined(MARKS_SHIFT)
#define MARKS_SHIFT	13	/* one chunk for all: later frames take no
				   memory */
#endif
#define WORST_SHIFT	4
#define FRAMENODES_SHIFT	7

typedef struct Loop {
  char name[LOOP_NAME];	/* "": frames without a name */
  uint64_t frames;	/* recorded */
  uint64_t slow;	/* recorded frames that took longer than the budget */
  uint64_t budget;	/* ticks; 0: none */
  uint64_t unused;
  Durations times;	/* times of frames, without overhead, see LoopMark */
} Loop;

typedef struct LoopMark {
  uint32_t number;	/* the frame's number in its loop, from 1 on; 0: not
			   complete */
  uint32_t loop;
  uint64_t start;	/* ticks since recording began; with pauses in mode
			   sample */
  uint64_t ticks;
  uint64_t own;		/* 'ticks' less overhead, as known when the frame
			   ended */
} LoopMark;

/* a node in one frame */
typedef struct FrameNode {
  uint32_t node;
  uint32_t unused;
  uint64_t calls, self;
  Allocated own;
} FrameNode;

typedef struct WorstFrame {
  LoopMark is;
  uint64_t steps;	/* number of the collector's steps, where it is
			   driven */
  uint32_t first;	/* index of its first node; callers come first */
  uint32_t nodes;
} WorstFrame;

/*
** what only the recorder knows of a loop; in memory, as other programs may
** change a file
*/
typedef struct LoopState {
  char name[LOOP_NAME];
  uint64_t begun;	/* mode sample: when the frame that runs began, in ticks
			   since recording began; 0 for the first one */
  uint64_t paused;	/* ticks of pauses before 'begun' */
  double ns;		/* ns in a tick, as far as it is known */
  uint64_t calls;	/* mode sample: calls of 'frame' with this name */
  uint64_t own[LOOP_WORST];	/* times of the slowest frames; 0: free */
  uint32_t first[LOOP_WORST];	/* of each slot: index of its first node */
  uint32_t room;	/* nodes that each slot has room for */
} LoopState;

typedef struct Loops {
  Chunks list;		/* of Loop */
  Chunks marks;		/* of LoopMark, a ring */
  Chunks worst;		/* of WorstFrame, LOOP_WORST for each loop */
  Chunks nodes;		/* of FrameNode */
  Chunks states;	/* of LoopState */
  uint64_t marked;	/* number of LoopMarks written so far */
} Loops;

CPROF_I void loops_init (Loops *l, ChunkSet *s);

/*
** The loop with that name, made if need be, and its id. NULL: out of memory, or
** there are LOOPS_MOST names already.
*/
CPROF_I LoopState *loops_find (Loops *l, const char *name, uint32_t *id);

/* May there be one more loop? */
static inline int loops_room (const Loops *l) {
  return l->list.count < LOOPS_MOST;
}

/*
** Counts a frame of m->loop, which took 'ns' without overhead. 'budget' is in
** ticks; 0: none. Returns 0 when out of memory.
*/
CPROF_I int loops_add (Loops *l, const LoopMark *m, uint64_t ns,
                       uint64_t budget);

/* Is the frame one of the slowest of its loop so far? */
CPROF_I int loops_isworst (const Loops *l, const LoopMark *m);

/*
** Keeps one of the slowest frames, with its 'n' nodes, in place of the
** fastest of them. If the places of this loop are too small for 'n' nodes, each
** gets room for 'more' nodes, which must be at least 'n'. 0: out of memory.
*/
CPROF_I int loops_keep (Loops *l, const LoopMark *m, uint64_t steps,
                        const FrameNode *list, uint32_t n, uint32_t more);

static inline Loop *loops_at (const Loops *l, uint32_t id) {
  return cast(Loop *, chunks_at(&l->list, id));
}

static inline LoopMark *loops_mark (const Loops *l, uint32_t id) {
  return cast(LoopMark *, chunks_at(&l->marks, id));
}

static inline WorstFrame *loops_worst (const Loops *l, uint32_t id) {
  return cast(WorstFrame *, chunks_at(&l->worst, id));
}

static inline FrameNode *loops_node (const Loops *l, uint32_t id) {
  return cast(FrameNode *, chunks_at(&l->nodes, id));
}

#endif

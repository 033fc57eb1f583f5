/*
** Frames of the host: what was recorded, frame by frame. A frame lasts
** from one call of 'frames_end' to the next. (Frames of a stack are in
** stack.h.)
**
** The end of a frame costs in proportion to the nodes that were touched in
** it, not to all there are. Once all buffers have grown, it allocates
** nothing.
*/

#ifndef frames_h
#define frames_h

#include "count/node.h"


/* moving averages: nine tenths of a change within these seconds */
#define AVERAGES	2
#define AVERAGE_SECONDS	{0.8, 2.5}

/* first frames that count in no average: a program needs time to start */
#define FRAMES_DISCARDED	3


/* a function in one frame */
typedef struct FrameRow {
  uint32_t func;
  uint64_t calls, self, total;	/* ticks; recursion counted once */
  Allocated own;	/* what it has allocated itself, where that is counted */
} FrameRow;

/* a node in one frame */
typedef struct FrameNode {
  uint32_t node;
  uint64_t calls, self;
  Allocated own;
} FrameNode;

typedef struct HostFrame {
  uint64_t number;	/* from 1; 0: there is none */
  uint64_t start;	/* ticks since recording began */
  uint64_t ticks;
  uint64_t steps;	/* of the collector, where it is driven */
  int slow;		/* was it one when it ended? See frames_isslow */
  FrameRow *row;
  FrameNode *node;	/* all that were touched, callers first */
  uint32_t rows, nodes;
  uint32_t rowcapacity, nodecapacity;
} HostFrame;

typedef struct NodeMoving {
  double calls, self;
} NodeMoving;

typedef struct FuncMoving {
  double calls, self, total;	/* ticks */
  double self2, total2;		/* of the squares */
} FuncMoving;

/* what is kept of a node from frame to frame */
typedef struct NodeHistory {
  uint64_t calls, self;		/* at the end of the last frame */
  Allocated own;		/* allocated by then */
  uint64_t sum_calls, sum_self;	/* of the frames that count */
  uint64_t at;			/* 'averaged' time of the moving averages */
  NodeMoving moving[AVERAGES];
  uint64_t total;		/* of this frame */
  uint32_t touched;		/* number of the frame, cut to 32 bits */
  int inner;			/* is its function also above it? -1: no,
				   0: not known yet */
} NodeHistory;

/* what is kept of a function from frame to frame */
typedef struct FuncHistory {
  uint64_t sum_calls, sum_self, sum_total;
  double sum_self2, sum_total2;	/* of the squares */
  uint64_t at;
  FuncMoving moving[AVERAGES];
  uint32_t row;			/* in this frame, plus one */
} FuncHistory;

typedef struct Frames {
  const Memory *memory;
  const Tree *tree;
  int on;
  Chunks nodes;			/* of NodeHistory */
  Chunks funcs;			/* of FuncHistory */
  uint32_t *touched;		/* ids of nodes, callers first */
  uint32_t count, capacity;
  HostFrame last;		/* the last one recorded, with its nodes */
  HostFrame *ring;		/* the recorded ones, in turn */
  uint32_t size;		/* of the ring */
  int full;			/* does it keep nodes? */
  HostFrame *slow;		/* the last ones that took too long */
  uint32_t slowsize;
  uint64_t slowcount;		/* frames that took too long, in all */
  uint64_t budget;		/* ticks without overhead; 0: none */
  double cost;			/* ticks that an event costs, at least */
  uint64_t events;		/* that were seen before this frame */
  uint64_t overhead;		/* of the last frame, at least */
  uint64_t number;		/* of the frame that runs */
  uint64_t recorded;		/* frames that went to the ring */
  uint64_t counted;		/* frames that count in averages ... */
  uint64_t averaged;		/* ... and the ticks that they took */
  uint64_t start;		/* of the frame that runs, ticks */
  uint64_t steps;		/* of the collector, before that */
  double seconds;		/* in a tick */
} Frames;


CPROF_I void frames_init (Frames *f, const Memory *m, const Tree *tree,
                          uint32_t size, int full, uint32_t slowsize);
CPROF_I void frames_free (Frames *f);

/* Forgets all frames. */
CPROF_I void frames_clear (Frames *f);

/*
** The first frame is about to end: from now on, nodes must be touched.
** It started at 'start'. 0: out of memory.
*/
CPROF_I int frames_begin (Frames *f, uint64_t start);

/*
** Sets the rate of the clock, as far as it is known, the budget, and what an
** event costs at least.
*/
static inline void frames_rate (Frames *f, double seconds, uint64_t budget,
                                double cost) {
  f->seconds = seconds;
  f->budget = budget;
  f->cost = cost;
}

/* So many events were seen until the end of this frame. */
static inline void frames_events (Frames *f, uint64_t events) {
  f->overhead = (uint64_t)((double)(events - f->events) * f->cost);
  f->events = events;
}

/*
** Ends a frame; it is kept and averaged if 'record'. The collector has made
** so many 'steps' since recording began. 0: out of memory.
*/
CPROF_I int frames_end (Frames *f, uint64_t now, uint64_t steps, int record);

/* A node is entered. 0: out of memory. */
CPROF_I int frames_touchnew (Frames *f, const Node *n);

static inline int frames_touch (Frames *f, const Node *n) {
  if (n->id < f->nodes.count) {
    const NodeHistory *x = cast(const NodeHistory *,
      chunks_at(&f->nodes, n->id));
    if (x->touched == (uint32_t)f->number) return 1;
  }
  return frames_touchnew(f, n);
}

/* 0.1^(ticks / T): what is left of a moving average after that time */
CPROF_I double frames_decay (const Frames *f, uint64_t ticks, int average);

/* The frame 'back' frames ago (0: the last one recorded), or NULL. */
CPROF_I const HostFrame *frames_at (const Frames *f, uint64_t back);

/* How many slow frames are kept, and the one 'back' before the last. */
CPROF_I uint32_t frames_slows (const Frames *f);
CPROF_I const HostFrame *frames_slowat (const Frames *f, uint32_t back);

#endif

/*
** Frames of the host: what was recorded, frame by frame. A frame lasts
** from one call of 'frames_end' to the next. (Call frames are in stack.h.)
** Each name has a list of its own. loops.h tells what is kept of the frames of
** all names.
**
** Ending a frame takes time in proportion to the nodes that were touched in
** it, not to all nodes. Once all buffers have grown, it allocates nothing.
*/

#ifndef frames_h
#define frames_h

#include "count/loops.h"


/* Moving averages reach nine tenths of a change within these seconds. */
#define AVERAGES	2
#define AVERAGE_SECONDS	{0.8, 2.5}

/* The first frames, which averages leave out: a program needs time to start. */
#define FRAMES_DISCARDED	3


/* a function in one frame */
typedef struct FrameRow {
  uint32_t func;
  uint64_t calls, self, total;	/* ticks; recursion counted once */
  Allocated own;	/* what it has allocated itself, if counted */
} FrameRow;

/* an instant between two frames, since recording began */
typedef struct FrameTime {
  uint64_t at;		/* ticks */
  uint64_t ran;		/* ticks, without pauses and preempted time */
  uint64_t steps;	/* number of the collector's steps, where it is
			   driven */
} FrameTime;

typedef struct HostFrame {
  uint64_t number;	/* counts from 1; 0: no frame */
  uint64_t start;	/* ticks since recording began */
  uint64_t ticks;	/* without pauses and preempted time */
  uint64_t steps;	/* number of the collector's steps, where it is
			   driven */
  int slow;		/* was it too slow, judged when it ended? See
			   frames_keep in frames.c */
  FrameRow *row;
  FrameNode *node;	/* all nodes that were touched, callers first */
  uint32_t rows, nodes;
  uint32_t rowcapacity, nodecapacity;
} HostFrame;

/* figures that are averaged, in ticks; for nodes, only the first two */
enum {
  AVERAGE_CALLS, AVERAGE_SELF, AVERAGE_NODE,
  AVERAGE_TOTAL = AVERAGE_NODE,
  AVERAGE_SELF2, AVERAGE_TOTAL2,	/* squares */
  AVERAGE_FUNC
};

/* what is kept of a node from frame to frame */
typedef struct NodeHistory {
  uint64_t calls, self;		/* at the end of the last frame */
  Allocated own;		/* allocated by then */
  double sum[AVERAGE_NODE];	/* over the frames that count in averages */
  double moving[AVERAGES][AVERAGE_NODE];
  uint64_t at;			/* 'averaged' at the last update of 'moving' */
  uint64_t total;		/* ticks in this frame, with callees */
  uint32_t touched;		/* number of the last frame in which it was
				   touched, cut to 32 bits */
  int inner;			/* 1: a node above it has the same function;
				   -1: none has; 0: not known yet */
} NodeHistory;

/* what is kept of a function from frame to frame */
typedef struct FuncHistory {
  double sum[AVERAGE_FUNC];	/* see NodeHistory */
  double moving[AVERAGES][AVERAGE_FUNC];
  uint64_t at;
  uint32_t row;			/* index of its row in this frame, plus one */
} FuncHistory;

typedef struct Frames {
  struct Frames *next;		/* frames with another name, or NULL */
  uint64_t turns;		/* frames of all names that began; counted only
				   in the first of the list */
  Loops *loops;
  uint32_t loop;		/* id of these frames in 'loops' */
  const Memory *memory;
  const Tree *tree;
  int on;
  Chunks nodes;			/* of NodeHistory */
  Chunks funcs;			/* of FuncHistory */
  uint32_t *touched;		/* ids of nodes, callers first */
  uint32_t count, capacity;
  HostFrame last;		/* the last frame recorded, with its nodes */
  HostFrame *ring;		/* the last frames recorded, in a ring */
  uint32_t size;		/* frames in the ring */
  int full;			/* does the ring keep nodes, too? */
  HostFrame *slow;		/* ring of the last frames that were slow */
  uint32_t slowsize;
  uint64_t slowcount;		/* slow frames so far */
  uint64_t budget;		/* a frame is slow if it takes more than these
				   ticks, without overhead; 0: none is */
  uint64_t events;		/* events until the last frame ended */
  uint64_t overhead;		/* ticks of its events in the last frame */
  uint64_t number;		/* number of the frame that runs */
  uint64_t recorded;		/* frames recorded so far */
  uint64_t counted;		/* frames that count in averages */
  uint64_t averaged;		/* ticks that those frames took */
  FrameTime start;		/* of the frame that runs */
  double seconds;		/* seconds in a tick */
} Frames;


CPROF_I void frames_init (Frames *f, const Tree *tree, Loops *loops,
                          uint32_t size, int full, uint32_t slowsize);

/* Frees the frames of all names. */
CPROF_I void frames_free (Frames *f);

/* Frames with another name, at the end of the list. NULL: out of memory. */
CPROF_I Frames *frames_another (Frames *f);

/* Forgets all frames and names. */
CPROF_I void frames_clear (Frames *f);

/*
** Begins to record frames, when the first one, which started at 'start', is
** about to end. From now on, nodes must be touched. 0: out of memory.
*/
CPROF_I int frames_begin (Frames *f, const FrameTime *start);

/* Sets the rate of the clock, as far as it is known, and the budget. */
static inline void frames_rate (Frames *f, double seconds, uint64_t budget) {
  f->seconds = seconds;
  f->budget = budget;
}

/*
** Tells how many events were seen until the end of this frame, and the seconds
** that each of them costs.
*/
static inline void frames_events (Frames *f, uint64_t events, double cost) {
  f->overhead = (uint64_t)((double)(events - f->events) * cost / f->seconds);
  f->events = events;
}

/*
** Ends a frame. If 'record', it is kept and counts in averages.
** 0: out of memory.
*/
CPROF_I int frames_end (Frames *f, const FrameTime *now, int record);

/* The number of the frame that runs, cut to 32 bits; 0: none has ended yet. */
static inline uint32_t frames_running (const Frames *f) {
  return f != NULL ? (uint32_t)f->number : 0;
}

/*
** Begins to record frames, unless they are on: the first one starts now, and
** leaves out what was counted before. 0: out of memory.
*/
CPROF_I int frames_start (Frames *f, const FrameTime *now);

/* Notes the first entry of a node in this frame. 0: out of memory. */
CPROF_I int frames_touchnew (Frames *f, const Node *n);

/* Was the node entered in this frame before? */
static inline int frames_touched (const Frames *f, const Node *n) {
  return n->id < f->nodes.count &&
         cast(const NodeHistory *, chunks_at(&f->nodes, n->id))->touched ==
           (uint32_t)f->number;
}

/* Notes that a node is entered, for all names. 0: out of memory. */
static inline int frames_touch (Frames *f, const Node *n) {
  while (frames_touched(f, n) || frames_touchnew(f, n)) {
    f = f->next;
    if (likely(f == NULL)) return 1;
  }
  return 0;
}

/*
** The share of a moving average that is left after 'ticks': 0.1^(ticks / T),
** where T is the time of AVERAGE_SECONDS.
*/
CPROF_I double frames_decay (const Frames *f, uint64_t ticks, int average);

/* The frame 'back' frames ago (0: the last one recorded), or NULL. */
CPROF_I const HostFrame *frames_at (const Frames *f, uint64_t back);

/* How many slow frames are kept, and the one 'back' slow frames ago. */
CPROF_I uint32_t frames_slows (const Frames *f);
CPROF_I const HostFrame *frames_slowat (const Frames *f, uint32_t back);

#endif

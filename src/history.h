/*
** History: what was recorded, period by period. A period is what a host
** calls a frame: it lasts from one call of 'history_end' to the next.
**
** A period costs in proportion to the nodes that were touched in it, not
** to all there are; once all buffers have grown, it allocates nothing.
*/

#ifndef history_h
#define history_h

#include "chunk.h"
#include "clock.h"
#include "node.h"


/* moving averages: nine tenths of a change within these seconds */
#define HISTORY_AVERAGES	2
#define HISTORY_SECONDS	{0.8, 2.5}

/* periods that count in no average: a program needs time to get going */
#define HISTORY_DISCARDED	3


typedef struct Moving {
  double calls, self, total;	/* ticks */
  double self2, total2;		/* of the squares */
} Moving;

typedef struct NodeMoving {
  double calls, self;
} NodeMoving;

/* a function in one period */
typedef struct PeriodRow {
  uint32_t func;
  uint64_t calls, self, total;	/* ticks; recursion counted once */
  uint64_t self_from;		/* its ticks in earlier periods ... */
  uint64_t below_from;		/* ... and those of its callees */
} PeriodRow;

/* a node in one period */
typedef struct PeriodNode {
  uint32_t node;
  uint64_t calls, self;
  uint64_t from;		/* its ticks before this period */
} PeriodNode;

typedef struct Period {
  uint64_t number;	/* from 1; 0: there is none */
  uint64_t start;	/* ticks since recording began */
  uint64_t ticks;
  PeriodRow *row;
  PeriodNode *node;	/* all that were touched, callers first */
  uint32_t rows, nodes;
  uint32_t rowcapacity, nodecapacity;
} Period;

/* what is kept of a node from period to period */
typedef struct NodeHistory {
  uint64_t calls, self;		/* at the end of the last period */
  uint64_t sum_calls, sum_self;	/* of the periods that count */
  uint64_t at;			/* 'averaged' time of the moving averages */
  NodeMoving moving[HISTORY_AVERAGES];
  uint32_t touched;		/* number of the period, cut to 32 bits */
  uint32_t place;		/* in the period's nodes */
  uint32_t child, sibling;	/* touched ones, below and beside it */
  uint64_t total;		/* of this period */
} NodeHistory;

/* the same of a function */
typedef struct FuncHistory {
  uint64_t self, below;		/* ticks in all periods recorded */
  uint64_t sum_calls, sum_self, sum_total;	/* of those that count */
  double sum_self2, sum_total2;	/* of the squares */
  uint64_t at;
  Moving moving[HISTORY_AVERAGES];
  uint32_t row;			/* in this period, plus one */
  uint32_t active;		/* its nodes on the path, while summing up */
} FuncHistory;

typedef struct History {
  const Memory *memory;
  const Tree *tree;
  int on;
  Chunks nodes;			/* of NodeHistory */
  Chunks funcs;			/* of FuncHistory */
  uint32_t *touched;		/* ids of nodes, callers first */
  uint32_t count, capacity;
  Period last;			/* the last one recorded, in full */
  Period *ring;			/* the recorded ones, in turn */
  uint32_t size;		/* of the ring */
  int full;			/* does it keep nodes? */
  Period *slow;			/* the last ones that took too long */
  uint32_t slowsize;
  uint64_t slowcount;		/* that took too long in all */
  uint64_t budget;		/* ticks; 0: none */
  uint64_t number;		/* of the period that runs */
  uint64_t recorded;		/* periods that went to the ring */
  uint64_t counted;		/* periods that count in averages ... */
  uint64_t averaged;		/* ... and the ticks that they took */
  uint64_t start;		/* of the period that runs, ticks */
  double seconds;		/* in a tick */
} History;


CPROF_I void history_init (History *h, const Memory *m, const Tree *tree,
                           uint32_t size, int full, uint32_t slowsize);
CPROF_I void history_free (History *h);

/* forgets all periods */
CPROF_I void history_clear (History *h);

/*
** The first period ends now: from now on touched nodes are told. 'start'
** is when recording began. 0: out of memory.
*/
CPROF_I int history_begin (History *h, uint64_t start);

/* the rate of the clock, as far as it is known, and the budget in ticks */
static inline void history_rate (History *h, double seconds,
                                 uint64_t budget) {
  h->seconds = seconds;
  h->budget = budget;
}

/* ends a period at 'now'; it goes to history and averages if 'record' */
CPROF_I int history_end (History *h, uint64_t now, int record);

/* a node is entered; 0: out of memory */
CPROF_I int history_touchnew (History *h, const Node *n);

static inline int history_touch (History *h, const Node *n) {
  if (n->id < h->nodes.count) {
    const NodeHistory *x = cast(const NodeHistory *,
      chunks_at(&h->nodes, n->id));
    if (x->touched == (uint32_t)h->number) return 1;
  }
  return history_touchnew(h, n);
}

/* 0.1^(ticks / T): what is left of a moving average after that time */
CPROF_I double history_decay (const History *h, uint64_t ticks, int average);

/* the period 'back' periods ago (0: the last one recorded); or NULL */
CPROF_I const Period *history_period (const History *h, uint64_t back);

#endif

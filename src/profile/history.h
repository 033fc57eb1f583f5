/*
** History: the frames of the host, as they go with a snapshot, whose
** functions and nodes they name. Times are nanoseconds, without overhead.
** Within a frame, self times add up to the frame's own; each frame is
** rounded by itself.
*/

#ifndef history_h
#define history_h

#include "count/frames.h"
#include "profile/snapshot.h"


/* averages of calls are in thousandths */
#define HISTORY_CALLS	1000

/* figures: 0 is the average of all frames, then the moving ones */
#define HISTORY_FIGURES	(1 + AVERAGES)

typedef struct HistoryRow {
  uint32_t func;
  int64_t calls, self, total;
  int64_t allocs, bytes;	/* that it has allocated itself */
} HistoryRow;

typedef struct HistoryNode {
  uint32_t node;
  int64_t calls, self;
} HistoryNode;

typedef struct HistoryFrame {
  uint64_t number;
  int64_t start, ns;
  int64_t steps;	/* of the collector */
  HistoryRow *row;
  HistoryNode *node;
  uint32_t rows, nodes;	/* no nodes: they are not kept */
} HistoryFrame;

typedef struct FuncAverage {
  uint32_t func;
  int64_t calls[HISTORY_FIGURES];
  int64_t self[HISTORY_FIGURES], total[HISTORY_FIGURES];
  double heat_self[HISTORY_FIGURES], heat_total[HISTORY_FIGURES];
} FuncAverage;

typedef struct NodeAverage {
  uint32_t node;
  int64_t calls[HISTORY_FIGURES], self[HISTORY_FIGURES];
} NodeAverage;

typedef struct History {
  Memory memory;
  size_t size;		/* of all of it, in bytes */
  uint64_t ended, recorded, counted, slowcount;
  int64_t budget;	/* ns, beyond which a frame is slow; 0: none */
  HistoryFrame *frame;	/* the last one first, then the slow ones likewise */
  uint32_t frames, slows;
  FuncAverage *func;
  NodeAverage *node;
  uint32_t funcs, nodes;
} History;

/* The frames of the recording of 's'. NULL: out of memory. */
CPROF_I History *history_take (const Frames *f, const Snapshot *s);
CPROF_I void history_free (History *h);

#endif

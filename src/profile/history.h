/*
** History: the host's frames, as part of a profile. Functions and nodes are
** numbered as in its snapshot. Times are ns without overhead, which has rows
** of its own. Within a frame, self times add up to the time of the frame;
** each frame is rounded by itself.
*/

#ifndef history_h
#define history_h

#include "count/frames.h"
#include "profile/snapshot.h"


/* averages of calls are in units of 1 / HISTORY_CALLS */
#define HISTORY_CALLS	1000

/* figures: 0 is the average of all frames, the others are moving averages */
#define HISTORY_FIGURES	(1 + AVERAGES)

typedef struct HistoryRow {
  uint32_t func;
  int64_t calls, self, total;
  int64_t allocs, bytes;	/* allocated by itself, without callees */
} HistoryRow;

typedef struct HistoryNode {
  uint32_t node;
  int64_t calls, self;
} HistoryNode;

typedef struct HistoryFrame {
  uint64_t number;
  int64_t start, ns;
  int64_t steps;	/* steps of the collector */
  HistoryRow *row;
  HistoryNode *node;
  uint32_t rows, nodes;	/* 'nodes' is 0 where the frame's are not kept */
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
  uint64_t ended, recorded, counted, slowcount;
  int64_t budget;	/* ns: a frame that takes longer is slow; 0: none */
  HistoryFrame *frame;	/* last frames, newest first; then slow frames */
  uint32_t frames, slows;
  FuncAverage *func;
  NodeAverage *node;
  uint32_t funcs, nodes;
} History;

/* Bytes of a history, with its arrays after it. */
CPROF_I size_t history_size (const Frames *f);

/*
** Makes the history of the recording of 's' in a block of that size, all zero.
** What else it needs comes from the arena 'm'.
*/
CPROF_I void history_take (History *h, const Memory *m, const Frames *f,
                           const Snapshot *s);

#endif

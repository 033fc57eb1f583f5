/*
** Periods: a history as it goes with a snapshot, whose functions and
** nodes it names. Times are nanoseconds.
**
** What periods took adds up, without a remainder. Over all periods, the
** self and total times of a function (and, where all nodes are kept, of a
** node) add up to what the snapshot says, once every period is recorded
** and kept. Within a period, self times add up to the period's own.
*/

#ifndef periods_h
#define periods_h

#include <stddef.h>

#include "recording.h"
#include "snapshot.h"


/* averages of calls are kept in thousandths */
#define PERIODS_CALLS	1000

/* figures: 0 is the average of all, then the moving ones */
#define PERIODS_FIGURES	(1 + HISTORY_AVERAGES)

typedef struct RowCopy {
  uint32_t func;
  int64_t calls, self, total;
} RowCopy;

typedef struct NodeCopy {
  uint32_t node;
  int64_t calls, self;
} NodeCopy;

typedef struct PeriodCopy {
  uint64_t number;
  int64_t start, ns;
  uint32_t row, rows;	/* where its rows begin, and how many there are */
  uint32_t node, nodes;
} PeriodCopy;

typedef struct FuncCopy {
  uint32_t func;
  int64_t calls[PERIODS_FIGURES];
  int64_t self[PERIODS_FIGURES], total[PERIODS_FIGURES];
  double heat_self[PERIODS_FIGURES], heat_total[PERIODS_FIGURES];
} FuncCopy;

typedef struct AverageCopy {
  uint32_t node;
  int64_t calls[PERIODS_FIGURES], self[PERIODS_FIGURES];
} AverageCopy;

typedef struct Periods {
  uint64_t number, recorded, counted;
  uint64_t slowcount;
  uint32_t periods, slows;	/* the last one in full, then the ring, then
				   the slow ones, latest first */
  uint32_t funcs, averages;
  PeriodCopy *period;
  RowCopy *row;
  NodeCopy *node;
  FuncCopy *func;
  AverageCopy *average;
} Periods;


/* bytes that 'periods_fill' needs: in all, and besides, while it works */
CPROF_I size_t periods_size (const History *h);
CPROF_I size_t periods_room (const Recording *r);

/* 0: out of memory */
CPROF_I int periods_fill (Periods *to, const Recording *r, const Snapshot *s,
                          void *room);

#endif

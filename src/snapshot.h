/*
** A snapshot: a recording's nodes as a profile's.
*/

#ifndef snapshot_h
#define snapshot_h

#include "profile.h"
#include "recording.h"


/*
** Is the profiler's own node left out? it is when it took no time, and
** none can be found to be its.
*/
CPROF_I int snapshot_skips (const Recording *r);

/* how many nodes a snapshot of 'r' has */
CPROF_I uint32_t snapshot_count (const Recording *r);

/* how many lines there are for which something was counted */
CPROF_I uint32_t snapshot_lines (const Recording *r);

typedef struct Snapshot {
  ProfileNode *list;	/* room for 'snapshot_count' */
  uint32_t *func;	/* room for all functions: in the profile, plus one */
  ProfileLine *line;	/* room for 'snapshot_lines' */
  uint8_t *zone;	/* room for all functions: is it a zone? */
  int64_t *own;		/* room for all functions: ns, with its zones' */
  int64_t *ownraw;	/* the same, with what recording has cost */
  double *tax;		/* room for 'snapshot_count': of that, ps ... */
  double *linetax;	/* ... and for all functions, that of lines */
  uint32_t *callcost;	/* ps of a call, in it; 0: no events tell */
  uint32_t *owner;	/* room for 'snapshot_count': who opened the zone */
  uint32_t lines;	/* that were filled in */
  uint32_t functions;	/* those that have nodes; only these are numbered */
  Scale scale;		/* ns in a tick */
  int64_t wall;		/* ns */
  int64_t paused;	/* ns of that */
  uint32_t own_node;	/* the profiler's; 0: there is none */
  int64_t overhead;	/* ns: what the profiler took itself */
  int64_t clamped;	/* ns that would have been below zero */
  Costs costs;		/* that were taken out */
} Snapshot;

/*
** Numbers functions: fills in 'func', and the number 'functions'.
*/
CPROF_I void snapshot_number (const Recording *r, Snapshot *s);

/*
** Fills in 's'. Ticks become ns by rounding their running sum, so that
** nodes add up to the whole without a remainder, and the lines of a
** function to its self time and that of its zones.
*/
CPROF_I void snapshot_fill (Recording *r, Snapshot *s);

#endif

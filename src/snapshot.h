/*
** A snapshot: a recording's nodes as a profile's.
*/

#ifndef snapshot_h
#define snapshot_h

#include "profile.h"
#include "recording.h"


/* how many nodes a snapshot of 'r' has */
uint32_t snapshot_count (const Recording *r);

typedef struct Snapshot {
  ProfileNode *list;	/* room for 'snapshot_count' */
  uint32_t *func;	/* room for all functions: in the profile, plus one */
  uint32_t functions;	/* those that have nodes; only these are numbered */
  int64_t wall;		/* ns */
  int64_t paused;	/* ns of that */
} Snapshot;

/*
** Fills in 's'. Ticks become ns by rounding their running sum, so that
** nodes add up to the whole without a remainder.
*/
void snapshot_fill (Recording *r, Snapshot *s);

#endif

/*
** A time axis that is made of the events in a ring, see count/ring.h. It is one
** of an exact recording, but has no slices: each stretch of a node is a sample
** of its own, of one call, if that began with it, or of none.
*/

#ifndef replay_h
#define replay_h

#include "profile/range.h"
#include "profile/snapshot.h"


typedef struct Replay {
  const Memory *memory;
  const Recording *recording;
  const Snapshot *snapshot;
  double tick;		/* ns */
  uint32_t *place;	/* of each node; 0: none yet */
  uint32_t places;
  AxisChunk **chunk;
  uint32_t chunks, capacity;
  Axis axis;		/* what 'axis_put' needs */
  AxisSample sample;	/* the stretch that may go on */
  uint32_t node;	/* its node */
  double begun;		/* ns */
  unsigned what;	/* what ended the last stretch */
} Replay;

/*
** Makes an axis of the recording's ring, and sets the sizes of '*d' to its own.
** The snapshot is of the same moment. All memory comes from the arena 'm'.
*/
CPROF_I void replay_make (Replay *p, AxisData *d, const Memory *m,
                          const Recording *r, const Snapshot *s);

/* Copies it to 'd->chunk' and 'd->place', which have room for that. */
CPROF_I void replay_copy (const Replay *p, AxisData *d);

#endif

/*
** The last events of an exact recording. Each takes eight bytes: how
** long a node ran before the event, and what kind of event it was. The node
** says all of what ran, with callers, so events can be read from anywhere on.
**
** The ring is a list of blocks. When the last one is full, the oldest is used
** again, if it is older than what is to be kept, or if there are as many blocks
** as there may be. In a file, RING_NONE follows the last event of a block that
** is not full, so that a process that is killed leaves a ring that can be read.
*/

#ifndef ring_h
#define ring_h

#include "base/chunks.h"


#define RING_ROOM	8190	/* events in a block of 64 KB */
#if !defined(RING_BLOCKS)
#define RING_BLOCKS	1024u	/* at most, if no size is given: 64 MB */
#endif

/* what ended a stretch of time: an event of Lua's, or one of these */
#define RING_OTHER	2u	/* in place of LUA_HOOKLINE; also a call that is
			   charged to the caller's node */
#define RING_WAIT	3u	/* nothing: the thread waited, and the node goes on.
			   In place of LUA_HOOKCOUNT */
#define RING_PREEMPTED	5u	/* others had the processor */
#define RING_PAUSED	6u	/* nothing was recorded */
#define RING_MORE	7u	/* not a stretch: its node is the upper half of the
			   next one's ticks */
#define RING_NONE	UINT64_MAX	/* no event; RING_MORE has 0 ticks */

/* a block; it may lie in a file, which other programs can write to */
typedef struct RingBlock {
  uint64_t begun;	/* ticks from when recording began to its beginning */
  uint64_t event[RING_ROOM];	/* from the low bits: ticks (32), what ended
				   them (3), node (29) */
} RingBlock;

/* where a block is in the list; in memory, so no other program changes it */
typedef struct RingLink {
  struct RingLink *next;	/* the next younger one */
  RingBlock *block;
} RingLink;

typedef struct Ring {
  uint64_t *at, *end;	/* where the next event goes, and where the block that
			   is being written ends */
  const Memory *memory;
  const Pages *pages;	/* where blocks are; NULL: in memory */
  RingLink *oldest, *newest;	/* NULL: there is no ring */
  RingLink *spare;	/* blocks without events */
  uint32_t blocks, most;	/* how many there are, and may be */
  int dropped;		/* was a block used again? */
  uint64_t keep;	/* ticks */
} Ring;

CPROF_I void ring_init (Ring *g, const Memory *m, const Pages *pages);
CPROF_I void ring_free (Ring *g);

/*
** From now on, events of at least the last 'keep' ticks are kept, as far as
** they fit into 'bytes'; 0: into RING_BLOCKS blocks. Returns 0 if out of
** memory.
*/
CPROF_I int ring_begin (Ring *g, uint64_t keep, uint64_t bytes);

/* Forgets all events. */
CPROF_I void ring_clear (Ring *g);

/* Is there room for an event after so many ticks? */
static inline int ring_fits (const Ring *g, uint64_t ticks) {
  return g->at != g->end && ticks <= UINT32_MAX;
}

/* Adds an event, for which 'ring_fits' must be true. */
static inline void ring_put (Ring *g, uint32_t node, unsigned what,
                             uint64_t ticks) {
  *g->at++ = (uint64_t)(node << 3 | what) << 32 | ticks;
}

/*
** Adds any event; 'begun' is the time from when recording began to the
** beginning of its ticks.
*/
COLD CPROF_I void ring_add (Ring *g, uint64_t begun, uint32_t node,
                            unsigned what, uint64_t ticks);

/*
** The stretch of a node that was added last was ended by 'what'. 'overhead' is
** the node of the profiler's own time, which may have been added since.
*/
CPROF_I void ring_ended (Ring *g, unsigned what, uint32_t overhead);


#if CPROF_WHOLE

/* {======================================================
** Reading
** ======================================================= */

/*
** Adds a block of a file, at its place in time, to a ring that is only read. 0:
** out of memory.
*/
CPROF_I int ring_restore (Ring *g, RingBlock *b);

/*
** To be called once all blocks of a file were added. Cuts a block off before an
** event whose node is not among the first 'nodes', or which ends after 'most'
** ticks. 0: there was such an event.
*/
CPROF_I int ring_check (Ring *g, uint32_t nodes, uint64_t most);

typedef struct RingStretch {
  uint64_t begun;	/* ticks since recording began */
  uint64_t ticks;
  uint32_t node;
  unsigned what;	/* what ended it */
} RingStretch;

typedef struct RingCursor {
  const Ring *ring;
  const RingLink *link;
  uint64_t *at;
  uint64_t time;	/* ticks since recording began */
} RingCursor;

CPROF_I void ring_first (RingCursor *c, const Ring *g);

/* Reads the next stretch. 0: there is none. */
CPROF_I int ring_next (RingCursor *c, RingStretch *s);

/* }====================================================== */

#endif

#endif

/*
** A recording: what was counted, as data. The recorder adds to it while
** the program runs (recorder.h); a file may hold one (file/reader.h).
*/

#ifndef recording_h
#define recording_h

#include "base/clock.h"
#include "count/axis.h"
#include "count/gap.h"
#include "count/loops.h"
#include "count/slices.h"
#include "count/spots.h"
#include "count/node.h"
#include "count/ring.h"
#include "count/tasks.h"
#include "count/timing.h"
#include "count/waits.h"
#include "identity/function.h"


/* {======================================================
** The size of the heap over time. Each point has the largest size until the
** next point. When all points are used, neighbours are merged, so the
** distance of points grows with time.
** ======================================================= */

#define TIMELINE_POINTS	512
#define TIMELINE_STEP	10000000u	/* ns, at first */
#define TIMELINE_BYTES	65536	/* allocated between readings of the clock */

typedef struct TimelinePoint {
  uint64_t ns;		/* since recording began */
  uint64_t bytes;
} TimelinePoint;

typedef struct Timeline {
  uint64_t begun;	/* ns of the monotonic clock, when recording began */
  uint64_t step;	/* least ns from point to point */
  uint32_t count;
  TimelinePoint point[TIMELINE_POINTS];
} Timeline;

static inline void timeline_begin (Timeline *t, uint64_t now) {
  t->begun = now;
  t->step = TIMELINE_STEP;
  t->count = 0;
}

static inline void timeline_raise (TimelinePoint *p, uint64_t bytes) {
  if (bytes > p->bytes) p->bytes = bytes;
}

/* Merges the points in pairs. */
static inline void timeline_halve (Timeline *t) {
  uint32_t i;
  for (i = 0; i < TIMELINE_POINTS / 2; i++) {
    t->point[i] = t->point[i * 2];
    timeline_raise(&t->point[i], t->point[i * 2 + 1].bytes);
  }
  t->count = TIMELINE_POINTS / 2;
  t->step *= 2;
}

static inline void timeline_add (Timeline *t, uint64_t now, uint64_t bytes) {
  uint64_t ns = now - t->begun;
  if (t->count > 0 && ns < t->point[t->count - 1].ns + t->step) {
    timeline_raise(&t->point[t->count - 1], bytes);
    return;
  }
  if (t->count == TIMELINE_POINTS) timeline_halve(t);
  t->point[t->count].ns = ns;
  t->point[t->count++].bytes = bytes;
}

/* Adds the size at the end, which is not a maximum. */
static inline void timeline_end (Timeline *t, uint64_t now, uint64_t bytes) {
  uint64_t ns = now - t->begun;
  if (t->count == TIMELINE_POINTS) timeline_halve(t);
  if (t->count > 0 && ns <= t->point[t->count - 1].ns)
    ns = t->point[t->count - 1].ns + 1;
  t->point[t->count].ns = ns;
  t->point[t->count++].bytes = bytes;
}

/* }====================================================== */


typedef enum Mode {
  MODE_CALL, MODE_LINE, MODE_TRACE, MODE_COUNT,
  MODE_SAMPLE		/* the calls of a node are samples */
} Mode;

#define MODE_NAMES	"call", "line", "trace", "count", "sample"

/* what triggers samples */
typedef enum Ticker {
  TICKER_UNKNOWN,	/* there are none, or several recordings were added up */
  TICKER_WALL,		/* a timer of wall time */
  TICKER_CPU,		/* a timer of the thread's processor time */
  TICKER_THREAD,	/* another thread */
  TICKER_TASK		/* the thread's task clock; another thread for waits */
} Ticker;

/* figures of the whole recording, which may lie in a file */
typedef struct Figures {
  uint64_t begun;	/* ticks, when recording began */
  uint64_t paused;	/* ticks that are not recorded */
  uint64_t preempted;	/* ticks of 'paused' in which other programs ran */
  uint64_t unwaited;	/* ticks of waits that were lost for lack of memory */
  uint64_t divided;	/* a GapKnown: what is known of gaps between events */
  uint64_t sampled;	/* mode sample: ticks that nodes share, see Node */
  uint64_t waited;	/* ticks of 'sampled' in which the thread waited */
  uint64_t unmatched;	/* events for which no call frame was found */
  uint64_t hooks_lost;	/* times that another hook replaced ours */
  uint64_t backwards;	/* times that the clock ran backwards */
  uint64_t backwards_ticks;	/* ticks that it went back in all */
  uint64_t jumps;	/* times that two clocks diverged, see clock.h */
  uint64_t jumps_ns;	/* ns that they diverged by in all */
  uint64_t gc_steps;	/* the collector's steps, where it is driven */
  uint64_t gc_cycles;	/* cycles that these steps have ended */
  uint64_t gc_longest;	/* ticks of the longest step */
  uint64_t alloc_samples;	/* mode sample: samples of allocations */
  uint64_t signals;	/* mode sample: ticks that came as signals */
  uint64_t interrupted;	/* system calls that these signals have ended */
  uint64_t ticker;	/* a Ticker */
  int64_t live_peak;	/* most bytes that were in use at once, see live.h */
  uint64_t live_peaks;	/* times that 'live_peak' rose */
  uint64_t killed;	/* ticks, when a signal was about to end the program */
  uint64_t killed_waited;	/* ticks that the program had waited between
				   the last event and 'killed'; 0: neither is
				   known */
  GapLook look;		/* the thread's last look at its clocks, for whoever
			   reads the file while it runs; 'wall' is 0: none yet */
  int64_t thread;	/* whose look it is, see platform_threadid */
  SlicesKept slices;	/* exact modes: of the time axis */
  Timing timing[EVENT_KINDS];
} Figures;

typedef struct Recording {
  Memory memory;
  Functions functions;
  ChunkSet counters;	/* chunks of 'tree' to 'loops', and those that
			   a reader of files adds */
  Tree tree;
  Tally waits;		/* see waits.h */
  Tally spots;		/* mode sample: see spots.h */
  Tasks tasks;
  Loops loops;		/* frames of the host */
  Axis axis;		/* mode sample: when samples came; exact modes: slices */
  Ring ring;		/* mode call, with 'keep_last': the last events */
  Slices slices;
  Figures *figures;	/* 'own_figures', or those in a file */
  Figures own_figures;
  uint64_t waiting;	/* mode sample, if read from a file: the ticks of
			   'sampled' that NODE_WAITING has alone; weights divide
			   the others among nodes */
  uint64_t waiting_waited;	/* ticks of 'waiting' in which the thread
				   waited */
  Clock clock;
  Mode mode;
  int direct;		/* were Lua's structures read? see internals.h */
  int64_t started_at;	/* seconds since 1970 */
  int64_t pid;		/* id of the process that was recorded */
  uint64_t live;	/* mean bytes from one sampled live block to the next */
  uint64_t memory_interval;	/* mode sample: mean bytes from one sampled
				   allocation to the next */
  uint64_t garbage;	/* bytes that were allocated and not freed, but are
			   probably garbage, see live.h; 0: not known */
  Timeline heap;	/* size of the heap, where allocations are counted */
  int gc;		/* was the collector driven? */
  int allocator_lost;	/* did another allocator replace the profiler's? */
  uint64_t events;	/* calls, returns and lines that were seen */
  int stopped;		/* are the figures final? */
  const char *ended;	/* why recording ended by itself, or NULL */
} Recording;

/*
** Makes an empty recording of '*r', which holds zeros. It takes its memory
** from 'm', and its chunks from 'pages', by BlockKind; NULL: also from 'm'. 0:
** out of memory; it has to be freed in this case, too.
*/
CPROF_I int recording_blank (Recording *r, const Memory *m,
                             const Pages *pages);
COLD CPROF_I void recording_free (Recording *r);

/* Sets up, and frees, all counters but those of functions. */
CPROF_I void recording_counters (Recording *r, const Pages *pages);
COLD CPROF_I void recording_freecounters (Recording *r);

/*
** The function of a node; of a zone, the one that has opened it, as the tree
** tells. While it is recorded, this reads the tree's copy in memory: the node
** itself may be in a file, which another program may overwrite.
*/
CPROF_I uint32_t recording_owner (const Recording *r, uint32_t node);

#endif

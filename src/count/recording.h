/*
** A recording: what was counted, as data. The recorder adds to it while
** the program runs (recorder.h); a file may hold one (file/reader.h).
*/

#ifndef recording_h
#define recording_h

#include "base/clock.h"
#include "count/gap.h"
#include "count/node.h"
#include "count/timeline.h"
#include "count/timing.h"
#include "count/waits.h"
#include "identity/function.h"


typedef enum Mode {
  MODE_CALL, MODE_LINE, MODE_TRACE, MODE_COUNT,
  MODE_SAMPLE		/* the calls of a node are samples */
} Mode;

/* figures of the whole recording, which may lie in a file */
typedef struct Figures {
  uint64_t begun;	/* ticks, when recording began */
  uint64_t paused;	/* ticks that are not recorded */
  uint64_t preempted;	/* those of 'paused' in which others ran */
  uint64_t unwaited;	/* ticks of waits that were lost for lack of memory */
  uint64_t divided;	/* a GapKnown: what is known of gaps between events */
  uint64_t sampled;	/* mode sample: ticks that nodes share, see Node */
  uint64_t waited;	/* those of 'sampled' in which the thread waited */
  uint64_t unmatched;	/* events for which no call frame was found */
  uint64_t hooks_lost;	/* times that another hook replaced ours */
  uint64_t backwards;	/* times that the clock ran backwards ... */
  uint64_t backwards_ticks;	/* ... and how far in all */
  uint64_t jumps;	/* times that two clocks parted, see clock.h ... */
  uint64_t jumps_ns;	/* ... and by how much in all */
  uint64_t gc_steps;	/* of the collector, where it is driven */
  uint64_t gc_cycles;	/* cycles that these steps have ended */
  uint64_t gc_longest;	/* ticks of the longest step */
  uint64_t alloc_samples;	/* mode sample: of allocations */
  uint64_t interrupted;	/* mode sample: system calls that ticks have ended */
  int64_t live_peak;	/* most bytes that were in use at once, see live.h */
  uint64_t live_peaks;	/* times that 'live_peak' rose */
  Timing timing[EVENT_KINDS];
} Figures;

typedef struct Recording {
  Memory memory;
  Functions functions;
  Tree tree;
  Waits waits;
  Figures *figures;	/* 'own_figures', or those in a file */
  Figures own_figures;
  uint64_t waiting;	/* mode sample, read from a file: those ticks of
			   'sampled' that NODE_WAITING alone has */
  Clock clock;
  Mode mode;
  int direct;		/* were Lua's structures read? see internals.h */
  int64_t started_at;	/* seconds since 1970 */
  int64_t pid;		/* of the process that was recorded */
  uint64_t live;	/* mean bytes from one sampled live block to the next */
  uint64_t memory_interval;	/* mode sample: mean bytes from one sampled
				   allocation to the next */
  Timeline heap;	/* size of the heap, where allocations are counted */
  int gc;		/* was the collector driven? */
  int allocator_lost;	/* did another allocator replace the profiler's? */
  uint64_t events;	/* calls, returns and lines that were seen */
  int stopped;		/* are the figures final? */
  const char *ended;	/* why recording ended by itself, or NULL */
} Recording;

/*
** Makes an empty recording of '*r', which holds zeros. It takes its memory
** from 'm'. 0: out of memory; it has to be freed in this case, too.
*/
CPROF_I int recording_blank (Recording *r, const Memory *m);
CPROF_I void recording_free (Recording *r);

#endif

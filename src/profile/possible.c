/*
** See possible.h
*/

#include "profile/possible.h"


enum {
  SUM_CALLS, SUM_TICKS, SUM_WAITED,	/* of nodes */
  SUM_SPOTS,
  SUM_HITS, SUM_LINETICKS, SUM_LINEWAITED,	/* of lines or instructions */
  SUM_LIVE,	/* absolute values of all figures of live blocks */
  SUM_BLOCKS, SUM_BYTES,	/* that nodes, kinds or lines have allocated */
  SUMS
};

/* sums of all figures; none of them may exceed FIGURES_MOST */
typedef struct Sums {
  uint64_t sum[SUMS];
  int exceeded;		/* does a sum exceed FIGURES_MOST? */
} Sums;


/* {======================================================
** Sums
** ======================================================= */

static void sum_add (Sums *s, int which, uint64_t n) {
  if (n > FIGURES_MOST - s->sum[which]) s->exceeded = 1;
  else s->sum[which] += n;
}


/* Figures of live blocks may be negative; their absolute values count. */
static void sum_live (Sums *s, int64_t n) {
  sum_add(s, SUM_LIVE, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}


static void sum_allocated (Sums *s, const Allocated *a) {
  sum_add(s, SUM_BLOCKS, a->count);
  sum_add(s, SUM_BYTES, a->bytes);
}


static void sum_nodes (Sums *s, const Tree *t) {
  uint32_t i;
  for (i = 0; i < t->nodes.count; i++) {
    sum_add(s, SUM_CALLS, tree_node(t, i)->calls);
    sum_add(s, SUM_TICKS, tree_node(t, i)->self);
  }
}


static void sum_waits (Sums *s, const Tally *t) {
  Wait w;
  uint32_t i;
  for (i = 1; waits_at(t, i, &w); i++)
    sum_add(s, w.node == WAIT_LINE ? SUM_LINEWAITED : SUM_WAITED, w.ticks);
}


static void sum_spots (Sums *s, const Tally *t) {
  const TallyCount *x;
  uint32_t i;
  for (i = 1; (x = tally_at(t, i)) != NULL; i++)
    sum_add(s, SUM_SPOTS, x->ticks);
}


static void sum_nodeallocated (Sums *s, const Tree *t) {
  uint32_t i;
  for (i = 0; t->memory && i < t->nodes.count; i++) {
    const NodeAllocated *a = tree_allocated(t, i);
    sum_allocated(s, &a->all);
    sum_live(s, a->live_count);
    sum_live(s, a->live_bytes);
    sum_live(s, a->peak_bytes);
  }
}


static void sum_kinds (Sums *s, const Tree *t) {
  uint32_t i;
  int k;
  s->sum[SUM_BLOCKS] = s->sum[SUM_BYTES] = 0;
  for (i = 0; t->memory && i < t->kinds.count; i++)
    for (k = 0; k < ALLOC_KINDS; k++)
      sum_allocated(s, &tree_kinds(t, i)->kind[k]);
  s->sum[SUM_BLOCKS] = s->sum[SUM_BYTES] = 0;
}


static void sum_lines (Sums *s, const Lines *l) {
  uint32_t i;
  for (i = 0; l->list != NULL && i < l->count; i++) {
    const LineAllocated *a = lines_allocated(l, i);
    sum_add(s, SUM_HITS, l->list[i].hits);
    sum_add(s, SUM_LINETICKS, l->list[i].self);
    if (a == NULL) continue;
    sum_live(s, a->live_bytes);
    sum_allocated(s, &a->all);
  }
}


static void sum_instructions (Sums *s, const Instructions *x) {
  uint32_t i;
  for (i = 0; x->list != NULL && i < x->count; i++) {
    const Instruction *n = &x->list[i];
    const InstructionAllocated *a = instructions_allocated(x, i);
    sum_add(s, SUM_HITS, n->count);
    sum_add(s, SUM_LINETICKS, n->next[0]);
    sum_add(s, SUM_LINETICKS, n->next[2]);
    if (n->next[1] > FIGURES_MOST) s->exceeded = 1;
    if (a == NULL) continue;
    sum_allocated(s, &a->before);
    sum_allocated(s, &a->other);
    sum_live(s, a->live[0]);
    sum_live(s, a->live[1]);
  }
}


/* Adds up all figures. Names those whose sum is too large; NULL: none. */
static const char *sum_all (Sums *s, const Recording *r) {
  uint32_t i;
  sum_nodes(s, &r->tree);
  if (s->exceeded) return "figures of a node";
  sum_waits(s, &r->waits);
  if (s->exceeded) return "figures of a wait";
  sum_spots(s, &r->spots);
  if (s->exceeded) return "figures of a spot";
  sum_nodeallocated(s, &r->tree);
  if (s->exceeded) return "allocations of a node";
  sum_kinds(s, &r->tree);
  if (s->exceeded) return "allocations of a function";
  for (i = 0; i < r->functions.list.count; i++) {
    const Function *f = functions_at(&r->functions, i);
    sum_lines(s, &f->lines);
    if (s->exceeded) return "figures of a line";
    sum_instructions(s, &f->instructions);
    if (s->exceeded) return "figures of an instruction";
  }
  return NULL;
}

/* }====================================================== */


/* {======================================================
** Time
** ======================================================= */

/*
** Most calls in a nanosecond or a tick. On a real machine, a call takes
** dozens of these, but clocks may be slowed down. CALLS_FREE more calls may
** have taken no time.
*/
#define CALLS_MOST	100u
#define CALLS_FREE	1000000u

static int possible_ticks (Scale scale, uint64_t ticks) {
  return ticks <= FIGURES_MOST &&
         ticks >> scale.shift < FIGURES_MOST / scale.factor;
}


/* The sum of recorded and paused ticks; FIGURES_MOST + 1: it is larger. */
static uint64_t possible_whole (const Recording *r, const Sums *s) {
  Sums all = ZEROS;
  if (r->mode != MODE_SAMPLE) sum_add(&all, 0, s->sum[SUM_TICKS]);
  else {
    sum_add(&all, 0, r->tree.overhead->self);
    sum_add(&all, 0, r->figures->sampled);
  }
  sum_add(&all, 0, r->figures->paused);
  return all.exceeded ? (uint64_t)FIGURES_MOST + 1 : all.sum[0];
}


/*
** In mode sample, instructions get the same ns for a tick as running nodes
** do. Is the time of all instructions possible then?
*/
static int possible_samples (const Recording *r, const Sums *s,
                             Scale scale) {
  double all = (double)(s->sum[SUM_TICKS] - r->tree.overhead->self) -
               (double)s->sum[SUM_WAITED];
  return r->mode != MODE_SAMPLE || all == 0 ||
         (double)s->sum[SUM_LINETICKS] / all * (double)r->figures->sampled *
         clock_rate(scale) < (double)FIGURES_MOST;
}


/*
** Is there enough time for all calls and line hits? Yes where the clock is
** the host's, which may stand still, or a counter, and where the profile was
** saved: its calls and times may come from different programs.
*/
static int possible_calls (const Recording *r, const Sums *s, Scale scale,
                           uint64_t all) {
  uint64_t ns = clock_ns(scale, all), most = (ns > all ? ns : all);
  most = most < FIGURES_MOST / CALLS_MOST - CALLS_FREE
       ? most * CALLS_MOST + CALLS_FREE : FIGURES_MOST;
  return r->clock.kind > CLOCK_CPU || r->tree.saved ||
         (s->sum[SUM_CALLS] <= most && s->sum[SUM_HITS] <= most);
}


static int possible_slow (const Recording *r, Scale scale,
                          const SlowCall *call) {
  return call->node < r->tree.nodes.count &&
         possible_ticks(scale, call->took) &&
         possible_ticks(scale, call->ended) &&
         possible_ticks(scale, call->parts.waited) &&
         possible_ticks(scale, call->parts.preempted) &&
         possible_ticks(scale, call->parts.overhead);
}


static int possible_durations (const Recording *r, Scale scale) {
  const Tree *t = &r->tree;
  uint32_t i;
  int k;
  for (i = 0; t->distribution && i < t->durations.count; i++)
    for (k = 0; k < DURATIONS_SLOWEST; k++)
      if (!possible_slow(r, scale, &tree_durations(t, i)->slowest[k]))
        return 0;
  return 1;
}


/*
** A slice is at most as long as the recording. The sum of slices may be longer,
** as a slice includes those of coroutines that are resumed in it.
*/
static int possible_tasks (const Recording *r, Scale scale) {
  const Tasks *t = &r->tasks;
  uint32_t functions = r->functions.list.count, i;
  int k;
  for (i = 1; i < t->list.count; i++) {
    const Task *x = tasks_at(t, i);
    uint64_t all = x->created | x->met | x->resumes;
    if (x->is.func >= functions || x->is.maker >= functions ||
        x->is.outer >= functions)
      return 0;
    for (k = 0; k < TASK_ENDS; k++) all |= x->ended[k];
    if (all > FIGURES_MOST || !possible_ticks(scale, x->running) ||
        !possible_ticks(scale, x->waiting))
      return 0;
    for (k = 0; k < DURATIONS_SLOWEST; k++)
      if (!possible_slow(r, scale, &x->slices.slowest[k])) return 0;
  }
  for (i = 1; i < t->pauses.count; i++) {
    const TaskPause *p = tasks_pauseat(t, i);
    if (p->node >= r->tree.nodes.count || p->task == 0 ||
        p->task >= t->list.count || p->times > FIGURES_MOST ||
        !possible_ticks(scale, p->ticks))
      return 0;
  }
  return 1;
}


/* A frame without a number is not complete. */
static int possible_mark (const LoopMark *m, Scale scale) {
  return m->number == 0 || (m->own <= m->ticks &&
         possible_ticks(scale, m->start) && possible_ticks(scale, m->ticks));
}


static int possible_worst (const Recording *r, const WorstFrame *p,
                           Scale scale) {
  uint32_t i;
  if (p->is.number == 0) return 1;
  if (p->steps > FIGURES_MOST || !possible_mark(&p->is, scale)) return 0;
  for (i = 0; i < p->nodes; i++) {
    const FrameNode *n = loops_node(&r->loops, p->first + i);
    if (n->node >= r->tree.nodes.count || n->calls > FIGURES_MOST ||
        n->own.count > FIGURES_MOST || n->own.bytes > FIGURES_MOST ||
        !possible_ticks(scale, n->self))
      return 0;
  }
  return 1;
}


static int possible_loops (const Recording *r, Scale scale) {
  const Loops *l = &r->loops;
  uint32_t i, k;
  for (i = 0; i < l->list.count; i++) {
    const Loop *x = loops_at(l, i);
    if (x->frames > FIGURES_MOST || x->slow > x->frames ||
        !possible_ticks(scale, x->budget))
      return 0;
    for (k = 0; k < DURATIONS_SLOWEST; k++)
      if (!possible_slow(r, scale, &x->times.slowest[k])) return 0;
  }
  for (i = 0; i < l->marks.count; i++)
    if (!possible_mark(loops_mark(l, i), scale)) return 0;
  for (i = 0; i < l->worst.count; i++)
    if (!possible_worst(r, loops_worst(l, i), scale)) return 0;
  return 1;
}


static int possible_figures (const Recording *r, Scale scale) {
  const Figures *f = r->figures;
  const uint64_t figures[] = {
    f->waited, f->killed_waited, f->backwards, f->gc_steps, f->gc_cycles,
    f->alloc_samples, f->signals, f->interrupted, (uint64_t)f->live_peak,
    r->live, r->memory_interval, r->events, f->unmatched
  };
  size_t i;
  for (i = 0; i < sizeof figures / sizeof *figures; i++)
    if (figures[i] > FIGURES_MOST) return 0;
  return possible_ticks(scale, f->gc_longest) &&
         possible_ticks(scale, f->backwards_ticks) &&
         possible_ticks(scale, f->slices.length) &&
         f->preempted <= f->paused && f->divided <= GAP_WAITED &&
         (r->events == 0 || f->unmatched <= r->events) &&
         f->ticker <= TICKER_TASK;
}

/* }====================================================== */


const char *possible_not (const Recording *r, Scale scale) {
  Sums s = ZEROS;
  const char *what = sum_all(&s, r);
  uint64_t all = possible_whole(r, &s);
  if (what != NULL) return what;
  if (!possible_ticks(scale, all)) return "time";
  if (!possible_samples(r, &s, scale)) return "samples";
  if (!possible_calls(r, &s, scale, all)) return "calls in that time";
  if (!possible_durations(r, scale)) return "durations of calls";
  if (!possible_tasks(r, scale)) return "tasks";
  if (!possible_loops(r, scale)) return "frames";
  return possible_figures(r, scale) ? NULL : "figures of the whole";
}

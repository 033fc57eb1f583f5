/*
** See possible.h
*/

#include "profile/possible.h"

#include <string.h>


/* sums of all figures; none of them may exceed FIGURES_MOST */
typedef struct Sums {
  uint64_t calls, ticks, waited;	/* of nodes */
  uint64_t hits, lineticks;	/* of lines or instructions */
  uint64_t live;	/* absolute values of all figures of live blocks */
  Allocated allocated;
} Sums;


/* {======================================================
** Sums
** ======================================================= */

static int sum_add (uint64_t *sum, uint64_t n) {
  if (n > FIGURES_MOST - *sum) return 0;
  *sum += n;
  return 1;
}


/* Figures of live blocks may be negative; their absolute values count. */
static int sum_live (Sums *s, int64_t n) {
  return sum_add(&s->live, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}


static int sum_allocated (Sums *s, const Allocated *a) {
  return sum_add(&s->allocated.count, a->count) &&
         sum_add(&s->allocated.bytes, a->bytes);
}

/* }====================================================== */


/* {======================================================
** Nodes
** ======================================================= */

static int possible_nodes (const Tree *t, Sums *s) {
  uint32_t i;
  for (i = 0; i < t->nodes.count; i++)
    if (!sum_add(&s->calls, tree_node(t, i)->calls) ||
        !sum_add(&s->ticks, tree_node(t, i)->self))
      return 0;
  return 1;
}


static int possible_waits (const Waits *w, Sums *s) {
  uint64_t lines = 0;
  const Wait *x;
  uint32_t i;
  for (i = 1; (x = waits_at(w, i)) != NULL; i++)
    if (!sum_add(x->node == WAIT_LINE ? &lines : &s->waited, x->ticks))
      return 0;
  return 1;
}


static int possible_nodeallocated (const Tree *t, Sums *s) {
  uint32_t i;
  for (i = 0; i < t->nodes.count; i++) {
    const NodeAllocated *a = tree_allocated(t, i);
    if (!sum_allocated(s, &a->all) || !sum_live(s, a->live_count) ||
        !sum_live(s, a->live_bytes) || !sum_live(s, a->peak_bytes))
      return 0;
  }
  memset(&s->allocated, 0, sizeof s->allocated);
  return 1;
}


static int possible_kinds (const Tree *t, Sums *s) {
  uint32_t i;
  int k;
  for (i = 0; i < t->kinds.count; i++)
    for (k = 0; k < ALLOC_KINDS; k++)
      if (!sum_allocated(s, &tree_kinds(t, i)->kind[k])) return 0;
  memset(&s->allocated, 0, sizeof s->allocated);
  return 1;
}

/* }====================================================== */


/* {======================================================
** Lines and instructions
** ======================================================= */

static int possible_lines (const Lines *l, Sums *s) {
  uint32_t i;
  for (i = 0; l->list != NULL && i < l->count; i++)
    if (!sum_add(&s->hits, l->list[i].hits) ||
        !sum_add(&s->lineticks, l->list[i].self))
      return 0;
  return 1;
}


static int possible_lineallocated (const Lines *l, Sums *s) {
  uint32_t i;
  for (i = 0; l->list != NULL && l->memory && i < l->count; i++) {
    const LineAllocated *a = lines_allocated(l, i);
    if (!sum_live(s, a->live_bytes) || !sum_allocated(s, &a->all)) return 0;
  }
  return 1;
}


static int possible_instructions (const Instructions *x, Sums *s) {
  uint32_t i;
  for (i = 0; x->list != NULL && i < x->count; i++) {
    const Instruction *n = &x->list[i];
    if (!sum_add(&s->hits, n->count) || n->next[1] > FIGURES_MOST ||
        !sum_add(&s->lineticks, n->next[0]) ||
        !sum_add(&s->lineticks, n->next[2]))
      return 0;
  }
  return 1;
}


static int possible_atallocated (const Instructions *x, Sums *s) {
  uint32_t i;
  for (i = 0; x->list != NULL && x->memory && i < x->count; i++) {
    const InstructionAllocated *a = instructions_allocated(x, i);
    if (!sum_allocated(s, &a->before) || !sum_allocated(s, &a->other) ||
        !sum_live(s, a->live[0]) || !sum_live(s, a->live[1]))
      return 0;
  }
  return 1;
}


static const char *possible_functions (const Functions *fs, Sums *s) {
  uint32_t i;
  for (i = 0; i < fs->list.count; i++) {
    const Function *f = functions_at(fs, i);
    if (!possible_lines(&f->lines, s)) return "figures of a line";
    if (!possible_lineallocated(&f->lines, s))
      return "allocations of a line";
    if (!possible_instructions(&f->instructions, s))
      return "figures of an instruction";
    if (!possible_atallocated(&f->instructions, s))
      return "allocations of an instruction";
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
static uint64_t sum_ticks (const Recording *r, const Sums *s) {
  uint64_t all = s->ticks;
  if (r->mode == MODE_SAMPLE) {
    all = r->tree.overhead->self;
    if (!sum_add(&all, r->figures->sampled)) return FIGURES_MOST + 1;
  }
  return sum_add(&all, r->figures->paused) ? all : FIGURES_MOST + 1;
}


/*
** In mode sample, instructions get the same ns for a tick as running nodes
** do. Is the time of all instructions possible then?
*/
static int possible_samples (const Recording *r, const Sums *s,
                             Scale scale) {
  double all = (double)(s->ticks - r->tree.overhead->self) -
               (double)s->waited;
  return r->mode != MODE_SAMPLE || all == 0 ||
         (double)s->lineticks / all * (double)r->figures->sampled *
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
         (s->calls <= most && s->hits <= most);
}


static int possible_figures (const Recording *r, Scale scale) {
  const Figures *f = r->figures;
  return possible_ticks(scale, f->gc_longest) &&
         possible_ticks(scale, f->backwards_ticks) &&
         f->preempted <= f->paused && f->divided <= GAP_WAITED &&
         f->waited <= FIGURES_MOST &&
         f->unmatched <= (r->events != 0 ? r->events : FIGURES_MOST) &&
         f->backwards <= FIGURES_MOST &&
         f->gc_steps <= FIGURES_MOST && f->gc_cycles <= FIGURES_MOST &&
         f->alloc_samples <= FIGURES_MOST &&
         f->interrupted <= FIGURES_MOST &&
         f->live_peak >= 0 && f->live_peak <= FIGURES_MOST &&
         r->live <= FIGURES_MOST && r->memory_interval <= FIGURES_MOST &&
         r->events <= FIGURES_MOST;
}

/* }====================================================== */


const char *possible_not (const Recording *r, Scale scale) {
  const Tree *t = &r->tree;
  Sums s = ZEROS;
  const char *what;
  uint64_t all;
  if (!possible_nodes(t, &s)) return "figures of a node";
  if (!possible_waits(&r->waits, &s)) return "figures of a wait";
  if (t->memory && !possible_nodeallocated(t, &s))
    return "allocations of a node";
  if (t->memory && !possible_kinds(t, &s))
    return "allocations of a function";
  what = possible_functions(&r->functions, &s);
  if (what != NULL) return what;
  all = sum_ticks(r, &s);
  if (!possible_ticks(scale, all)) return "time";
  if (!possible_samples(r, &s, scale)) return "samples";
  if (!possible_calls(r, &s, scale, all)) return "calls in that time";
  return possible_figures(r, scale) ? NULL : "figures of the whole";
}

/*
** See snapshot.h
*/

#include "profile/snapshot.h"

#include <string.h>

#include "identity/label.h"


/* working data while a snapshot is taken */
typedef struct Work {
  Snapshot *s;
  const Recording *r;
  const Overhead *o;
  double *ps;		/* of each node: overhead in ps */
  uint32_t *owner;	/* of each node, see nodes_owner */
  uint32_t *zone;	/* of each function: is it a zone? */
  uint32_t collector;	/* the function that is the collector's zone; the
			   number of functions if none is */
  int64_t *self, *raw;	/* of each function, with the zones it opened */
  int64_t *lined;	/* the part of 'raw' in which lines may begin */
  double *lines;	/* of each function: ns of overhead on its lines */
  uint32_t *first;	/* of each function: index of its first ProfileLine */
} Work;


/* {======================================================
** Functions: numbered in the order in which nodes refer to them
** ======================================================= */

void snapshot_number (Snapshot *s, const Memory *m, const Recording *r) {
  uint32_t i;
  memset(s, 0, sizeof *s);
  s->func = memory_newzeroed(m, uint32_t, r->functions.list.count);
  for (i = 0; i < r->tree.nodes.count; i++) {
    uint32_t *number = &s->func[tree_whereis(&r->tree, i).func];
    if (*number == 0) *number = ++s->functions;
  }
}

/* }====================================================== */


int64_t snapshot_share (int64_t whole, double part, double all) {
  if (part >= all) return whole;
  if (all == (double)whole) return (int64_t)part;
  return (int64_t)((double)whole * (part / all));
}


Shares snapshot_shares (int64_t whole, double all) {
  Shares s = ZEROS;
  s.whole = whole;
  s.all = all;
  return s;
}


int64_t snapshot_next (Shares *s, double weight) {
  int64_t before = s->taken;
  s->upto += weight;
  s->taken = snapshot_share(s->whole, s->upto, s->all);
  return s->taken - before;
}


/* {======================================================
** Nodes
** ======================================================= */

static void node_fill (ProfileNode *p, uint32_t id, const Snapshot *s,
                       const Tree *t) {
  NodePlace place = tree_whereis(t, id);
  const Node *n = tree_node(t, id);
  p->parent = place.parent;
  p->func = s->func[place.func] - 1;
  p->call_line = place.call_line;
  p->ways = n->event <= LABEL_EVENTS ? 1u << n->event : 1;
  p->calls = (int64_t)n->calls;
  p->depth = 1;
  p->tails = t->saved ? n->as.saved.tails : 0;
  if (!t->fold) p->tails = n->as.full.tails;
  else if (n->as.folded.depth > 1) p->depth = n->as.folded.depth;
  if (p->tails > p->calls) p->tails = (uint32_t)p->calls;
}


/*
** A node that has changed since the peak has kept what it had then; one that
** has not changed still has it.
*/
static void node_allocated (NodeMemory *p, const NodeAllocated *a,
                            const Figures *f) {
  p->allocs = (int64_t)a->all.count;
  p->bytes = (int64_t)a->all.bytes;
  p->livecount = a->live_count;
  p->live = a->live_bytes;
  p->peak = a->peak == f->live_peaks ? a->peak_bytes : a->live_bytes;
}


/* weights of samples: those that found the program running, or waiting */
typedef struct Weights {
  double run, wait;
} Weights;


static void weights_add (Weights *to, const Node *n, int64_t waited) {
  double all = (double)n->self, wait = (double)waited;
  if (wait > all) wait = all;  /* a damaged file may say so */
  to->run += all - wait;
  to->wait += wait;
}


/* Sets 'wait' of each node to a weight. Returns the sum of all weights. */
static Weights samples_weigh (Snapshot *s, const Recording *r) {
  Weights all = ZEROS;
  Wait x;
  uint32_t i;
  for (i = 1; waits_at(&r->waits, i, &x); i++)
    if (x.node < s->nodes && x.node != NODE_OVERHEAD)
      s->node[x.node].wait += (int64_t)x.ticks;
  for (i = 0; i < s->nodes; i++)
    if (i != NODE_OVERHEAD)
      weights_add(&all, tree_node(&r->tree, i), s->node[i].wait);
  return all;
}


/*
** How much of 'ns' the program waited, as far as it can be charged to nodes: if
** none of the samples found the program waiting, it is not known where it
** waited. Without samples, the root waited.
*/
static int64_t samples_waited (const Snapshot *s, const Recording *r,
                               int64_t ns, const Weights *all) {
  int64_t waited = (int64_t)clock_ns(s->scale, r->figures->waited);
  if (all->wait == 0 && all->run > 0) return 0;
  return (all->run == 0 && all->wait > 0) || waited > ns ? ns : waited;
}


/*
** Sets the times of nodes in mode sample. The nodes share the sampled time
** by the weights of their samples: running time and waiting time separately.
** Without any samples, the root gets all. The time since the last sample,
** which only a recording read from a file has, goes to NODE_WAITING. Returns
** the sum in ticks, as 'nodes_times' does.
*/
static uint64_t samples_times (Snapshot *s, const Recording *r) {
  uint64_t ticks = r->figures->sampled, overhead = r->tree.overhead->self;
  int64_t all_ns = (int64_t)clock_ns(s->scale, ticks);
  int64_t whole = (int64_t)clock_ns(s->scale, ticks - r->waiting);
  Weights all = samples_weigh(s, r);
  int64_t waited = samples_waited(s, r, whole, &all);
  Shares waits = snapshot_shares(waited, all.wait), runs;
  uint32_t i;
  whole -= waited;
  runs = snapshot_shares(whole, all.run);
  s->weight = all.run > 0 ? (double)whole / all.run : 0;
  for (i = 0; i < s->nodes; i++) {
    ProfileNode *n = &s->node[i];
    Weights own = ZEROS;
    if (i != NODE_OVERHEAD)
      weights_add(&own, tree_node(&r->tree, i), n->wait);
    n->wait = snapshot_next(&waits, own.wait);
    n->self = n->raw = snapshot_next(&runs, own.run) + n->wait;
  }
  s->node[NODE_OVERHEAD].self = s->node[NODE_OVERHEAD].raw =
    (int64_t)clock_ns(s->scale, ticks + overhead) - all_ns;
  if (r->waiting > 0) {
    ProfileNode *n = &s->node[NODE_WAITING];
    n->self = n->raw = all_ns - whole - waited;
    n->wait = (int64_t)clock_ns(s->scale, r->waiting_waited);
    if (n->wait > n->self) n->wait = n->self;
  }
  return ticks + overhead;
}


/* In mode sample, nodes have counted samples, not calls, see NodesUnit. */
static void samples_fill (Snapshot *s) {
  uint32_t i;
  for (i = 0; i < s->nodes; i++) {
    s->node[i].raw = s->node[i].calls;
    s->node[i].calls = 0;
  }
}


/* Sets the times of nodes from their ticks. Returns the sum in ticks. */
static uint64_t nodes_times (Snapshot *s, const Tree *t) {
  uint64_t ticks = 0, ns = 0;
  uint32_t i;
  for (i = 0; i < s->nodes; i++) {
    uint64_t sum;
    ticks += tree_node(t, i)->self;
    sum = clock_ns(s->scale, ticks);
    s->node[i].self = s->node[i].raw = (int64_t)(sum - ns);
    ns = sum;
  }
  return ticks;
}


/* Sets 'wait' of nodes, which is at most all of their time. */
static void nodes_wait (Snapshot *s, const Recording *r) {
  Wait x;
  uint32_t i;
  for (i = 1; waits_at(&r->waits, i, &x); i++)
    if (x.node < s->nodes)
      s->node[x.node].wait += (int64_t)clock_ns(s->scale, x.ticks);
  for (i = 0; i < s->nodes; i++)
    if (s->node[i].wait > s->node[i].raw) s->node[i].wait = s->node[i].raw;
}


static void nodes_fill (Snapshot *s, const Recording *r) {
  uint64_t ticks, preempted;
  uint32_t i;
  for (i = 0; i < s->nodes; i++)
    node_fill(&s->node[i], i, s, &r->tree);
  for (i = 0; s->allocated != NULL && i < s->nodes; i++)
    node_allocated(&s->allocated[i], tree_allocated(&r->tree, i),
                   r->figures);
  ticks = r->mode == MODE_SAMPLE ? samples_times(s, r)
                                 : nodes_times(s, &r->tree);
  s->wall = (int64_t)clock_ns(s->scale, ticks + r->figures->paused);
  preempted = r->figures->preempted < r->figures->paused
            ? r->figures->preempted : r->figures->paused;
  s->preempted = (int64_t)clock_ns(s->scale, ticks + preempted) -
                 (int64_t)clock_ns(s->scale, ticks);
  s->paused = s->wall - (int64_t)clock_ns(s->scale, ticks + preempted);
  if (r->mode != MODE_SAMPLE) nodes_wait(s, r);
}


/* Sums up self times by function, with the zones that it opened. */
static void functions_sum (Work *w, int64_t *sum) {
  const Snapshot *s = w->s;
  uint32_t i;
  memset(sum, 0, s->functions * sizeof *sum);
  for (i = 0; i < s->nodes; i++)
    sum[s->node[w->owner[i]].func] += s->node[i].self;
}


static void functions_owners (Work *w) {
  const Snapshot *s = w->s;
  const Functions *fs = &w->r->functions;
  uint32_t name = text_find(&fs->text, FUNCTION_COLLECTOR,
                            sizeof FUNCTION_COLLECTOR - 1);
  uint32_t i;
  w->collector = s->functions;
  for (i = 0; i < fs->list.count; i++) {
    const Function *f = functions_at(fs, i);
    if (s->func[i] == 0 || f->kind != FUNCTION_ZONE) continue;
    w->zone[s->func[i] - 1] = 1;
    if (f->name == name) w->collector = s->func[i] - 1;
  }
  for (i = 0; i < s->nodes; i++)
    w->owner[i] = nodes_owner(s->node, w->zone, w->owner, i);
}

/* }====================================================== */


/* {======================================================
** Lines
** ======================================================= */

static int line_counted (const Lines *l, uint32_t index) {
  const Line *line = &l->list[index];
  const LineAllocated *a = lines_allocated(l, index);
  return line->hits != 0 || line->self != 0 ||
         (a != NULL && a->all.count != 0);
}


static uint32_t lines_count (const Recording *r) {
  uint32_t count = 0, i, k;
  for (i = 0; i < r->functions.list.count; i++) {
    const Lines *l = &functions_at(&r->functions, i)->lines;
    for (k = 0; l->list != NULL && k < l->count; k++)
      count += (uint32_t)line_counted(l, k);
  }
  return count;
}


/*
** The overhead on a line, in ns: taken from '*given' if the overhead is given
** for lines; else 0 if it is unknown; else computed from the costs.
*/
static double line_overhead (const Work *w, const Line *l, int64_t raw,
                             const int64_t *given) {
  if (w->o->lines != NULL)
    return given != NULL && *given <= raw ? (double)*given : 0;
  if (w->o->unknown != NULL) return 0;
  return compensate_line(&w->s->costs, l, (double)raw);
}


static void line_setallocated (ProfileLine *to, const LineAllocated *a) {
  if (a == NULL) return;
  to->allocs = (int64_t)a->all.count;
  to->bytes = (int64_t)a->all.bytes;
  to->live = a->live_bytes;
}


/*
** Adds the lines of function 'id'. They share its raw time by their ticks.
*/
static void lines_raw (Work *w, uint32_t id) {
  Snapshot *s = w->s;
  const Lines *l = &functions_at(&w->r->functions, id)->lines;
  uint32_t func = s->func[id] - 1, k;
  double all = 0;
  Shares raw;
  w->first[func] = s->lines;
  for (k = 0; k < l->count; k++) all += (double)l->list[k].self;
  raw = snapshot_shares(w->raw[func], all);
  for (k = 0; k < l->count; k++) {
    const Line *from = &l->list[k];
    ProfileLine *to = &s->line[s->lines];
    if (!line_counted(l, k) || s->lines == s->linecapacity) continue;
    to->func = func;
    to->line = l->first > 0 ? (uint32_t)l->first + k : (uint32_t)from->line;
    to->hits = (int64_t)from->hits;
    to->raw = snapshot_next(&raw, (double)from->self);
    line_setallocated(to, lines_allocated(l, k));
    s->lines++;
  }
}


/*
** Sets 'self' of the lines of function 'id' to their raw time less overhead,
** until 'lines_finish' sets it for good.
*/
static void lines_subtract (Work *w, uint32_t id) {
  const Lines *l = &functions_at(&w->r->functions, id)->lines;
  uint32_t func = w->s->func[id] - 1, k;
  ProfileLine *to = w->s->line + w->first[func];
  const int64_t *given = NULL;
  if (w->o->lines != NULL && id < w->o->lines->count)
    given = *(const int64_t **)chunks_at(w->o->lines, id);
  for (k = 0; k < l->count; k++) {
    if (!line_counted(l, k)) continue;
    to->self = to->raw - (int64_t)line_overhead(w, &l->list[k],
                                                to->raw - to->wait,
                                                given ? given + k : NULL);
    w->lines[func] += (double)(to->raw - to->self);
    to++;
  }
}


static void lines_each (Work *w, void (*f) (Work *w, uint32_t id)) {
  uint32_t i;
  for (i = 0; i < w->r->functions.list.count; i++)
    if (w->s->func[i] != 0 &&
        functions_at(&w->r->functions, i)->lines.list != NULL)
      f(w, i);
}


/*
** Finds a line of a function, whose lines are in order of their numbers.
** NULL: nothing was counted for it.
*/
static ProfileLine *lines_find (const Work *w, uint32_t func, int32_t line) {
  uint32_t low = w->first[func], high = w->s->lines;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    const ProfileLine *l = &w->s->line[mid];
    if (l->func == func && l->line < (uint32_t)line) low = mid + 1;
    else high = mid;
  }
  return low < w->s->lines && w->s->line[low].func == func &&
         w->s->line[low].line == (uint32_t)line ? &w->s->line[low] : NULL;
}


/* The function on whose line it waited; for a zone, the one that opened it. */
static uint32_t lines_waitfunc (const Work *w, const Wait *x) {
  if (x->node == WAIT_LINE) return w->s->func[x->func] - 1;
  return w->s->node[w->owner[x->node]].func;
}


static void lines_wait (const Work *w) {
  Wait x;
  uint32_t i;
  for (i = 1; waits_at(&w->r->waits, i, &x); i++) {
    ProfileLine *l = NULL;
    if (x.line > 0) l = lines_find(w, lines_waitfunc(w, &x), x.line);
    if (l == NULL) continue;
    l->wait += (int64_t)clock_ns(w->s->scale, x.ticks);
    if (l->wait > l->raw) l->wait = l->raw;
  }
}


static void lines_fill (Work *w) {
  lines_each(w, lines_raw);
  lines_wait(w);
  lines_each(w, lines_subtract);
}


/*
** Limits the waits of a function's lines, which may not exceed its time
** 'whole'. Returns the rest of that time.
*/
static int64_t lines_limitwaits (ProfileLine *from, const ProfileLine *to,
                                 int64_t whole) {
  ProfileLine *l;
  for (l = from; l < to; l++) {
    if (l->wait > whole) l->wait = whole;
    whole -= l->wait;
  }
  return whole;
}


/*
** Sets 'self' of a function's lines for good. Each keeps its wait; the rest
** of the function's time 'whole' is shared by what overhead has left of the
** lines' other time.
*/
static void lines_divide (ProfileLine *from, const ProfileLine *to,
                          int64_t whole) {
  double all = 0;
  ProfileLine *l;
  Shares rest;
  whole = lines_limitwaits(from, to, whole);
  for (l = from; l < to; l++) all += (double)(l->self - l->wait);
  rest = snapshot_shares(whole, all);
  for (l = from; l < to; l++)
    l->self = snapshot_next(&rest, (double)(l->self - l->wait)) + l->wait;
}


static void lines_finish (const Work *w) {
  ProfileLine *from = w->s->line, *to, *end;
  if (from == NULL) return;
  end = from + w->s->lines;
  for (; from < end; from = to) {
    for (to = from; to < end && to->func == from->func; to++) ;
    lines_divide(from, to, w->self[from->func]);
  }
}

/* }====================================================== */


/* {======================================================
** Overhead
** ======================================================= */

/*
** Adds the overhead of line events to nodes. It is known by function, whose
** nodes share it by their raw time. No line begins in a step of the collector.
*/
static void overhead_lines (Work *w) {
  const Snapshot *s = w->s;
  uint32_t i;
  memcpy(w->lined, w->raw, s->functions * sizeof *w->lined);
  for (i = 0; i < s->nodes; i++)
    if (s->node[i].func == w->collector)
      w->lined[s->node[w->owner[i]].func] -= s->node[i].raw;
  for (i = 0; i < s->nodes; i++) {
    uint32_t func = s->node[w->owner[i]].func;
    if (w->lined[func] > 0 && s->node[i].func != w->collector)
      w->ps[i] += w->lines[func] * COST_UNIT *
                  ((double)s->node[i].raw / (double)w->lined[func]);
  }
}


/*
** 'raw' less the overhead 'ps', and at least 0. Adds to '*clamped' the ns by
** which the overhead is larger.
*/
static int64_t overhead_subtract (int64_t raw, double ps, double *clamped) {
  double ns = ps / COST_UNIT;
  if (!(ns > 0)) return raw;
  if (ns < (double)raw && (int64_t)(ns + 0.5) <= raw)
    return raw - (int64_t)(ns + 0.5);
  *clamped += ns - (double)raw;
  return 0;
}


/*
** The cost of a switch is subtracted from the caller of the function that makes
** it, 'yield' or 'resume'. But most of that cost is a wait for the coroutine's
** data, during which the processor runs ahead, as far as into the next event:
** part of the wait is in the time of that function. What is more than the
** caller's time is subtracted there.
*/
static void overhead_switches (Work *w) {
  const Snapshot *s = w->s;
  uint32_t i;
  for (i = 1; i < s->nodes; i++) {
    const ProfileNode *by = &s->node[s->node[i].parent];
    double most = compensate_switches(w->r, &s->costs, i);
    double more = w->ps[by - s->node] -
                  (double)(by->raw - by->wait) * COST_UNIT;
    if (more > most) more = most;
    if (more <= 0) continue;
    w->ps[by - s->node] -= more;
    w->ps[i] += more;
  }
}


#define NS_MAX	9.2e18

static void overhead_bycosts (Work *w) {
  Snapshot *s = w->s;
  double clamped = 0;
  uint32_t i;
  compensate_nodes(w->r, &s->costs, w->ps);
  overhead_lines(w);
  overhead_switches(w);
  for (i = 0; i < s->nodes; i++)
    if (i != NODE_OVERHEAD)
      s->node[i].self = s->node[i].wait +
        overhead_subtract(s->node[i].raw - s->node[i].wait, w->ps[i], &clamped);
  s->clamped = clamped < NS_MAX ? (int64_t)clamped : INT64_MAX;
}


static void overhead_given (Work *w) {
  const Chunks *given = w->o->nodes;
  uint32_t i;
  for (i = 0; i < w->s->nodes && i < given->count; i++) {
    ProfileNode *p = &w->s->node[i];
    int64_t ns = *(const int64_t *)chunks_at(given, i);
    if (i != NODE_OVERHEAD && ns > 0)
      p->self = ns < p->raw ? p->raw - ns : 0;
  }
}


/* Takes the overhead out of nodes, and gives it to NODE_OVERHEAD. */
static void overhead_take (Work *w) {
  ProfileNode *list = w->s->node, *to = &list[NODE_OVERHEAD];
  uint32_t i;
  if (w->o->nodes != NULL) overhead_given(w);
  else overhead_bycosts(w);
  for (i = 0; i < w->s->nodes; i++)
    if (&list[i] != to) to->self += list[i].raw - list[i].self;
}

/* }====================================================== */


static void work_begin (Work *w, const Memory *m) {
  Snapshot *s = w->s;
  s->nodes = w->r->tree.nodes.count;
  s->linecapacity = lines_count(w->r);
  s->line = memory_newzeroed(m, ProfileLine, s->linecapacity);
  w->ps = memory_newzeroed(m, double, s->nodes);
  w->owner = memory_new(m, uint32_t, s->nodes);
  w->zone = memory_newzeroed(m, uint32_t, s->functions);
  w->self = memory_new(m, int64_t, s->functions);
  w->raw = memory_new(m, int64_t, s->functions);
  w->lined = memory_new(m, int64_t, s->functions);
  w->lines = memory_newzeroed(m, double, s->functions);
  w->first = memory_new(m, uint32_t, s->functions);
}


static void work_do (Work *w) {
  Snapshot *s = w->s;
  nodes_fill(s, w->r);
  functions_owners(w);
  functions_sum(w, w->raw);
  if (w->o->unknown == NULL && w->o->nodes == NULL)
    s->costs = compensate_costs(w->r, &w->o->costs, clock_rate(s->scale));
  else
    s->costs = w->o->costs;
  lines_fill(w);
  if (w->o->unknown == NULL || w->o->nodes != NULL) overhead_take(w);
  functions_sum(w, w->self);
  lines_finish(w);
  s->overhead = s->node[NODE_OVERHEAD].self;
  if (w->r->mode == MODE_SAMPLE) samples_fill(s);
  nodes_total(s->node, s->nodes);
}


void snapshot_take (Snapshot *s, const Memory *m, Recording *r,
                    const Overhead *o, ProfileNode *node,
                    NodeMemory *memory) {
  Work w = ZEROS;
  snapshot_number(s, m, r);
  s->scale = clock_scale(&r->clock, r->stopped);
  s->node = node;
  s->allocated = memory;
  w.s = s;
  w.r = r;
  w.o = o;
  work_begin(&w, m);
  work_do(&w);
}

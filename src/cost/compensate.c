/*
** See compensate.h
**
** Counts may come from a file, with any values, so sums are doubles.
*/

#include "cost/compensate.h"


/* With fewer timed events, the mean says nothing. */
#define EVENTS_LEAST	8


static int costs_known (const Timing *t, int kind) {
  return t[kind].events >= EVENTS_LEAST;
}


/*
** The mean time of events of a kind, in ps. It may be below 0: the time that
** reading the clock takes is subtracted, and varies.
*/
static double costs_mean (const Timing *t, int kind, double rate) {
  return (double)t[kind].ticks * rate * COST_UNIT / (double)t[kind].events;
}


/*
** How many times slower the processor was than when costs were measured. It
** is slower while another thread uses the same core.
*/
static double costs_slower (const Timing *t, const Costs *measured,
                            double rate) {
  double then = (double)measured->within[EVENT_WORK], mean;
  if (!costs_known(t, EVENT_WORK)) return 1;
  mean = costs_mean(t, EVENT_WORK, rate);
  return mean > 0 && then > 0 ? mean / then : 1;
}


/* How many ps longer events of a kind took than their cost says. */
static double costs_more (const Timing *t, const Costs *c, int kind,
                          double rate) {
  if (!costs_known(t, kind)) return 0;
  return costs_mean(t, kind, rate) - (double)c->within[kind];
}


/*
** While a switch waits for the data of a coroutine, the processor runs ahead,
** by some hundred instructions. A timed switch ends only when that wait does:
** its time is too long by up to this, in ps. It was found by programs of many
** coroutines, see spec/accuracy, on one processor.
*/
#define ENTER_AHEAD	40000.0

/* What of 'more', the result of 'costs_more' for EVENT_ENTER, is a cost. */
static double costs_waited (double more) {
  if (more <= 0) return more;
  return more > ENTER_AHEAD ? more - ENTER_AHEAD : 0;
}


static void costs_add (int64_t *cost, double ps) {
  *cost = cost_of((double)*cost + ps);
}


/* Multiplies all costs by a factor, but not 'least', which is not a cost. */
static Costs costs_scale (const Costs *measured, double factor) {
  Costs c = *measured;
  int64_t *cost = (int64_t *)&c, least = c.least;
  size_t i;
  for (i = 0; i < sizeof c / sizeof *cost; i++)
    cost[i] = cost_of((double)cost[i] * factor);
  c.least = least;
  return c;
}


/*
** Costs were measured in loops, whose branches the processor has learned and
** whose data are in its caches. In programs, events take longer.
*/
Costs compensate_costs (const Recording *r, const Costs *measured,
                        double rate) {
  const Timing *t = r->figures->timing;
  Costs c = costs_scale(measured, costs_slower(t, measured, rate));
  double more[EVENT_KINDS];
  int i;
  for (i = 0; i < EVENT_KINDS; i++)
    more[i] = costs_more(t, &c, i, rate);
  costs_add(&c.callee[COST_LUA], more[EVENT_LUA]);
  costs_add(&c.callee[COST_C], more[EVENT_C]);
  costs_add(&c.caller[COST_LUA], more[EVENT_RETURN]);
  costs_add(&c.caller[COST_C], more[EVENT_RETURN]);
  costs_add(&c.unreturned, more[EVENT_RETURN]);
  costs_add(&c.line, more[EVENT_LINE]);
  costs_add(&c.resume, more[EVENT_RESUME]);
  costs_add(&c.yielder, costs_waited(more[EVENT_ENTER]));
  costs_add(&c.resumer, more[EVENT_LEAVE]);
  return c;
}


/* {======================================================
** Calls
** ======================================================= */

/* The kind of a called function; COST_KINDS: no events lead to it. */
static int call_kind (const Function *f) {
  if (f->kind == FUNCTION_C) return COST_C;
  return f->kind == FUNCTION_LUA || f->kind == FUNCTION_MAIN ? COST_LUA
                                                             : COST_KINDS;
}


static int call_resumes (const Function *f) {
  return (f->marks & (FUNCTION_RESUME | FUNCTION_WRAP)) != 0;
}


static int call_makes (const Function *f) {
  return (f->marks & (FUNCTION_CREATE | FUNCTION_MAKEWRAP)) != 0;
}


/* where overhead is added up */
typedef struct CostSums {
  double *ps;		/* of each node; NULL: only 'all' is wanted */
  double all;
} CostSums;


static void costsums_add (CostSums *s, uint32_t id, double ps) {
  if (s->ps != NULL) s->ps[id] += ps;
  s->all += ps;
}


/* Adds what coroutines cost: to make, begin, resume and leave them. */
static void call_coroutines (const Recording *r, const Costs *c,
                             uint32_t id, double calls, CostSums *s) {
  const Functions *fs = &r->functions;
  NodePlace place = tree_whereis(&r->tree, id);
  const Function *f = functions_at(fs, place.func);
  uint32_t caller = tree_whereis(&r->tree, place.parent).func;
  if (call_resumes(functions_at(fs, caller))) {
    costsums_add(s, id, calls * (double)c->coroutine);
    costsums_add(s, place.parent, calls * (double)c->begin);
  }
  if (call_resumes(f)) {
    costsums_add(s, id, calls * (double)c->resume);
    costsums_add(s, place.parent, calls * (double)c->resumer);
  }
  else if (f->marks & FUNCTION_YIELD)
    costsums_add(s, place.parent, calls * (double)c->yielder);
  else if (call_makes(f))
    costsums_add(s, place.parent, calls * (double)c->made);
}


/* Adds the overhead of a node's calls, to it and to its caller. */
static void call_node (const Recording *r, const Costs *c, uint32_t id,
                       CostSums *s) {
  const Node *n = tree_node(&r->tree, id);
  NodePlace place = tree_whereis(&r->tree, id);
  int fold = r->tree.fold;
  int kind = call_kind(functions_at(&r->functions, place.func));
  double calls = (double)n->calls, tails = 0, unreturned = 0;
  uint32_t caller = place.parent;
  if (n->calls == 0 || kind == COST_KINDS) return;
  if (!fold) {
    tails = n->as.full.tails < calls ? n->as.full.tails : calls;
    unreturned = n->as.full.unreturned;
  }
  /* recursion re-entered the node, from where is unknown: charge it */
  if (fold ? n->as.folded.depth > 1 : n->as.full.entered) caller = id;
  costsums_add(s, id, calls * (double)c->callee[kind] +
                      tails * (double)c->tail);
  costsums_add(s, caller, (calls - tails) * (double)c->caller[kind] -
                          unreturned * (double)c->unreturned);
  call_coroutines(r, c, id, calls, s);
}


void compensate_nodes (const Recording *r, const Costs *c, double *ps) {
  CostSums s = ZEROS;
  uint32_t i;
  s.ps = ps;
  for (i = 0; i < r->tree.nodes.count; i++) ps[i] = 0;
  for (i = 1; i < r->tree.nodes.count; i++) call_node(r, c, i, &s);
}


double compensate_switches (const Recording *r, const Costs *c, uint32_t id) {
  NodePlace place = tree_whereis(&r->tree, id);
  const Function *f = functions_at(&r->functions, place.func);
  double calls = (double)tree_node(&r->tree, id)->calls;
  if (call_resumes(f)) return calls * (double)c->resumer;
  return f->marks & FUNCTION_YIELD ? calls * (double)c->yielder : 0;
}

/* }====================================================== */


/*
** How many instructions of a line ran. One of COUNT_INTERVAL is counted, so a
** few of them may look like many. But at each hit, a line runs no more
** instructions than it has.
*/
static double line_instructions (const Line *l) {
  double counted = (double)l->counts * COUNT_INTERVAL;
  double most = (double)l->hits * l->instructions;
  return counted > most && l->instructions < UINT8_MAX ? most : counted;
}


/* A line that ran keeps some time, even if the overhead exceeds it. */
double compensate_line (const Costs *c, const Line *l, double raw) {
  double hits = (double)l->hits, instructions = line_instructions(l);
  double ps = hits * ((double)c->line + l->steps * (double)c->step) +
              instructions * (double)c->instruction;
  double least = (instructions > hits ? instructions : hits) *
                 (double)c->least / COST_UNIT;
  double left = raw - ps / COST_UNIT;
  if (left < least) left = least;
  return left > raw ? 0 : raw - left;
}


/* The overhead in ps on all lines. 'rate' is ns in a tick. */
static double lines_sum (const Recording *r, const Costs *c, double rate) {
  const Functions *fs = &r->functions;
  double ns = 0;
  uint32_t i, k;
  for (i = 0; i < fs->list.count; i++) {
    const Lines *l = &functions_at(fs, i)->lines;
    for (k = 0; l->list != NULL && k < l->count; k++)
      if (l->list[k].hits > 0)
        ns += compensate_line(c, &l->list[k], (double)l->list[k].self * rate);
  }
  return ns * COST_UNIT;
}


double compensate_mean (const Recording *r, const Costs *measured,
                        double rate, uint64_t events) {
  Costs c = compensate_costs(r, measured, rate);
  CostSums s = ZEROS;
  uint32_t i;
  for (i = 1; i < r->tree.nodes.count; i++) call_node(r, &c, i, &s);
  s.all += lines_sum(r, &c, rate);
  return s.all > 0 && events > 0 ? s.all / COST_UNIT / (double)events : 0;
}

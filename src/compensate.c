/*
** See compensate.h
**
** Counts come from files, too, and may be anything: so sums are doubles,
** and only what is less than the time that was measured becomes integer.
*/

#include "compensate.h"

#include <string.h>


#define NS_MAX	9.2e18


/* {======================================================
** Costs
** ======================================================= */

/* fewer events say nothing */
#define FEW	8

/*
** An event that is timed waits for all that it has asked for, and nothing
** of the program runs meanwhile. Of what a call takes beyond the least,
** others hide a part: from none to two thirds, by the program; this is
** what they do not. It is fitted ('make accuracy').
*/
#define OPEN		0.8

/*
** How much more a toll is than 'known', in ps. The mean of some events is
** as far off as chance will have it: the nearer the difference is to the
** error of the mean, the less of it is believed (James and Stein).
*/
static double compensate_toll (const Toll *t, double rate, double known) {
  double n = (double)t->events, mean, error, more;
  if (t->events < FEW) return 0;
  mean = (double)t->ticks / n;
  error = ((double)t->squares / n - mean * mean) / (n - 1) * rate * rate;
  if (error < 0) error = 0;
  more = mean * rate - known;
  return more * more > error ? more - error / more : 0;
}


static void compensate_more (int64_t *cost, double more) {
  *cost = cost_of((double)*cost + more);
}


/*
** Costs were measured on code that does little else, so that all that it
** needs is at hand. What events of this program took within the hook
** beside these is added.
*/
Costs compensate_costs (const Recording *r, Scale scale) {
  double rate = clock_rate(scale) * COST_UNIT;
  const Toll *t = r->figures->tolls;
  Costs c = r->costs;
  double more[TOLLS];
  int i;
  for (i = 0; i < TOLLS; i++)
    more[i] = compensate_toll(&t[i], rate, (double)c.toll[i]);
  compensate_more(&c.callee[COST_LUA], more[TOLL_LUA] * OPEN);
  compensate_more(&c.callee[COST_C], more[TOLL_C] * OPEN);
  compensate_more(&c.caller[COST_LUA], more[TOLL_RETURN]);
  compensate_more(&c.caller[COST_C], more[TOLL_RETURN]);
  compensate_more(&c.unreturned, more[TOLL_RETURN]);
  compensate_more(&c.line, more[TOLL_LINE]);
  compensate_more(&c.state, more[TOLL_STATE] - more[TOLL_LUA]);
  if (c.state < 0) c.state = 0;
  return c;
}


/* as files have it, where 0 means that it is not known */
static uint32_t compensate_ps (double ps) {
  if (!(ps > 0)) return 0;
  return ps < 1 ? 1 : ps < UINT32_MAX ? (uint32_t)ps : UINT32_MAX;
}


/* the kind of function that is called; COST_KINDS: no events tell */
static int compensate_kindof (const Function *f) {
  if (f->kind < FUNCTION_MAIN || f->kind > FUNCTION_C) return COST_KINDS;
  return f->kind == FUNCTION_C ? COST_C : COST_LUA;
}


/* those of function 'i', if there are enough */
static const Toll *compensate_own (const Recording *r, uint32_t i) {
  const Toll *t;
  if (i >= r->tolls.count) return NULL;
  t = cast(const Toll *, chunks_at(&r->tolls, i));
  return t->events < FEW ? NULL : t;
}


/* a function has the same events; what is left is of those with few */
static void compensate_less (Toll *from, const Toll *t) {
  from->events -= t->events < from->events ? t->events : from->events;
  from->ticks -= t->ticks < from->ticks ? t->ticks : from->ticks;
  from->squares -= t->squares < from->squares ? t->squares : from->squares;
}


/*
** What a call costs in the function that is called: as far as it has been
** timed, in this one; else as in others that have not been either.
*/
static void compensate_functions (const Recording *r, Snapshot *s) {
  static const TollKind of[COST_KINDS] = {TOLL_LUA, TOLL_C};
  double rate = clock_rate(s->scale) * COST_UNIT, least[COST_KINDS];
  double toll[COST_KINDS];
  Toll rest[COST_KINDS];
  uint32_t i;
  int k;
  for (k = 0; k < COST_KINDS; k++) rest[k] = r->figures->tolls[of[k]];
  for (i = 0; i < r->functions.list.count; i++) {
    const Toll *t = compensate_own(r, i);
    k = compensate_kindof(functions_at(&r->functions, i));
    if (t != NULL && k < COST_KINDS) compensate_less(&rest[k], t);
  }
  for (k = 0; k < COST_KINDS; k++) {
    least[k] = toll[k] = (double)r->costs.toll[of[k]];
    toll[k] += compensate_toll(rest[k].events < FEW
                 ? &r->figures->tolls[of[k]] : &rest[k], rate, toll[k]);
  }
  for (i = 0; i < r->functions.list.count; i++) {
    const Function *f = functions_at(&r->functions, i);
    const Toll *t = compensate_own(r, i);
    double ps;
    k = compensate_kindof(f);
    if (s->func[i] == 0 || k == COST_KINDS) continue;
    ps = toll[k] - least[k];
    if (t != NULL) ps += compensate_toll(t, rate, toll[k]);
    ps = (double)r->costs.callee[k] + ps * OPEN;
    s->callcost[s->func[i] - 1] = f->cost != 0 ? f->cost : compensate_ps(ps);
  }
}

/* }====================================================== */


/* is it a function that resumes, so that what it calls is a coroutine? */
static int compensate_resumes (const Function *f) {
  return (f->marks & (FUNCTION_RESUME | FUNCTION_WRAP)) != 0;
}


/* the kind of function that led to node 'i', if it was called */
static int compensate_kind (const Recording *r, uint32_t i) {
  const Node *n = tree_node(&r->tree, i);
  return n->calls == 0 ? COST_KINDS
       : compensate_kindof(functions_at(&r->functions, n->func));
}


static void compensate_coroutines (const Recording *r, Snapshot *s,
                                   uint32_t i) {
  const Costs *c = &s->costs;
  const Node *n = tree_node(&r->tree, i);
  const Function *f = functions_at(&r->functions, n->func);
  const Function *by = functions_at(&r->functions,
                                    tree_node(&r->tree, n->parent)->func);
  double calls = (double)n->calls;
  if (compensate_resumes(by)) s->tax[i] += calls * (double)c->coroutine;
  if (compensate_resumes(f)) {
    s->tax[i] += calls * (double)c->resume;
    s->tax[n->parent] += calls * (double)c->resumer;
  }
  else if (f->marks & FUNCTION_YIELD)
    s->tax[n->parent] += calls * (double)c->yielder;
}


/* what calls of node 'i' have cost, in it and in its caller */
static void compensate_calls (const Recording *r, Snapshot *s, uint32_t i) {
  const Costs *c = &s->costs;
  const Node *n = tree_node(&r->tree, i);
  double calls = (double)n->calls, tails = s->list[i].tails;
  /* where it is not known who re-entered it, it is its own caller */
  uint32_t caller = r->options.fold && n->depth > 1 ? i : n->parent;
  int k = compensate_kind(r, i);
  if (k == COST_KINDS) return;
  if (tails > calls) tails = calls;
  s->tax[i] += calls * (double)s->callcost[s->list[i].func] +
               tails * (double)c->tail + (double)c->state;
  s->tax[caller] += (calls - tails) * (double)c->caller[k] -
                    s->list[i].unreturned * (double)c->unreturned;
  compensate_coroutines(r, s, i);
}


/*
** Of instructions only some were told of, so that few of them can seem to
** be many: a line runs no more each time than it has, for to come to it
** again is another time.
*/
static double compensate_instructions (const ProfileLine *l) {
  double instructions = (double)l->counts * INSTRUCTIONS;
  double most = (double)l->hits * l->code.instructions;
  if (instructions > most && l->code.instructions < UINT8_MAX) return most;
  return instructions;
}


/*
** What a line with little to do takes is less than what is not known of
** the costs, so that nothing may be left of it; but it did run.
*/
static double compensate_left (const Costs *c, const ProfileLine *l) {
  double hits = (double)l->hits, instructions = compensate_instructions(l);
  double tax = hits * ((double)c->line + l->code.steps * (double)c->step) +
               instructions * (double)c->instruction;
  double raw = (double)l->raw, left = raw - tax / COST_UNIT;
  double least = (instructions > hits ? instructions : hits) *
                 (double)c->least / COST_UNIT;
  if (left < least) left = least;
  return left < 0 ? 0 : left < raw ? left : raw;
}


/* lines are counted by function: its nodes share what they have cost */
static void compensate_lines (Snapshot *s, uint32_t nodes) {
  uint32_t i;
  memset(s->linetax, 0, s->functions * sizeof *s->linetax);
  for (i = 0; i < s->lines; i++) {
    ProfileLine *l = &s->line[i];
    l->left = compensate_left(&s->costs, l);
    s->linetax[l->func] += ((double)l->raw - l->left) * COST_UNIT;
  }
  for (i = 0; i < nodes; i++) {
    uint32_t func = s->list[s->owner[i]].func;
    if (s->own[func] > 0)
      s->tax[i] += s->linetax[func] *
                   ((double)s->list[i].raw / (double)s->own[func]);
  }
}


/* 0 where it costs more than it took; 'clamped' is that */
static int64_t compensate_self (double *clamped, int64_t raw, double tax) {
  double ns = tax / COST_UNIT;
  if (!(ns > 0)) return raw;
  if (ns < (double)raw && (int64_t)(ns + 0.5) <= raw)
    return raw - (int64_t)(ns + 0.5);
  *clamped += ns - (double)raw;
  return 0;
}


void compensate (const Recording *r, Snapshot *s, uint32_t nodes) {
  uint32_t own = r->tree.cprof->id, i;
  double clamped = 0;
  for (i = 0; i < nodes; i++) s->tax[i] = 0;
  compensate_functions(r, s);
  for (i = 1; i < nodes; i++) compensate_calls(r, s, i);
  if (r->options.lines) compensate_lines(s, nodes);
  for (i = 0; i < nodes; i++) {
    ProfileNode *p = &s->list[i];
    if (i == own) continue;
    p->self = compensate_self(&clamped, p->raw, s->tax[i]);
    s->list[own].self += p->raw - p->self;
  }
  s->clamped = clamped < NS_MAX ? (int64_t)clamped : INT64_MAX;
}

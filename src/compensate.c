/*
** See compensate.h
**
** Counts come from files, too, and may be anything: so sums are doubles,
** and only what is less than the time that was measured becomes integer.
*/

#include "compensate.h"


#define NS_MAX	9.2e18


/* is it a function that resumes, so that what it calls is a coroutine? */
static int compensate_resumes (const Function *f) {
  return (f->marks & (FUNCTION_RESUME | FUNCTION_WRAP)) != 0;
}


/* the kind of function that node 'i' calls; COST_KINDS: no events tell */
static int compensate_kind (const Recording *r, uint32_t i) {
  const Node *n = tree_node(&r->tree, i);
  const Function *f = functions_at(&r->functions, n->func);
  if (n->calls == 0 || f->kind < FUNCTION_MAIN || f->kind > FUNCTION_C)
    return COST_KINDS;
  return f->kind == FUNCTION_C ? COST_C : COST_LUA;
}


static void compensate_coroutines (const Recording *r, Snapshot *s,
                                   uint32_t i) {
  const Costs *c = &r->costs;
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
  const Costs *c = &r->costs;
  const Node *n = tree_node(&r->tree, i);
  double calls = (double)n->calls, tails = s->list[i].tails;
  /* where it is not known who re-entered it, it is its own caller */
  uint32_t caller = r->options.fold && n->depth > 1 ? i : n->parent;
  int k = compensate_kind(r, i), mixed = s->calls[n->parent] == 3;
  if (k == COST_KINDS) return;
  if (tails > calls) tails = calls;
  s->tax[i] += calls * (double)(mixed ? c->mixed[k] : c->callee[k]) +
               tails * (double)c->tail + (double)c->state;
  s->tax[caller] += (calls - tails) * (double)c->caller[k];
  compensate_coroutines(r, s, i);
}


/* hits of lines are known by function: its nodes share their cost */
static void compensate_lines (const Recording *r, Snapshot *s,
                              uint32_t nodes) {
  uint32_t i, k;
  for (i = 0; i < r->functions.list.count; i++) {
    const Lines *l = &functions_at(&r->functions, i)->lines;
    double hits = 0;
    if (s->func[i] == 0) continue;
    for (k = 0; l->list != NULL && k < l->count; k++)
      hits += (double)l->list[k].hits;
    s->linetax[s->func[i] - 1] = hits * (double)r->costs.line;
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
  for (i = 0; i < nodes; i++) s->tax[i] = s->calls[i] = 0;
  for (i = 1; i < nodes; i++) {
    int k = compensate_kind(r, i);
    if (k < COST_KINDS) s->calls[s->list[i].parent] |= (uint8_t)(1 << k);
  }
  for (i = 1; i < nodes; i++) compensate_calls(r, s, i);
  if (r->options.lines) compensate_lines(r, s, nodes);
  for (i = 0; i < nodes; i++) {
    ProfileNode *p = &s->list[i];
    if (i == own) continue;
    p->self = compensate_self(&clamped, p->raw, s->tax[i]);
    s->list[own].self += p->raw - p->self;
  }
  s->clamped = clamped < NS_MAX ? (int64_t)clamped : INT64_MAX;
}

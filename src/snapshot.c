/*
** See snapshot.h
*/

#include "snapshot.h"

#include <string.h>


/* is the profiler's own node left out? it is when it took no time */
static int snapshot_skips (const Recording *r) {
  return r->tree.cprof->self == 0;
}


uint32_t snapshot_count (const Recording *r) {
  return r->tree.nodes.count - (uint32_t)snapshot_skips(r);
}


/* functions are numbered in the order in which nodes name them */
static uint32_t snapshot_func (Snapshot *s, uint32_t func) {
  if (s->func[func] == 0) s->func[func] = ++s->functions;
  return s->func[func] - 1;
}


void snapshot_fill (Recording *r, Snapshot *s) {
  Scale scale = clock_scale(&r->clock, r->state == STATE_STOPPED);
  int skips = snapshot_skips(r);
  uint32_t i, out = 0, own = r->tree.cprof->id;
  uint64_t ticks = 0, ns = 0;
  memset(s->func, 0, r->functions.list.count * sizeof *s->func);
  s->functions = 0;
  for (i = 0; i < r->tree.nodes.count; i++) {
    const Node *n = tree_node(&r->tree, i);
    ProfileNode *p = &s->list[out];
    uint64_t sum;
    if (skips && i == own) continue;
    ticks += n->self;
    sum = clock_ns(scale, ticks);
    p->parent = n->parent - (skips && n->parent > own);
    p->func = snapshot_func(s, n->func);
    p->call_line = n->call_line;
    p->depth = n->depth > 1 ? n->depth : 1;
    p->calls = (int64_t)n->calls;
    p->self = (int64_t)(sum - ns);
    ns = sum;
    out++;
  }
  nodes_total(s->list, out);
  s->wall = (int64_t)clock_ns(scale, ticks + r->paused);
  s->paused = s->wall - (int64_t)ns;
}

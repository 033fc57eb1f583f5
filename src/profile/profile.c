/*
** See profile.h
*/

#include "profile/profile.h"

#include <string.h>


void nodes_total (ProfileNode *list, uint32_t count) {
  uint32_t i;
  for (i = 0; i < count; i++) {
    list[i].total = list[i].self;
    list[i].rawtotal = list[i].raw;
    list[i].waittotal = list[i].wait;
  }
  for (i = count; i-- > 1; ) {
    ProfileNode *parent = &list[list[i].parent];
    parent->total += list[i].total;
    parent->rawtotal += list[i].rawtotal;
    parent->waittotal += list[i].waittotal;
  }
}


static uint64_t figure_size (int64_t n) {
  return n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
}


uint64_t nodes_largest (const Nodes *nodes) {
  enum {CALLS, SELF, RAW, ALLOCS, BYTES, BLOCKS, LIVE, PEAK, FIGURES};
  uint64_t sum[FIGURES] = {0}, largest = 0;
  uint32_t i;
  for (i = 0; i < nodes->count; i++) {
    const NodeMemory *m = nodes->memory ? &nodes->memory[i] : NULL;
    sum[CALLS] += figure_size(nodes->list[i].calls);
    sum[SELF] += figure_size(nodes->list[i].self);
    sum[RAW] += figure_size(nodes->list[i].raw);
    if (m == NULL) continue;
    sum[ALLOCS] += figure_size(m->allocs);
    sum[BYTES] += figure_size(m->bytes);
    sum[BLOCKS] += figure_size(m->livecount);
    sum[LIVE] += figure_size(m->live);
    sum[PEAK] += figure_size(m->peak);
  }
  for (i = 0; i < FIGURES; i++)
    if (sum[i] > largest) largest = sum[i];
  return largest;
}


void nodes_allocated (NodeMemory *to, const NodeMemory *from) {
  to->allocs += from->allocs;
  to->bytes += from->bytes;
  to->livecount += from->livecount;
  to->live += from->live;
  to->peak += from->peak;
}


static int64_t node_measure (const NodeMemory *n, Measure m) {
  if (n == NULL) return 0;
  switch (m) {
    case MEASURE_ALLOCS: return n->allocs;
    case MEASURE_BYTES: return n->bytes;
    case MEASURE_LIVE: return n->live;
    case MEASURE_BLOCKS: return n->livecount;
    default: return n->peak;
  }
}


static void node_setmeasure (ProfileNode *n, const NodeMemory *memory,
                             Measure m, NodesUnit unit) {
  if (m == MEASURE_CPU) {
    n->self -= n->wait;
    n->raw = unit == NODES_SAMPLES ? n->self : n->raw - n->wait;
  }
  else if (m == MEASURE_WAIT) n->self = n->raw = n->wait;
  else n->self = n->raw = node_measure(memory, m);
  n->wait = 0;
}


void nodes_measure (const Nodes *nodes, Measure m, ProfileNode *list) {
  uint32_t i;
  memcpy(list, nodes->list, nodes->count * sizeof *list);
  for (i = 0; i < nodes->count; i++)
    node_setmeasure(&list[i], nodes->memory ? &nodes->memory[i] : NULL, m,
                    nodes->unit);
  nodes_total(list, nodes->count);
}


void nodes_steps (const Nodes *nodes, NodeStep *step) {
  uint32_t i;
  memset(step, 0, nodes->count * sizeof *step);
  for (i = nodes->count; i-- > 1; ) {
    NodeStep *parent = &step[nodes->list[i].parent];
    step[i].sibling = parent->child;
    parent->child = i;
  }
}


void preorder_begin (Preorder *p, const Nodes *nodes, const NodeStep *step) {
  p->nodes = nodes;
  p->step = step;
  p->node = p->depth = 0;
}


int preorder_next (Preorder *p) {
  if (p->step[p->node].child != 0) {
    p->node = p->step[p->node].child;
    p->depth++;
    return 1;
  }
  while (p->node != 0 && p->step[p->node].sibling == 0) {
    p->node = p->nodes->list[p->node].parent;
    p->depth--;
  }
  if (p->node == 0) return 0;
  p->node = p->step[p->node].sibling;
  return 1;
}


uint32_t *nodes_levels (const Nodes *nodes, const Memory *m,
                        const uint32_t *group, uint32_t groups) {
  uint32_t *level = memory_new(m, uint32_t, nodes->count);
  uint32_t *path = memory_new(m, uint32_t, nodes->count);  /* nodes above */
  uint32_t *depth = memory_newzeroed(m, uint32_t, groups);  /* in 'path' */
  NodeStep *step = memory_new(m, NodeStep, nodes->count);
  uint32_t above = 0;
  Preorder p;
  nodes_steps(nodes, step);
  preorder_begin(&p, nodes, step);
  do {
    while (above > p.depth) depth[group[path[--above]]]--;
    level[p.node] = depth[group[p.node]]++;
    path[above++] = p.node;
  } while (preorder_next(&p));
  return level;
}

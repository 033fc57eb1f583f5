/*
** See ranging.h
*/

#include "profile/ranging.h"

#include <string.h>

#include "profile/snapshot.h"


static void part_add (RangePart *to, const RangePart *from) {
  to->run += from->run;
  to->wait += from->wait;
  to->samples += from->samples;
}


/*
** For each node, the function whose instructions its places are about: the
** nearest one, at the node or above, that has counters of instructions, as
** 'counts' tells.
*/
static uint32_t *range_owners (const Ranging *g, const uint8_t *counts) {
  const ProfileNode *list = g->nodes->list;
  uint32_t *counted = memory_new(g->memory, uint32_t, g->nodes->count);
  uint32_t *owner = memory_new(g->memory, uint32_t, g->nodes->count);
  uint32_t i;
  counted[0] = 0;  /* the nearest node with counters; 0: none */
  owner[0] = list[0].func;
  for (i = 1; i < g->nodes->count; i++) {
    counted[i] = counts[list[i].func] ? i : counted[list[i].parent];
    owner[i] = list[counted[i] > 0 ? counted[i] : i].func;
  }
  return owner;
}


void ranging_sum (Ranging *g, const uint8_t *counts, size_t functions,
                  double from, double to) {
  const AxisData *d = g->axis;
  const uint32_t *owner = range_owners(g, counts);
  uint32_t i;
  g->part = memory_newzeroed(g->memory, RangePart, (size_t)d->places + 1);
  g->of = memory_newzeroed(g->memory, RangePart, g->nodes->count);
  g->first = memory_newzeroed(g->memory, uint32_t, functions);
  g->next = memory_newzeroed(g->memory, uint32_t, (size_t)d->places + 1);
  range_add(d, from, to, g->part);
  for (i = 1; i < d->places; i++) {
    uint32_t *first;
    if (axis_isline(&d->place[i])) continue;
    first = &g->first[owner[d->place[i].node]];
    g->next[i] = *first;
    *first = i;
    part_add(&g->of[d->place[i].node], &g->part[i]);
    part_add(&g->all, &g->part[i]);
  }
}


/* {======================================================
** Exact modes: how much of a range is overhead. It is in proportion to events.
** Where a function has lines, the events are their hits, and the function has
** the overhead of its lines. Elsewhere, the events are the calls of a node, and
** those that it makes.
** ======================================================= */

/* The line of a function; NULL: it is not in the list. */
static ProfileLine *exact_line (const Ranging *g, const AxisPlace *p) {
  uint32_t line = p->at & ~AXIS_LINE;
  size_t low = 0, high = g->lines;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    const ProfileLine *l = &g->line[mid];
    if (l->func < p->node || (l->func == p->node && l->line < line))
      low = mid + 1;
    else high = mid;
  }
  return low < g->lines && g->line[low].func == p->node &&
         g->line[low].line == line ? &g->line[low] : NULL;
}


/*
** Replaces the figures of lines by those of the range. Returns by function: the
** part of the overhead of its lines that is in the range; negative: they have
** none.
*/
static double *exact_lines (Ranging *g, size_t functions) {
  const AxisData *d = g->axis;
  double *part = memory_newzeroed(g->memory, double, functions);
  double *whole = memory_newzeroed(g->memory, double, functions);
  RangePart *of = memory_newzeroed(g->memory, RangePart, g->lines + 1);
  size_t i;
  uint32_t k;
  for (k = 1; k < d->places; k++) {
    ProfileLine *l = axis_isline(&d->place[k]) ? exact_line(g, &d->place[k])
                                               : NULL;
    if (l != NULL) part_add(&of[l - g->line], &g->part[k]);
  }
  for (i = 0; i < g->lines; i++) {
    ProfileLine *l = &g->line[i];
    double own = (double)(l->raw - l->self), its;
    its = l->hits > 0 ? own * ((double)of[i].samples / (double)l->hits) : 0;
    if (its > of[i].run) its = of[i].run;
    whole[l->func] += own;
    part[l->func] += its;
    l->hits = of[i].samples;
    l->wait = (int64_t)(of[i].wait + 0.5);
    l->raw = (int64_t)(of[i].run + 0.5) + l->wait;
    l->self = l->raw - (int64_t)its;
  }
  for (i = 0; i < functions; i++)
    part[i] = whole[i] > 0 ? part[i] / whole[i] : -1;
  return part;
}


/* Calls of each node, and those that it makes, in the range and in all. */
typedef struct ExactEvents {
  double part, all;
} ExactEvents;


static ExactEvents *exact_events (const Ranging *g) {
  const Nodes *nodes = g->nodes;
  ExactEvents *e = memory_newzeroed(g->memory, ExactEvents, nodes->count);
  uint32_t i;
  for (i = 1; i < nodes->count; i++) {
    ExactEvents *caller = &e[nodes->list[i].parent];
    double part = (double)g->of[i].samples;
    double all = (double)nodes->list[i].calls;
    e[i].part += part;
    e[i].all += all;
    caller->part += part;
    caller->all += all;
  }
  return e;
}


void ranging_overhead (Ranging *g, size_t functions) {
  const ProfileNode *list = g->nodes->list;
  double *lines = exact_lines(g, functions);
  double *run = memory_newzeroed(g->memory, double, functions);
  double *all = memory_newzeroed(g->memory, double, functions);
  ExactEvents *e = exact_events(g);
  uint32_t i;
  g->own = memory_newzeroed(g->memory, double, g->nodes->count);
  for (i = 0; i < g->nodes->count; i++) {
    run[list[i].func] += g->of[i].run;
    all[list[i].func] += (double)(list[i].raw - list[i].self);
  }
  for (i = 0; i < g->nodes->count; i++) {
    double *its = &g->of[i].run, own = (double)(list[i].raw - list[i].self);
    uint32_t func = list[i].func;
    if (i == NODE_OVERHEAD) own = *its;
    else if (lines[func] >= 0)
      own = run[func] > 0 ? all[func] * lines[func] * (*its / run[func]) : 0;
    else own = e[i].all > 0 ? own * (e[i].part / e[i].all) : 0;
    if (own > *its) own = *its;
    g->own[i] = own;
    g->own[NODE_OVERHEAD] += i != NODE_OVERHEAD ? own : 0;
    *its -= own;
  }
  /* summed in the order of 'ranging_tree', so rounding is equal, too */
  memset(&g->all, 0, sizeof g->all);
  for (i = 0; i < g->nodes->count; i++) part_add(&g->all, &g->of[i]);
}

/*
** Limits the times of all lines together to those of all nodes. They could
** exceed these, as the overhead of lines is estimated apart from that of nodes,
** and as each line is rounded, but only the sum of nodes.
*/
static void exact_limit (Ranging *g) {
  double run = 0, wait = 0;
  size_t i;
  for (i = 0; i < g->lines; i++) {
    run += (double)(g->line[i].self - g->line[i].wait);
    wait += (double)g->line[i].wait;
  }
  for (i = 0; i < g->lines; i++) {
    ProfileLine *l = &g->line[i];
    int64_t ran = l->self - l->wait;
    if (run > (double)g->run) ran = snapshot_share(g->run, (double)ran, run);
    if (wait > (double)g->wait)
      l->wait = snapshot_share(g->wait, (double)l->wait, wait);
    l->self = ran + l->wait;
  }
}

/* }====================================================== */


void ranging_divide (Ranging *g, int64_t ns) {
  const ProfileNode *list = g->nodes->list;
  double share = 0, both = g->all.run + g->all.wait;
  g->paused = snapshot_share(ns, g->part[AXIS_NOWHERE].run, (double)ns);
  ns -= g->paused;
  g->preempted = snapshot_share(ns, g->part[AXIS_NOWHERE].wait, (double)ns);
  ns -= g->preempted;
  if (list[0].total > 0)
    share = (double)list[NODE_OVERHEAD].self / (double)list[0].total;
  if (g->own != NULL)
    share = ns > 0 ? g->own[NODE_OVERHEAD] / (double)ns : 0;
  g->overhead = snapshot_share(ns, share, 1);
  ns -= g->overhead;
  g->wait = both > 0 ? snapshot_share(ns, g->all.wait, both) : 0;
  g->run = ns - g->wait;
  exact_limit(g);
}


void ranging_tree (Ranging *g, Merge *m) {
  const Nodes *nodes = g->nodes;
  uint32_t *kept = memory_new(g->memory, uint32_t, nodes->count), *to, i;
  Shares runs = snapshot_shares(g->run, g->all.run);
  Shares waits = snapshot_shares(g->wait, g->all.wait);
  int64_t own = 0;
  for (i = 0; i < nodes->count; i++)
    kept[i] = g->of[i].samples > 0 || g->of[i].run > 0 || g->of[i].wait > 0;
  g->to = to = merge_needed(m, nodes, kept);
  for (i = 0; i < nodes->count; i++) {
    int64_t wait, self;
    ProfileNode *n;
    if (to[i] == 0) continue;
    wait = snapshot_next(&waits, g->of[i].wait);
    self = snapshot_next(&runs, g->of[i].run) + wait;
    n = merge_node(m, to[i]);
    if (g->own != NULL) {
      n->calls += g->of[i].samples;
      n->raw += self + (int64_t)(g->own[i] + 0.5);
      if (i != NODE_OVERHEAD) own += (int64_t)(g->own[i] + 0.5);
    }
    else n->raw += g->of[i].samples;
    n->wait += wait;
    n->self += self;
  }
  merge_node(m, to[NODE_OVERHEAD])->self = g->overhead;
  if (g->own != NULL)  /* without what is in 'raw' of the other nodes */
    merge_node(m, to[NODE_OVERHEAD])->raw = g->overhead > own
                                          ? g->overhead - own : 0;
}


/* ns of an instruction, see Instruction */
typedef struct RangeTimes {
  double before, within;
} RangeTimes;


Instruction *ranging_counters (const Ranging *g, uint32_t func,
                               const char *from, size_t count) {
  double scale = g->all.run > 0 ? (double)g->run / g->all.run : 0, sum = 0;
  Instruction *list = memory_newzeroed(g->memory, Instruction, count + 1);
  RangeTimes *times = memory_newzeroed(g->memory, RangeTimes, count + 1);
  uint64_t ns = 0;
  size_t i;
  uint32_t k;
  for (i = 0; i < count; i++) {
    Instruction was;
    memcpy(&was, from + i * sizeof was, sizeof was);
    list[i].code = was.code;
    list[i].line = was.line;
  }
  for (k = g->first[func]; k != 0; k = g->next[k]) {
    const AxisPlace *p = &g->axis->place[k];
    const RangePart *part = &g->part[k];
    size_t at = (p->at - 1) / 2;
    if (p->at == 0 || at >= count) continue;
    if (p->at % 2 == 0) {
      list[at].count += (uint64_t)part->samples;
      times[at].before += part->run;
    }
    else {
      list[at].next[1] += (uint64_t)part->samples;
      times[at].within += part->run;
    }
  }
  for (i = 0; i < count; i++) {
    sum += times[i].before * scale;
    list[i].next[0] = (uint64_t)(sum + 0.5) - ns;
    ns += list[i].next[0];
    sum += times[i].within * scale;
    list[i].next[2] = (uint64_t)(sum + 0.5) - ns;
    ns += list[i].next[2];
  }
  return list;
}

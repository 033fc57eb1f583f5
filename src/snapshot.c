/*
** See snapshot.h
*/

#include "snapshot.h"

#include <string.h>

#include "compensate.h"


int snapshot_skips (const Recording *r) {
  return r->tree.cprof->self == 0 && r->uncompensated != NULL;
}


uint32_t snapshot_count (const Recording *r) {
  return r->tree.nodes.count - (uint32_t)snapshot_skips(r);
}


static int line_counted (const Line *l) {
  return l->hits != 0 || l->self != 0;
}


uint32_t snapshot_lines (const Recording *r) {
  uint32_t count = 0, i, k;
  for (i = 0; i < r->functions.list.count; i++) {
    const Lines *l = &functions_at(&r->functions, i)->lines;
    for (k = 0; l->list != NULL && k < l->count; k++)
      count += (uint32_t)line_counted(&l->list[k]);
  }
  return count;
}


/* the running sum is rounded: so shares are not negative and add up */
static int64_t snapshot_share (int64_t whole, double part, double all) {
  return part >= all ? whole : (int64_t)((double)whole * (part / all));
}


/* a line's share of the time as recorded is its share of the ticks */
static ProfileLine *snapshot_rawlines (const Lines *l, uint32_t func,
                                       int64_t whole, ProfileLine *out) {
  uint64_t all = 0, ticks = 0;
  int64_t ns = 0, sum;
  uint32_t k;
  for (k = 0; k < l->count; k++) all += l->list[k].self;
  for (k = 0; k < l->count; k++) {
    if (!line_counted(&l->list[k])) continue;
    ticks += l->list[k].self;
    sum = all == (uint64_t)whole ? (int64_t)ticks  /* they are ns */
        : snapshot_share(whole, (double)ticks, (double)all);
    out->func = func;
    out->line = (uint32_t)l->list[k].line;
    out->hits = (int64_t)l->list[k].hits;
    out->raw = sum - ns;
    out->left = (double)out->raw;
    out->counts = l->list[k].counts;
    out->code = line_code(&l->list[k]);
    ns = sum;
    out++;
  }
  return out;
}


static void snapshot_alllines (const Recording *r, Snapshot *s) {
  ProfileLine *line = s->line;
  uint32_t i;
  for (i = 0; i < r->functions.list.count; i++) {
    const Lines *l = &functions_at(&r->functions, i)->lines;
    uint32_t func = s->func[i] - 1;
    if (l->list == NULL || s->func[i] == 0) continue;
    line = snapshot_rawlines(l, func, s->ownraw[func], line);
  }
  s->lines = (uint32_t)(line - s->line);
}


/* the lines of a function share its time by what is left of theirs */
static void snapshot_function (ProfileLine *from, const ProfileLine *to,
                               int64_t own) {
  ProfileLine *l;
  double all = 0, sum = 0;
  int64_t ns = 0, upto;
  for (l = from; l < to; l++) all += l->left;
  for (l = from; l < to; l++) {
    sum += l->left;
    upto = l == to - 1 ? own : snapshot_share(own, sum, all);
    l->self = upto - ns;
    ns = upto;
  }
}


static void snapshot_lineshares (Snapshot *s) {
  ProfileLine *from = s->line, *to, *end = from + s->lines;
  for (; from < end; from = to) {
    for (to = from; to < end && to->func == from->func; to++) ;
    snapshot_function(from, to, s->own[from->func]);
  }
}


/* what functions took, with the zones that they have opened */
static void snapshot_own (const Recording *r, Snapshot *s, uint32_t nodes) {
  uint32_t count = r->functions.list.count, i;
  for (i = 0; i < count; i++) {
    uint32_t func = s->func[i];
    if (func == 0) continue;
    s->zone[func - 1] = functions_at(&r->functions, i)->kind == FUNCTION_ZONE;
    s->own[func - 1] = 0;
  }
  for (i = 0; i < nodes; i++) {
    s->owner[i] = nodes_owner(s->list, s->zone, s->owner, i);
    s->own[s->list[s->owner[i]].func] += s->list[i].self;
  }
}


/* functions are numbered in the order in which nodes name them */
static uint32_t snapshot_func (Snapshot *s, uint32_t func) {
  if (s->func[func] == 0) s->func[func] = ++s->functions;
  return s->func[func] - 1;
}


void snapshot_number (const Recording *r, Snapshot *s) {
  uint32_t i, own = r->tree.cprof->id;
  int skips = snapshot_skips(r);
  memset(s->func, 0, r->functions.list.count * sizeof *s->func);
  s->functions = 0;
  for (i = 0; i < r->tree.nodes.count; i++)
    if (!skips || i != own) snapshot_func(s, tree_node(&r->tree, i)->func);
}


void snapshot_fill (Recording *r, Snapshot *s) {
  Scale scale = clock_scale(&r->clock, r->state == STATE_STOPPED);
  int skips = snapshot_skips(r);
  uint32_t i, out = 0, own = r->tree.cprof->id;
  uint64_t ticks = 0, ns = 0;
  s->scale = scale;
  snapshot_number(r, s);
  for (i = 0; i < r->tree.nodes.count; i++) {
    const Node *n = tree_node(&r->tree, i);
    ProfileNode *p = &s->list[out];
    uint64_t sum;
    if (skips && i == own) continue;
    ticks += n->self;
    sum = clock_ns(scale, ticks);
    p->parent = n->parent - (skips && n->parent > own);
    p->func = s->func[n->func] - 1;
    p->call_line = n->call_line;
    p->depth = r->options.fold && n->depth > 1 ? n->depth : 1;
    p->tails = r->options.fold ? 0 : n->active;
    p->unreturned = r->options.fold ? 0 : n->depth;
    p->calls = (int64_t)n->calls;
    p->self = p->raw = (int64_t)(sum - ns);
    ns = sum;
    out++;
  }
  snapshot_own(r, s, out);
  memcpy(s->ownraw, s->own, s->functions * sizeof *s->ownraw);
  snapshot_alllines(r, s);
  memset(s->callcost, 0, s->functions * sizeof *s->callcost);
  s->clamped = 0;
  if (r->uncompensated == NULL) {
    s->costs = compensate_costs(r, scale);
    compensate(r, s, out);
    snapshot_own(r, s, out);
  }
  s->own_node = skips || own >= out ? 0 : own;
  s->overhead = s->own_node ? s->list[own].self : 0;
  nodes_total(s->list, out);
  snapshot_lineshares(s);
  s->wall = (int64_t)clock_ns(scale, ticks + r->figures->paused);
  s->paused = s->wall - (int64_t)ns;
}

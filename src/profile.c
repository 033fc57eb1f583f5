/*
** See profile.h
*/

#include "profile.h"

#include <string.h>

#include "index.h"


#define NONE	UINT32_MAX


void nodes_total (ProfileNode *list, uint32_t count) {
  uint32_t i;
  for (i = 0; i < count; i++) list[i].total = list[i].self;
  for (i = count; i-- > 1; ) list[list[i].parent].total += list[i].total;
}


/* {======================================================
** Edges
** ======================================================= */

static uint32_t edge_hash (uint32_t caller, uint32_t callee,
                           uint32_t line) {
  return index_mix((uint64_t)caller << 32 | callee) ^ line * 0x9E3779B1u;
}


static int edges_rehash (Sums *s, const Memory *m) {
  uint32_t wanted = s->buckets ? s->buckets * 2 : 256, i;
  uint32_t *bucket = cast(uint32_t *, memory_resize(m, s->bucket,
    s->buckets * sizeof *bucket, wanted * sizeof *bucket));
  if (bucket == NULL) return 0;
  memset(bucket, 0, wanted * sizeof *bucket);
  s->bucket = bucket;
  s->buckets = wanted;
  for (i = 0; i < s->count; i++) {
    uint32_t b = edge_hash(s->edges[i].caller, s->edges[i].callee,
                           s->edges[i].line);
    while (bucket[b & (wanted - 1)] != 0) b++;
    bucket[b & (wanted - 1)] = i + 1;
  }
  return 1;
}


/* the edge, made if need be; NULL: out of memory */
static SumEdge *sums_edge (Sums *s, const Memory *m, uint32_t caller,
                           uint32_t callee, uint32_t line) {
  uint32_t b = edge_hash(caller, callee, line);
  void *array = s->edges;
  SumEdge *e;
  if (s->count * 2 >= s->buckets && !edges_rehash(s, m)) return NULL;
  for (;; b++) {
    uint32_t i = s->bucket[b & (s->buckets - 1)];
    if (i == 0) break;
    e = &s->edges[i - 1];
    if (e->caller == caller && e->callee == callee && e->line == line)
      return e;
  }
  if (!memory_grow(m, &array, &s->capacity, s->count, sizeof *e))
    return NULL;
  s->edges = cast(SumEdge *, array);
  e = &s->edges[s->count++];
  memset(e, 0, sizeof *e);
  e->caller = caller;
  e->callee = callee;
  e->line = line;
  s->bucket[b & (s->buckets - 1)] = s->count;
  return e;
}

/* }====================================================== */


/* {======================================================
** Walking the tree in depth, callers before callees
** ======================================================= */

typedef struct Place {	/* on the path from the root */
  uint32_t node;
  uint32_t outer;	/* place of the next node above of the same group */
} Place;

typedef struct Walk {
  Sums *sums;
  const Memory *memory;
  const Nodes *nodes;
  const uint32_t *group;
  const int64_t *reach;	/* calls of each node and below; NULL: no lines */
  NodeStep *step;
  Place *path;
  uint32_t *inner;	/* of each group: its lowest place, or NONE */
  uint32_t *depth;	/* of each group: its places */
} Walk;


/* the edge that leads into 'place'; NULL: out of memory */
static SumEdge *walk_edge (const Walk *w, uint32_t place) {
  uint32_t node = w->path[place].node;
  return sums_edge(w->sums, w->memory,
                   w->group[w->path[place - 1].node], w->group[node],
                   w->reach != NULL ? w->nodes->list[node].call_line : 0);
}


/* on the way, a sum can be more than it comes to in the end */
static void walk_add (int64_t *sum, int64_t n) {
  *sum = (int64_t)((uint64_t)*sum + (uint64_t)n);
}


static int walk_edges (const Walk *w, uint32_t place, uint32_t outer) {
  const ProfileNode *n = &w->nodes->list[w->path[place].node];
  SumEdge *e = walk_edge(w, place);
  if (e == NULL) return 0;
  e->calls += n->calls;
  e->self += n->self;
  if (outer == NONE) walk_add(&e->total_in, n->total);
  if (outer == NONE && w->reach != NULL)
    walk_add(&e->calls_in, w->reach[w->path[place].node]);
  if (e->caller != e->callee) walk_add(&e->total_out, n->total);
  if (outer != NONE && outer != place - 1) {
    /* what the outer one called is not charged with the inner one */
    e = walk_edge(w, outer + 1);
    if (e == NULL) return 0;
    walk_add(&e->total_out, -n->total);
  }
  return 1;
}


static int walk_enter (Walk *w, uint32_t place, uint32_t node) {
  const ProfileNode *n = &w->nodes->list[node];
  uint32_t g = w->group[node], outer = w->inner[g];
  SumRow *row = &w->sums->rows[g];
  w->path[place].node = node;
  w->path[place].outer = outer;
  w->inner[g] = place;
  if (w->depth[g]++ + n->depth > row->depth)
    row->depth = w->depth[g] - 1 + n->depth;
  row->calls += n->calls;
  row->self += n->self;
  row->raw += n->raw;
  if (outer == NONE) row->total += n->total;
  return place == 0 || walk_edges(w, place, outer);
}


static void walk_leave (Walk *w, uint32_t place) {
  uint32_t g = w->group[w->path[place].node];
  w->inner[g] = w->path[place].outer;
  w->depth[g]--;
}


static int walk_tree (Walk *w) {
  uint32_t place = 0, node = 0;
  for (;;) {
    if (!walk_enter(w, place, node)) return 0;
    if (w->step[node].child != 0) {
      node = w->step[node].child;
      place++;
      continue;
    }
    walk_leave(w, place);
    while (w->step[node].sibling == 0) {
      if (place == 0) return 1;
      node = w->path[--place].node;
      walk_leave(w, place);
    }
    node = w->step[node].sibling;
  }
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

/* }====================================================== */


void sums_free (Sums *s, const Memory *m) {
  memory_free(m, s->rows, s->groups * sizeof *s->rows);
  memory_free(m, s->edges, s->capacity * sizeof *s->edges);
  memory_free(m, s->bucket, s->buckets * sizeof *s->bucket);
  memset(s, 0, sizeof *s);
}


static int sums_fill (Sums *s, const Memory *m, const Nodes *nodes,
                      const uint32_t *group, uint32_t groups,
                      const int64_t *reach) {
  Walk w;
  size_t n = nodes->count;
  int ok = 0;
  memset(s, 0, sizeof *s);
  memset(&w, 0, sizeof w);
  w.sums = s;
  w.memory = m;
  w.nodes = nodes;
  w.group = group;
  w.reach = reach;
  s->groups = groups;
  s->rows = memory_new(m, SumRow, groups);
  w.step = memory_new(m, NodeStep, n);
  w.path = memory_new(m, Place, n);
  w.inner = memory_new(m, uint32_t, groups);
  w.depth = memory_new(m, uint32_t, groups);
  if (s->rows && w.step && w.path && w.inner && w.depth) {
    memset(s->rows, 0, groups * sizeof *s->rows);
    memset(w.inner, 0xFF, groups * sizeof *w.inner);
    memset(w.depth, 0, groups * sizeof *w.depth);
    nodes_steps(nodes, w.step);
    ok = walk_tree(&w);
  }
  memory_free(m, w.step, n * sizeof *w.step);
  memory_free(m, w.path, n * sizeof *w.path);
  memory_free(m, w.inner, groups * sizeof *w.inner);
  memory_free(m, w.depth, groups * sizeof *w.depth);
  if (!ok) sums_free(s, m);
  return ok;
}


int sums_make (Sums *s, const Memory *m, const Nodes *nodes,
               const uint32_t *group, uint32_t groups) {
  return sums_fill(s, m, nodes, group, groups, NULL);
}


int sums_calls (Sums *s, const Memory *m, const Nodes *nodes,
                const uint32_t *group, uint32_t groups) {
  int64_t *reach = (int64_t *)memory_resize(m, NULL, 0,
                                            nodes->count * sizeof *reach);
  uint32_t i;
  int ok;
  if (reach == NULL) return 0;
  for (i = 0; i < nodes->count; i++) reach[i] = nodes->list[i].calls;
  for (i = nodes->count; i-- > 1; )
    reach[nodes->list[i].parent] += reach[i];
  ok = sums_fill(s, m, nodes, group, groups, reach);
  memory_free(m, reach, nodes->count * sizeof *reach);
  return ok;
}


uint32_t nodes_owner (const ProfileNode *list, const uint8_t *zone,
                      const uint32_t *owner, uint32_t node) {
  return node != 0 && zone[list[node].func] ? owner[list[node].parent]
                                            : node;
}


/* which site each node was called from; 0: none. NULL: out of memory */
static uint32_t *sites_groups (Sums *sites, const Memory *m,
                               const Nodes *nodes, const uint8_t *zone,
                               const uint32_t *key) {
  uint32_t *group = memory_new(m, uint32_t, nodes->count);
  uint32_t i;
  for (i = 0; group != NULL && i < nodes->count; i++)
    group[i] = nodes_owner(nodes->list, zone, group, i);
  for (i = nodes->count; group != NULL && i-- > 0; ) {
    const ProfileNode *n = &nodes->list[i];
    uint32_t owner = group[n->parent];  /* not yet made a site */
    uint32_t caller = key[nodes->list[owner].func];
    const SumEdge *e;
    group[i] = 0;
    if (n->call_line == 0 || caller == 0) continue;
    e = sums_edge(sites, m, caller, n->call_line, 0);
    if (e != NULL) group[i] = (uint32_t)(e - sites->edges) + 1;
    else {
      memory_free(m, group, nodes->count * sizeof *group);
      group = NULL;
    }
  }
  return group;
}


int sums_sites (Sums *s, const Memory *m, const Nodes *nodes,
                const uint8_t *zone, const uint32_t *key) {
  Sums sites = ZEROS, sums;
  uint32_t *group = sites_groups(&sites, m, nodes, zone, key);
  int ok = group != NULL &&
           sums_make(&sums, m, nodes, group, sites.count + 1);
  memory_free(m, group, nodes->count * sizeof *group);
  if (ok) {  /* the rows of the one with the edges of the other */
    sites.rows = sums.rows;
    sites.groups = sums.groups;
    sums.rows = NULL;
    sums_free(&sums, m);
    *s = sites;
  }
  else sums_free(&sites, m);
  return ok;
}


int nodes_levels (const Nodes *nodes, const Memory *m,
                  const uint32_t *group, uint32_t groups, uint32_t *level) {
  uint32_t *depth = memory_new(m, uint32_t, groups);
  NodeStep *step = memory_new(m, NodeStep, nodes->count);
  uint32_t node = 0;
  if (depth == NULL || step == NULL) {
    memory_free(m, depth, groups * sizeof *depth);
    memory_free(m, step, nodes->count * sizeof *step);
    return 0;
  }
  memset(depth, 0, groups * sizeof *depth);
  nodes_steps(nodes, step);
  for (;;) {
    level[node] = depth[group[node]]++;
    if (step[node].child != 0) {
      node = step[node].child;
      continue;
    }
    depth[group[node]]--;
    while (node != 0 && step[node].sibling == 0) {
      node = nodes->list[node].parent;
      depth[group[node]]--;
    }
    if (node == 0) break;
    node = step[node].sibling;
  }
  memory_free(m, depth, groups * sizeof *depth);
  memory_free(m, step, nodes->count * sizeof *step);
  return 1;
}


#define BELOW	1	/* a node that is 'above' was met on the way */
#define WITHIN	2	/* ... and below that, one that 'is' */

SumRow nodes_attribute (const Nodes *nodes, const uint8_t *is,
                        const uint8_t *above, uint8_t *room) {
  SumRow sum = ZEROS;
  uint32_t i;
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *n = &nodes->list[i];
    unsigned seen = i == 0 ? 0 : room[n->parent];
    if (seen & BELOW && is[i]) {
      sum.calls += n->calls;
      sum.self += n->self;
      sum.raw += n->raw;
      if (!(seen & WITHIN)) sum.total += n->total;
      seen |= WITHIN;
    }
    if (above[i]) seen |= BELOW;
    room[i] = (uint8_t)seen;
  }
  return sum;
}

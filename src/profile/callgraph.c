/*
** See callgraph.h
*/

#include "profile/callgraph.h"

#include <string.h>


#define EDGES_SHIFT	8
#define NONE		UINT32_MAX


/* {======================================================
** Edges
** ======================================================= */

static uint32_t edge_hash (uint32_t caller, uint32_t callee,
                           uint32_t line) {
  return index_mix((uint64_t)caller << 32 | callee) ^ line * 0x9E3779B1u;
}


static uint32_t edge_hashof (const void *item) {
  const SumEdge *e = cast(const SumEdge *, item);
  return edge_hash(e->caller, e->callee, e->line);
}


/* The id of the edge, new or not; 0: out of memory. */
static uint32_t edge_get (Callgraph *g, uint32_t caller, uint32_t callee,
                          uint32_t line) {
  uint32_t i = index_first(&g->index, edge_hash(caller, callee, line));
  SumEdge *e;
  for (; i != 0; i = callgraph_edge(g, i)->next) {
    e = callgraph_edge(g, i);
    if (e->caller == caller && e->callee == callee && e->line == line)
      return i;
  }
  e = cast(SumEdge *, chunks_add(&g->edges));
  if (e == NULL) return 0;
  e->caller = caller;
  e->callee = callee;
  e->line = line;
  return index_last(&g->index) ? g->edges.count - 1 : 0;
}

/* }====================================================== */


/* Begins a graph without edges. 0: out of memory; free it even then. */
static int callgraph_init (Callgraph *g, const Memory *m) {
  memset(g, 0, sizeof *g);
  g->memory = m;
  chunks_init(&g->edges, m, sizeof(SumEdge), EDGES_SHIFT);
  index_init(&g->index, &g->edges, offsetof(SumEdge, next), edge_hashof);
  return chunks_add(&g->edges) != NULL;
}


void callgraph_free (Callgraph *g) {
  if (g->memory == NULL) return;
  memory_free(g->memory, g->rows, g->groups * sizeof *g->rows);
  index_free(&g->index);
  chunks_free(&g->edges);
  memset(g, 0, sizeof *g);
}


/* {======================================================
** Walking the tree
** ======================================================= */

typedef struct Place {	/* a level of the path from the root */
  uint32_t node;
  uint32_t outer;	/* place of the nearest caller of the same group, or
			   NONE */
} Place;

typedef struct GraphWalk {
  Callgraph *graph;
  const Nodes *nodes;
  const uint32_t *group;
  const int64_t *reach;	/* calls of each node and all below it; NULL: edges
			   do not distinguish lines */
  Place *path;
  uint32_t *inner;	/* of each group: its innermost place, or NONE */
  uint32_t *depth;	/* of each group: number of its places on the path */
} GraphWalk;


/* The edge of the call that leads to 'place'; NULL: out of memory. */
static SumEdge *graph_edge (const GraphWalk *w, uint32_t place) {
  uint32_t node = w->path[place].node;
  uint32_t i = edge_get(w->graph, w->group[w->path[place - 1].node],
                        w->group[node],
                        w->reach ? w->nodes->list[node].call_line : 0);
  return i != 0 ? callgraph_edge(w->graph, i) : NULL;
}


/* Adds unsigned: a sum may overflow on the way, though not in the end. */
static void graph_add (int64_t *sum, int64_t n) {
  *sum = (int64_t)((uint64_t)*sum + (uint64_t)n);
}


/*
** Adds the node at 'place' to its edges. 'outer' is the nearest place of the
** same group above, or NONE. 0: out of memory.
*/
static int graph_edges (const GraphWalk *w, uint32_t place, uint32_t outer) {
  const ProfileNode *n = &w->nodes->list[w->path[place].node];
  SumEdge *e = graph_edge(w, place);
  if (e == NULL) return 0;
  e->ways |= n->ways;
  e->calls += n->calls;
  e->self += n->self;
  e->raw += n->raw;
  e->wait += n->wait;
  if (outer == NONE) {
    graph_add(&e->total_in, n->total);
    graph_add(&e->rawtotal_in, n->rawtotal);
    graph_add(&e->waittotal_in, n->waittotal);
    if (w->reach != NULL)
      graph_add(&e->calls_in, w->reach[w->path[place].node]);
  }
  if (e->caller != e->callee) {
    graph_add(&e->total_out, n->total);
    graph_add(&e->rawtotal_out, n->rawtotal);
  }
  if (outer != NONE && outer != place - 1) {
    /* take it out of the edge that leads down from the outer place */
    e = graph_edge(w, outer + 1);
    if (e == NULL) return 0;
    graph_add(&e->total_out, -n->total);
    graph_add(&e->rawtotal_out, -n->rawtotal);
  }
  return 1;
}


static int graph_enter (GraphWalk *w, uint32_t place, uint32_t node) {
  const ProfileNode *n = &w->nodes->list[node];
  uint32_t g = w->group[node], outer = w->inner[g];
  SumRow *row = &w->graph->rows[g];
  w->path[place].node = node;
  w->path[place].outer = outer;
  w->inner[g] = place;
  if (w->depth[g]++ + n->depth > row->depth)
    row->depth = w->depth[g] - 1 + n->depth;
  row->calls += n->calls;
  row->self += n->self;
  row->raw += n->raw;
  row->wait += n->wait;
  row->tails += n->tails;
  row->ways |= n->ways;
  if (outer == NONE) {
    row->total += n->total;
    row->rawtotal += n->rawtotal;
    row->waittotal += n->waittotal;
  }
  return place == 0 || graph_edges(w, place, outer);
}


static void graph_leave (GraphWalk *w, uint32_t place) {
  uint32_t g = w->group[w->path[place].node];
  w->inner[g] = w->path[place].outer;
  w->depth[g]--;
}


static int graph_tree (GraphWalk *w, const NodeStep *step) {
  Preorder p;
  uint32_t above = 0;
  preorder_begin(&p, w->nodes, step);
  do {
    while (above > p.depth) graph_leave(w, --above);
    if (!graph_enter(w, above++, p.node)) return 0;
  } while (preorder_next(&p));
  return 1;
}

/* }====================================================== */


static int callgraph_fill (Callgraph *g, const Memory *m, const Nodes *nodes,
                           const uint32_t *group, uint32_t groups,
                           const int64_t *reach) {
  size_t n = nodes->count;
  NodeStep *step = memory_new(m, NodeStep, n);
  GraphWalk w = ZEROS;
  int ok = callgraph_init(g, m);
  w.graph = g;
  w.nodes = nodes;
  w.group = group;
  w.reach = reach;
  w.path = memory_new(m, Place, n);
  w.inner = memory_new(m, uint32_t, groups);
  w.depth = memory_newzeroed(m, uint32_t, groups);
  g->rows = memory_newzeroed(m, SumRow, groups);
  g->groups = groups;
  ok = ok && g->rows && step && w.path && w.inner && w.depth;
  if (ok) {
    memset(w.inner, 0xFF, groups * sizeof *w.inner);
    nodes_steps(nodes, step);
    ok = graph_tree(&w, step);
  }
  memory_free(m, step, n * sizeof *step);
  memory_free(m, w.path, n * sizeof *w.path);
  memory_free(m, w.inner, groups * sizeof *w.inner);
  memory_free(m, w.depth, groups * sizeof *w.depth);
  if (!ok) callgraph_free(g);
  return ok;
}


int callgraph_make (Callgraph *g, const Memory *m, const Nodes *nodes,
                    const uint32_t *group, uint32_t groups) {
  return callgraph_fill(g, m, nodes, group, groups, NULL);
}


int callgraph_bylines (Callgraph *g, const Memory *m, const Nodes *nodes,
                       const uint32_t *group, uint32_t groups) {
  int64_t *reach = memory_new(m, int64_t, nodes->count);
  uint32_t i;
  int ok;
  if (reach == NULL) return 0;
  for (i = 0; i < nodes->count; i++) reach[i] = nodes->list[i].calls;
  for (i = nodes->count; i-- > 1; )
    reach[nodes->list[i].parent] += reach[i];
  ok = callgraph_fill(g, m, nodes, group, groups, reach);
  memory_free(m, reach, nodes->count * sizeof *reach);
  return ok;
}


/* {======================================================
** Call sites
** ======================================================= */

/*
** Sets the group of each node to its call site, an edge of 'g'; 0: no line
** called it. Returns 0 when out of memory.
*/
static int sites_groups (Callgraph *g, const Nodes *nodes,
                         const uint8_t *zone, const uint32_t *key,
                         uint32_t *group) {
  uint32_t i;
  for (i = 0; i < nodes->count; i++)
    group[i] = nodes_owner(nodes->list, zone, group, i);
  for (i = nodes->count; i-- > 0; ) {  /* callees first: 'group' still has
					  the owners of their callers */
    const ProfileNode *n = &nodes->list[i];
    uint32_t caller = key[nodes->list[group[n->parent]].func];
    group[i] = 0;
    if (n->call_line == 0 || caller == 0) continue;
    group[i] = edge_get(g, caller, n->call_line, 0);
    if (group[i] == 0) return 0;
  }
  return 1;
}


/*
** The edges are the call sites. The rows come from a second graph, whose
** groups are these call sites.
*/
int callgraph_sites (Callgraph *g, const Memory *m, const Nodes *nodes,
                     const uint8_t *zone, const uint32_t *key) {
  uint32_t *group = memory_new(m, uint32_t, nodes->count);
  Callgraph sums;
  int ok = callgraph_init(g, m) && group != NULL &&
           sites_groups(g, nodes, zone, key, group) &&
           callgraph_make(&sums, m, nodes, group, g->edges.count);
  memory_free(m, group, nodes->count * sizeof *group);
  if (ok) {
    g->rows = sums.rows;
    g->groups = sums.groups;
    sums.rows = NULL;
    callgraph_free(&sums);
  }
  else callgraph_free(g);
  return ok;
}

/* }====================================================== */


#define BELOW	1	/* bits: at or below a node that 'above' marks */
#define WITHIN	2	/* at or below a node that was added up */

SumRow callgraph_attribute (const Nodes *nodes, const uint8_t *is,
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
      sum.wait += n->wait;
      if (!(seen & WITHIN)) {
        sum.total += n->total;
        sum.rawtotal += n->rawtotal;
        sum.waittotal += n->waittotal;
      }
      seen |= WITHIN;
    }
    if (above[i]) seen |= BELOW;
    room[i] = (uint8_t)seen;
  }
  return sum;
}

/*
** See callgraph.h
*/

#include "profile/callgraph.h"

#include <string.h>


#define EDGES_SHIFT	8
#define NONE		UINT32_MAX	/* in 'outer' and 'inner' */


/* {======================================================
** Edges
** ======================================================= */

/* The id of the edge, new or not. */
static uint32_t edge_get (Callgraph *g, uint32_t caller, uint32_t callee,
                          uint32_t line) {
  EdgeKey key;
  uint32_t id;
  key.caller = caller;
  key.callee = callee;
  key.line = line;
  id = index_find(&g->index, &key);
  if (id != 0) return id;
  cast(SumEdge *, chunks_add(&g->edges))->is = key;
  index_last(&g->index);
  return g->edges.count - 1;
}

/* }====================================================== */


/* Begins a graph without edges. */
static void callgraph_init (Callgraph *g, const Memory *m) {
  memset(g, 0, sizeof *g);
  chunks_init(&g->edges, m, sizeof(SumEdge), EDGES_SHIFT);
  index_by(&g->index, &g->edges, SumEdge, is);
  chunks_add(&g->edges);
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


/* The edge of the call that leads to 'place'. */
static SumEdge *graph_edge (const GraphWalk *w, uint32_t place) {
  uint32_t node = w->path[place].node;
  return callgraph_edge(w->graph,
    edge_get(w->graph, w->group[w->path[place - 1].node], w->group[node],
             w->reach ? w->nodes->list[node].call_line : 0));
}


/* Adds unsigned: a sum may overflow on the way, though not in the end. */
static void graph_add (int64_t *sum, int64_t n) {
  *sum = (int64_t)((uint64_t)*sum + (uint64_t)n);
}


/*
** Adds the node at 'place' to its edges. 'outer' is the nearest place of the
** same group above, or NONE.
*/
static void graph_edges (const GraphWalk *w, uint32_t place, uint32_t outer) {
  const ProfileNode *n = &w->nodes->list[w->path[place].node];
  SumEdge *e = graph_edge(w, place);
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
  if (e->is.caller != e->is.callee) {
    graph_add(&e->total_out, n->total);
    graph_add(&e->rawtotal_out, n->rawtotal);
  }
  if (outer != NONE && outer != place - 1) {
    /* take it out of the edge that leads down from the outer place */
    e = graph_edge(w, outer + 1);
    graph_add(&e->total_out, -n->total);
    graph_add(&e->rawtotal_out, -n->rawtotal);
  }
}


static void graph_enter (GraphWalk *w, uint32_t place, uint32_t node) {
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
  if (place > 0) graph_edges(w, place, outer);
}


static void graph_leave (GraphWalk *w, uint32_t place) {
  uint32_t g = w->group[w->path[place].node];
  w->inner[g] = w->path[place].outer;
  w->depth[g]--;
}


static void graph_tree (GraphWalk *w, const NodeStep *step) {
  Preorder p;
  uint32_t above = 0;
  preorder_begin(&p, w->nodes, step);
  do {
    while (above > p.depth) graph_leave(w, --above);
    graph_enter(w, above++, p.node);
  } while (preorder_next(&p));
}

/* }====================================================== */


/* The calls of each node and all below it. */
static int64_t *callgraph_reach (const Memory *m, const Nodes *nodes) {
  int64_t *reach = memory_new(m, int64_t, nodes->count);
  uint32_t i;
  for (i = 0; i < nodes->count; i++) reach[i] = nodes->list[i].calls;
  for (i = nodes->count; i-- > 1; )
    reach[nodes->list[i].parent] += reach[i];
  return reach;
}


void callgraph_make (Callgraph *g, const Memory *m, const Nodes *nodes,
                     const uint32_t *group, uint32_t groups, int bylines) {
  NodeStep *step = memory_new(m, NodeStep, nodes->count);
  GraphWalk w = ZEROS;
  callgraph_init(g, m);
  w.graph = g;
  w.nodes = nodes;
  w.group = group;
  w.reach = bylines ? callgraph_reach(m, nodes) : NULL;
  w.path = memory_new(m, Place, nodes->count);
  w.inner = memory_new(m, uint32_t, groups);
  w.depth = memory_newzeroed(m, uint32_t, groups);
  g->rows = memory_newzeroed(m, SumRow, groups);
  g->groups = groups;
  memset(w.inner, 0xFF, groups * sizeof *w.inner);
  nodes_steps(nodes, step);
  graph_tree(&w, step);
}


/* {======================================================
** Call sites
** ======================================================= */

/*
** Sets the group of each node to its call site, an edge of 'g'; 0: no line
** called it.
*/
static void sites_groups (Callgraph *g, const Nodes *nodes,
                         const uint32_t *zone, const uint32_t *key,
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
  }
}


/*
** The edges are the call sites. The rows come from a second graph, whose
** groups are these call sites.
*/
void callgraph_sites (Callgraph *g, const Memory *m, const Nodes *nodes,
                      const uint32_t *zone, const uint32_t *key) {
  uint32_t *group = memory_new(m, uint32_t, nodes->count);
  Callgraph sums;
  callgraph_init(g, m);
  sites_groups(g, nodes, zone, key, group);
  callgraph_make(&sums, m, nodes, group, g->edges.count, 0);
  g->rows = sums.rows;
  g->groups = sums.groups;
}


void callgraph_c (Callgraph *g, const Memory *m, const Nodes *nodes,
                    const uint32_t *zone, const uint32_t *c,
                    const uint32_t *key) {
  uint32_t *owner = memory_new(m, uint32_t, nodes->count), i;
  /* of each node of a C function: the node of the C function in its path that
     a Lua function has called */
  uint32_t *first = memory_new(m, uint32_t, nodes->count);
  callgraph_init(g, m);
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *n = &nodes->list[i];
    uint32_t caller, by;
    owner[i] = nodes_owner(nodes->list, zone, owner, i);
    if (i == 0 || !c[n->func]) continue;
    caller = owner[n->parent];
    first[i] = caller != 0 && c[nodes->list[caller].func] ? first[caller] : i;
    n = &nodes->list[first[i]];
    by = key[nodes->list[owner[n->parent]].func];
    if (n->call_line == 0 || by == 0) continue;
    by = edge_get(g, by, nodes->list[i].func, n->call_line);
    graph_add(&callgraph_edge(g, by)->self, nodes->list[i].self);
  }
}

/* }====================================================== */


#define BELOW	1	/* bits: at or below a node that 'above' marks */
#define WITHIN	2	/* at or below a node that was added up */

SumRow callgraph_attribute (const Nodes *nodes, const uint32_t *is,
                            const uint32_t *above, const Memory *m) {
  uint8_t *bits = memory_new(m, uint8_t, nodes->count);
  SumRow sum = ZEROS;
  uint32_t i;
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *n = &nodes->list[i];
    unsigned seen = i == 0 ? 0 : bits[n->parent];
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
    bits[i] = (uint8_t)seen;
  }
  return sum;
}

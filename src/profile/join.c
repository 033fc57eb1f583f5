/*
** See rebuild.h
*/

#include "profile/rebuild.h"


/* the nodes of one call path, or of one function */
typedef struct JoinGroup {
  int64_t calls;	/* calls of all its nodes */
  int64_t left;		/* calls of its nodes that have no share yet */
  int64_t self, raw, wait;	/* ns that are not yet given to nodes */
} JoinGroup;


/* The share of 'calls' in 'left'. The last calls take the rest of 'whole'. */
static int64_t join_part (int64_t whole, int64_t calls, int64_t left) {
  return calls >= left ? whole
                       : (int64_t)((double)whole * (double)calls /
                                   (double)left);
}


static void join_movens (int64_t *from, int64_t *to, int64_t ns) {
  *from -= ns;
  *to += ns;
}


/* Moves the times of 'n' to its group. */
static void join_take (JoinGroup *g, ProfileNode *n) {
  join_movens(&n->self, &g->self, n->self);
  join_movens(&n->raw, &g->raw, n->raw);
  join_movens(&n->wait, &g->wait, n->wait);
}


/* Gives 'n' its share of the times of its group, by calls. */
static void join_give (JoinGroup *g, ProfileNode *n) {
  join_movens(&g->self, &n->self, join_part(g->self, n->calls, g->left));
  join_movens(&g->raw, &n->raw, join_part(g->raw, n->calls, g->left));
  join_movens(&g->wait, &n->wait, join_part(g->wait, n->calls, g->left));
  g->left -= n->calls;
}


/*
** Moves times of nodes from 'counted' on to the nodes before them that are in
** their group and have calls. 'group' gives the group of each node, a number
** below 'groups'. Returns the self time that was moved.
*/
static int64_t join_move (Merge *m, uint32_t counted, const uint32_t *group,
                          uint32_t groups) {
  JoinGroup *list = memory_newzeroed(m->memory, JoinGroup, groups);
  int64_t moved = 0;
  uint32_t i;
  for (i = MERGE_ROOT; i < counted; i++) {
    JoinGroup *g = &list[group[i]];
    g->left = g->calls += merge_node(m, i)->calls;
  }
  for (; i <= merge_count(m); i++) {
    if (list[group[i]].calls == 0) continue;
    moved += merge_node(m, i)->self;
    join_take(&list[group[i]], merge_node(m, i));
  }
  for (i = MERGE_ROOT; i < counted; i++)
    if (merge_node(m, i)->calls > 0)
      join_give(&list[group[i]], merge_node(m, i));
  return moved;
}


/*
** Moves times by path; 'zone' tells which functions are zones, which are no
** part of a path; NULL: zones are, too. Returns the self time that was moved.
*/
static int64_t join_movepaths (Merge *m, uint32_t counted,
                               const uint32_t *zone) {
  uint32_t *path = memory_newzeroed(m->memory, uint32_t, merge_count(m) + 1);
  uint32_t i;
  Merge paths;
  merge_init(&paths, m->memory);
  for (i = MERGE_ROOT; i <= merge_count(m); i++) {
    const ProfileNode *n = merge_node(m, i);
    path[i] = zone != NULL && zone[n->func] ? path[n->parent]
              : merge_enter(&paths, path[n->parent], n->func, 0);
  }
  return join_move(m, counted, path, merge_count(&paths) + 1);
}


/*
** Moves times by path, and then by function. If the run that has the times has
** zones, paths with zones come first; if not, they would get no time.
*/
static void join_moveall (Merge *m, uint32_t counted, const uint32_t *zone,
                          int zones, JoinShares *shares) {
  uint32_t *func = memory_newzeroed(m->memory, uint32_t, merge_count(m) + 1);
  uint32_t funcs = 0, i;
  for (i = MERGE_ROOT; i <= merge_count(m); i++) {
    func[i] = merge_node(m, i)->func;
    if (func[i] >= funcs) funcs = func[i] + 1;
  }
  if (zones) shares->path += join_movepaths(m, counted, NULL);
  shares->path += join_movepaths(m, counted, zone);
  shares->function = join_move(m, counted, func, funcs);
  for (i = counted; i <= merge_count(m); i++)
    shares->none += merge_node(m, i)->self;
}


/*
** Copies the nodes of the first tree, those with time left, and the callers of
** these.
*/
static void join_copy (Merge *to, const Merge *m, uint32_t counted) {
  uint32_t *id = memory_newzeroed(m->memory, uint32_t, merge_count(m) + 1), i;
  for (i = merge_count(m); i >= MERGE_ROOT; i--) {  /* callees first */
    const ProfileNode *n = merge_node(m, i);
    if (i < counted || n->self != 0 || n->raw != 0) id[i] = 1;
    if (id[i]) id[n->parent] = 1;
  }
  id[0] = 0;
  for (i = MERGE_ROOT; i <= merge_count(m); i++) {
    ProfileNode n = *merge_node(m, i);
    if (!id[i]) continue;
    n.parent = id[n.parent];
    id[i] = merge_enter(to, n.parent, n.func, n.call_line);
    *merge_node(to, id[i]) = n;
  }
}


JoinShares join_trees (Merge *m, const JoinTree *calls, const JoinTree *times,
                       const uint32_t *zone) {
  JoinShares shares = ZEROS;
  uint32_t *to, counted, i;
  int zones = 0;
  Merge both;
  merge_init(&both, m->memory);
  to = merge_places(&both, calls->nodes, calls->function);
  merge_add(&both, calls->nodes, to, MERGE_CALLS | MERGE_DEPTH);
  counted = merge_count(&both) + 1;
  to = merge_places(&both, times->nodes, times->function);
  merge_add(&both, times->nodes, to, MERGE_TIMES);
  for (i = 0; i < times->nodes->count; i++) {
    if (zone[merge_node(&both, to[i])->func]) zones = 1;
    if (to[i] < counted && i != NODE_OVERHEAD)
      shares.path += times->nodes->list[i].self;
  }
  join_moveall(&both, counted, zone, zones, &shares);
  join_copy(m, &both, counted);
  return shares;
}

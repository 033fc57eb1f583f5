/*
** See join.h
*/

#include "profile/join.h"


#define JOIN_FIRST	1	/* id of the root in a Merge */


int join_init (Join *j, const Memory *memory) {
  j->counted = 0;
  j->shares.path = j->shares.function = j->shares.none = 0;
  return merge_init(&j->sum, memory) && merge_init(&j->paths, memory);
}


void join_free (Join *j) {
  merge_free(&j->sum);
  merge_free(&j->paths);
}


int join_calls (Join *j, const Nodes *nodes, const MergeFunction *function,
                MergePlace *to) {
  uint32_t i;
  if (!merge_enterall(&j->sum, nodes, function, to)) return 0;
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *from = &nodes->list[i];
    ProfileNode *n = merge_node(&j->sum, to[i].id);
    n->calls += from->calls;
    n->tails += from->tails;
    n->ways |= from->ways;
    if (from->depth > n->depth) n->depth = from->depth;
  }
  j->counted = merge_count(&j->sum) + JOIN_FIRST;
  return 1;
}


int join_times (Join *j, const Nodes *nodes, const MergeFunction *function,
                MergePlace *to) {
  uint32_t i;
  if (!merge_enterall(&j->sum, nodes, function, to)) return 0;
  for (i = 0; i < nodes->count; i++) {
    ProfileNode *n = merge_node(&j->sum, to[i].id);
    n->ways |= nodes->list[i].ways;
    n->self += nodes->list[i].self;
    n->raw += nodes->unit == NODES_SAMPLES ? nodes->list[i].self
                                           : nodes->list[i].raw;
    n->wait += nodes->list[i].wait;
    if (to[i].id < j->counted && i != NODE_OVERHEAD)
      j->shares.path += nodes->list[i].self;
  }
  return 1;
}


/* {======================================================
** Times of nodes that the first tree does not have
** ======================================================= */

/* The share of 'calls' in 'left'. The last calls take the rest of 'whole'. */
static int64_t join_part (int64_t whole, int64_t calls, int64_t left) {
  return calls >= left ? whole
                       : (int64_t)((double)whole * (double)calls /
                                   (double)left);
}


int join_paths (Join *j, uint32_t *path) {
  uint32_t end = merge_count(&j->sum) + JOIN_FIRST, i;
  path[0] = 0;
  for (i = JOIN_FIRST; i < end; i++) {
    const ProfileNode *n = merge_node(&j->sum, i);
    path[i] = merge_enter(&j->paths, path[n->parent], n->func, 0);
    if (path[i] == 0) return 0;
  }
  return 1;
}


static JoinGroup *join_group (const Join *j, const uint32_t *path,
                              JoinGroup *groups, uint32_t node) {
  return &groups[path != NULL ? path[node] : merge_node(&j->sum, node)->func];
}


/*
** Moves the times of node 'n' to its group. Returns the self time moved; 0,
** and moves nothing, if the group has no calls.
*/
static int64_t join_take (JoinGroup *g, ProfileNode *n) {
  int64_t taken = n->self;
  if (g->calls == 0) return 0;
  g->self += n->self;
  g->raw += n->raw;
  g->wait += n->wait;
  n->self = n->raw = n->wait = 0;
  return taken;
}


/* Gives node 'n' its share of the times of its group, by calls. */
static void join_give (JoinGroup *g, ProfileNode *n) {
  int64_t self = join_part(g->self, n->calls, g->left);
  int64_t raw = join_part(g->raw, n->calls, g->left);
  int64_t wait = join_part(g->wait, n->calls, g->left);
  g->left -= n->calls;
  g->self -= self;
  g->raw -= raw;
  g->wait -= wait;
  n->self += self;
  n->raw += raw;
  n->wait += wait;
}


/*
** Moves times by path or, where 'path' is NULL, by function. Returns the
** self time that was moved.
*/
static int64_t join_moveby (Join *j, const uint32_t *path,
                            JoinGroup *groups) {
  uint32_t end = merge_count(&j->sum) + JOIN_FIRST, i;
  int64_t moved = 0;
  for (i = JOIN_FIRST; i < j->counted; i++) {
    JoinGroup *g = join_group(j, path, groups, i);
    g->calls += merge_node(&j->sum, i)->calls;
    g->left = g->calls;
  }
  for (; i < end; i++)
    moved += join_take(join_group(j, path, groups, i),
                       merge_node(&j->sum, i));
  for (i = JOIN_FIRST; i < j->counted; i++) {
    ProfileNode *n = merge_node(&j->sum, i);
    if (n->calls > 0) join_give(join_group(j, path, groups, i), n);
  }
  return moved;
}


void join_move (Join *j, const uint32_t *path, JoinGroup *ofpath,
                JoinGroup *offunction) {
  uint32_t end = merge_count(&j->sum) + JOIN_FIRST, i;
  j->shares.path += join_moveby(j, path, ofpath);
  j->shares.function = join_moveby(j, NULL, offunction);
  for (i = j->counted; i < end; i++)
    j->shares.none += merge_node(&j->sum, i)->self;
}

/* }====================================================== */


uint32_t join_number (const Join *j, uint32_t *id) {
  uint32_t end = merge_count(&j->sum) + JOIN_FIRST, next = 0, i;
  for (i = end - 1; i >= JOIN_FIRST; i--) {  /* callees before callers */
    const ProfileNode *n = merge_node(&j->sum, i);
    if (i < j->counted || n->self != 0 || n->raw != 0) id[i] = 1;
    if (id[i] && n->parent != 0) id[n->parent] = 1;
  }
  for (i = JOIN_FIRST; i < end; i++) id[i] = id[i] ? next++ : UINT32_MAX;
  return next;
}


void join_copy (const Join *j, const uint32_t *id, ProfileNode *list) {
  uint32_t end = merge_count(&j->sum) + JOIN_FIRST, i;
  for (i = JOIN_FIRST; i < end; i++) {
    ProfileNode *to;
    if (id[i] == UINT32_MAX) continue;
    to = &list[id[i]];
    *to = *merge_node(&j->sum, i);
    to->parent = i == JOIN_FIRST ? 0 : id[to->parent];
  }
}

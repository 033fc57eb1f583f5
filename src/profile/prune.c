/*
** See rebuild.h
*/

#include "profile/rebuild.h"

#include <string.h>


static int prune_isbelow (const Nodes *nodes, uint32_t node, int64_t least) {
  return node > NODE_OVERHEAD && nodes->list[node].total < least;
}


typedef struct Weigh {
  PruneSize *size;
  const Nodes *nodes;
  const PruneBytes *bytes;
  uint32_t *depth;	/* depth of each node */
  uint64_t *path;	/* bytes of each node's path */
  uint8_t *below;	/* of each node: are callees added up? */
  uint8_t *used;	/* of each function: has it a node? */
} Weigh;


/*
** Adds the bytes of one more node, which is below a path of 'path' bytes.
** Returns the bytes of its own path.
*/
static uint64_t weigh_node (Weigh *w, uint64_t path, uint32_t depth,
                            uint32_t func, int written) {
  const PruneBytes *b = w->bytes;
  uint64_t bytes = b->node != NULL ? b->node[func] : 0;
  path += bytes;
  if (b->copies != NULL) bytes = written ? path * b->copies[func] : 0;
  if (b->once != NULL && !w->used[func]) bytes += b->once[func];
  w->used[func] = 1;
  w->size->bytes += bytes;
  w->size->nodes++;
  if (depth > w->size->deepest) w->size->deepest = depth;
  return path;
}


static void weigh_kept (Weigh *w, uint32_t i) {
  const ProfileNode *n = &w->nodes->list[i];
  uint64_t path = i > 0 ? w->path[n->parent] : 0;
  w->depth[i] = i > 0 ? w->depth[n->parent] + 1 : 0;
  w->path[i] = weigh_node(w, path, w->depth[i], n->func,
                          n->calls > 0 || n->self > 0);
}


static void weigh_all (Weigh *w, int64_t least, uint32_t below) {
  uint32_t i, parent;
  for (i = 0; i < w->nodes->count; i++) {
    const ProfileNode *n = &w->nodes->list[i];
    parent = n->parent;
    if (i == NODE_OVERHEAD) w->size->nodes++;
    else if (!prune_isbelow(w->nodes, i, least)) weigh_kept(w, i);
    else {
      w->size->below += n->self;
      if (prune_isbelow(w->nodes, parent, least) || w->below[parent]) continue;
      w->below[parent] = 1;
      weigh_node(w, w->path[parent], w->depth[parent] + 1, below, 1);
    }
  }
}


void prune_weigh (PruneSize *size, const Memory *m, const Nodes *nodes,
                  int64_t least, const PruneBytes *bytes, uint32_t below) {
  Weigh w = ZEROS;
  memset(size, 0, sizeof *size);
  w.size = size;
  w.nodes = nodes;
  w.bytes = bytes;
  w.depth = memory_newzeroed(m, uint32_t, nodes->count);
  w.path = memory_newzeroed(m, uint64_t, nodes->count);
  w.below = memory_newzeroed(m, uint8_t, nodes->count);
  w.used = memory_newzeroed(m, uint8_t, (size_t)below + 1);
  weigh_all(&w, least, below);
}


uint32_t prune_cut (Merge *m, const Nodes *nodes, int64_t least,
                    uint32_t below) {
  uint32_t *to = memory_new(m->memory, uint32_t, nodes->count), cut = 0, i;
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *n = &nodes->list[i];
    uint32_t caller = i == 0 ? 0 : to[n->parent];
    if (!prune_isbelow(nodes, i, least))
      to[i] = merge_enter(m, caller, n->func, n->call_line);
    else {
      to[i] = prune_isbelow(nodes, n->parent, least)
            ? caller : merge_enter(m, caller, below, 0);
      cut++;
    }
  }
  to[NODE_OVERHEAD] = 0;
  merge_add(m, nodes, to, MERGE_CALLS | MERGE_TIMES);
  return cut;
}

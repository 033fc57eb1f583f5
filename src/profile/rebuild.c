/*
** See rebuild.h
*/

#include "profile/rebuild.h"

#include <string.h>


#define MERGE_SHIFT	10

/* A node is found by its first fields: 'parent', 'func' and 'call_line'. */
#define MERGE_KEY	offsetof(ProfileNode, depth)

typedef struct MergeNode {
  ProfileNode node;	/* its 'parent' is an id in the Merge; the root's: 0 */
  NodeMemory memory;
  uint32_t next;	/* in the bucket of the index */
} MergeNode;


static MergeNode *merge_at (const Merge *m, uint32_t id) {
  return cast(MergeNode *, chunks_at(&m->nodes, id));
}


void merge_init (Merge *m, const Memory *memory) {
  m->memory = memory;
  m->allocated = 0;
  chunks_init(&m->nodes, memory, sizeof(MergeNode), MERGE_SHIFT);
  index_key(&m->index, &m->nodes, offsetof(MergeNode, next),
            offsetof(MergeNode, node), MERGE_KEY);
  chunks_add(&m->nodes);
}


ProfileNode *merge_node (const Merge *m, uint32_t id) {
  return &merge_at(m, id)->node;
}


uint32_t merge_enter (Merge *m, uint32_t parent, uint32_t func,
                      uint32_t line) {
  ProfileNode like, *n;
  uint32_t id;
  like.parent = parent;
  like.func = func;
  like.call_line = line;
  id = index_find(&m->index, &like);
  if (id != 0) return id;
  n = &cast(MergeNode *, chunks_add(&m->nodes))->node;
  n->parent = parent;
  n->func = func;
  n->call_line = line;
  index_last(&m->index);
  return m->nodes.count - 1;
}


static void merge_figures (ProfileNode *n, const ProfileNode *from,
                           unsigned what) {
  n->ways |= from->ways;
  if (what & MERGE_CALLS) {
    n->calls += from->calls;
    if (!(what & MERGE_DEPTH)) n->depth = 1;
  }
  if (what & MERGE_DEPTH) {
    n->tails += from->tails;
    if (from->depth > n->depth) n->depth = from->depth;
  }
  if (what & MERGE_TIMES) {
    n->self += from->self;
    n->raw += from->raw;
    n->wait += from->wait;
  }
}


void merge_add (Merge *m, const Nodes *nodes, const uint32_t *to,
                unsigned what) {
  uint32_t i;
  if (nodes->memory != NULL) m->allocated = 1;
  for (i = 0; i < nodes->count; i++) {
    ProfileNode from = nodes->list[i];
    if (to[i] == 0) continue;
    if (what == MERGE_TIMES && nodes->unit == NODES_SAMPLES)
      from.raw = from.self;
    merge_figures(merge_node(m, to[i]), &from, what);
    if (nodes->memory != NULL)
      nodes_allocated(&merge_at(m, to[i])->memory, &nodes->memory[i]);
  }
}


uint32_t merge_count (const Merge *m) {
  return m->nodes.count - 1;
}


void merge_copy (const Merge *m, ProfileNode *list, NodeMemory *memory) {
  uint32_t i;
  for (i = MERGE_ROOT; i < m->nodes.count; i++) {
    list[i - 1] = *merge_node(m, i);
    if (memory != NULL) memory[i - 1] = merge_at(m, i)->memory;
    if (i > MERGE_ROOT) list[i - 1].parent--;
  }
  nodes_total(list, merge_count(m));
}


/* The line of a call, moved to the caller's place in the sum; 0: unknown. */
static uint32_t merge_line (uint32_t line, int32_t shift) {
  int64_t moved = (int64_t)line + shift;
  return line != 0 && moved > 0 && moved < INT32_MAX ? (uint32_t)moved : line;
}


/* All roots are one, whatever their names. */
uint32_t *merge_places (Merge *m, const Nodes *nodes,
                        const MergeFunction *function) {
  uint32_t *to = memory_new(m->memory, uint32_t, nodes->count), i;
  int32_t *shift = memory_new(m->memory, int32_t, nodes->count);
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *from = &nodes->list[i];
    const MergeFunction *f = &function[from->func];
    uint32_t caller = i > 0 ? to[from->parent] : 0;
    int32_t moved = i > 0 ? shift[from->parent] : 0;
    to[i] = i == 0 && merge_count(m) > 0 ? MERGE_ROOT
      : merge_enter(m, caller, f->func, merge_line(from->call_line, moved));
    shift[i] = f->shift == MERGE_ZONE ? moved : f->shift;
  }
  return to;
}


uint32_t *merge_needed (Merge *m, const Nodes *nodes, const uint32_t *kept) {
  uint32_t *to = memory_newzeroed(m->memory, uint32_t, nodes->count), i;
  for (i = nodes->count; i-- > 0; ) {
    if (i <= NODE_OVERHEAD || kept[i]) to[i] = 1;
    if (to[i]) to[nodes->list[i].parent] = 1;
  }
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *from = &nodes->list[i];
    if (!to[i]) continue;
    to[i] = merge_enter(m, i > 0 ? to[from->parent] : 0, from->func,
                        from->call_line);
    merge_node(m, to[i])->ways = from->ways;
    merge_node(m, to[i])->depth = from->depth;
  }
  return to;
}

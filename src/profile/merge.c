/*
** See merge.h
*/

#include "profile/merge.h"

#include <string.h>


#define MERGE_SHIFT	10

typedef struct MergeNode {
  ProfileNode node;	/* its 'parent' is an id in the Merge; the root's: 0 */
  uint32_t next;	/* in the bucket of the index */
} MergeNode;


static MergeNode *merge_at (const Merge *m, uint32_t id) {
  return cast(MergeNode *, chunks_at(&m->nodes, id));
}


static uint32_t merge_hash (uint32_t parent, uint32_t func, uint32_t line) {
  return index_mix((uint64_t)parent << 32 | func) ^ line * 0x9E3779B1u;
}


static uint32_t merge_hashof (const void *item) {
  const ProfileNode *n = &((const MergeNode *)item)->node;
  return merge_hash(n->parent, n->func, n->call_line);
}


int merge_init (Merge *m, const Memory *memory) {
  m->memory = memory;
  chunks_init(&m->nodes, memory, sizeof(MergeNode), MERGE_SHIFT);
  chunks_init(&m->allocated, memory, sizeof(NodeMemory), MERGE_SHIFT);
  index_init(&m->index, &m->nodes, offsetof(MergeNode, next), merge_hashof);
  return chunks_add(&m->nodes) != NULL;
}


void merge_free (Merge *m) {
  if (m->memory == NULL) return;
  index_free(&m->index);
  chunks_free(&m->nodes);
  chunks_free(&m->allocated);
  m->memory = NULL;
}


ProfileNode *merge_node (const Merge *m, uint32_t id) {
  return &merge_at(m, id)->node;
}


uint32_t merge_enter (Merge *m, uint32_t parent, uint32_t func,
                      uint32_t line) {
  uint32_t id = index_first(&m->index, merge_hash(parent, func, line));
  ProfileNode *n;
  for (; id != 0; id = merge_at(m, id)->next) {
    n = merge_node(m, id);
    if (n->parent == parent && n->func == func && n->call_line == line)
      return id;
  }
  if (chunks_add(&m->nodes) == NULL ||
      (m->allocated.count > 0 && chunks_add(&m->allocated) == NULL))
    return 0;
  n = merge_node(m, m->nodes.count - 1);
  n->parent = parent;
  n->func = func;
  n->call_line = line;
  return index_last(&m->index) ? m->nodes.count - 1 : 0;
}


void merge_figures (ProfileNode *n, const ProfileNode *from) {
  n->calls += from->calls;
  n->self += from->self;
  n->raw += from->raw;
  n->wait += from->wait;
  n->tails += from->tails;
  n->ways |= from->ways;
  if (from->depth > n->depth) n->depth = from->depth;
}


static NodeMemory *merge_memory (const Merge *m, uint32_t id) {
  return cast(NodeMemory *, chunks_at(&m->allocated, id));
}


int merge_counts (Merge *m, const Nodes *nodes) {
  if (nodes->memory == NULL) return 1;
  while (m->allocated.count < m->nodes.count)
    if (chunks_add(&m->allocated) == NULL) return 0;
  return 1;
}


void merge_allocated (const Merge *m, uint32_t id, const Nodes *nodes,
                      uint32_t from) {
  if (nodes->memory != NULL)
    nodes_allocated(merge_memory(m, id), &nodes->memory[from]);
}


/* The line of a call, moved to the caller's place in the sum; 0: unknown. */
static uint32_t merge_line (uint32_t line, int32_t shift) {
  int64_t moved = (int64_t)line + shift;
  return line != 0 && moved > 0 && moved < INT32_MAX ? (uint32_t)moved : line;
}


/* Enters node 'i' of a tree. All roots are one, whatever their names. */
static uint32_t merge_place (Merge *m, uint32_t i, uint32_t caller,
                             uint32_t func, uint32_t line) {
  if (i == 0 && m->nodes.count > 1) return 1;
  return merge_enter(m, caller, func, line);
}


int merge_enterall (Merge *m, const Nodes *nodes,
                    const MergeFunction *function, MergePlace *to) {
  uint32_t i;
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *from = &nodes->list[i];
    const MergeFunction *f = &function[from->func];
    MergePlace caller = {0, 0};
    if (i > 0) caller = to[from->parent];
    to[i].id = merge_place(m, i, caller.id, f->func,
                           merge_line(from->call_line, caller.shift));
    to[i].shift = f->shift == MERGE_ZONE ? caller.shift : f->shift;
    if (to[i].id == 0) return 0;
  }
  return 1;
}


int merge_add (Merge *m, const Nodes *nodes, const MergeFunction *function,
               MergePlace *to) {
  uint32_t i;
  if (!merge_counts(m, nodes) || !merge_enterall(m, nodes, function, to))
    return 0;
  for (i = 0; i < nodes->count; i++) {
    merge_figures(merge_node(m, to[i].id), &nodes->list[i]);
    merge_allocated(m, to[i].id, nodes, i);
  }
  return 1;
}


uint32_t merge_count (const Merge *m) {
  return m->nodes.count - 1;
}


void merge_copy (const Merge *m, ProfileNode *list, NodeMemory *memory) {
  uint32_t i;
  for (i = 1; i < m->nodes.count; i++) {
    list[i - 1] = *merge_node(m, i);
    if (memory != NULL) memory[i - 1] = *merge_memory(m, i);
    if (i > 1) list[i - 1].parent--;
  }
}

/*
** See merge.h
*/

#include "merge.h"

#include <string.h>

#include "index.h"


void merge_init (Merge *m, const Memory *memory) {
  memset(m, 0, sizeof *m);
  m->memory = memory;
}


void merge_free (Merge *m) {
  memory_free(m->memory, m->list, m->capacity * sizeof *m->list);
  memory_free(m->memory, m->bucket, m->buckets * sizeof *m->bucket);
  merge_init(m, m->memory);
}


static uint32_t merge_hash (uint32_t parent, uint32_t func, uint32_t line) {
  return index_mix((uint64_t)parent << 32 | func) ^ line * 0x9E3779B1u;
}


static void merge_enter (Merge *m, uint32_t node) {
  const ProfileNode *n = &m->list[node];
  uint32_t b = merge_hash(n->parent, n->func, n->call_line);
  while (m->bucket[b & (m->buckets - 1)] != 0) b++;
  m->bucket[b & (m->buckets - 1)] = node + 1;
}


static int merge_rehash (Merge *m) {
  uint32_t wanted = m->buckets ? m->buckets * 2 : 1024, i;
  uint32_t *bucket = memory_new(m->memory, uint32_t, wanted);
  if (bucket == NULL) return 0;
  memset(bucket, 0, wanted * sizeof *bucket);
  memory_free(m->memory, m->bucket, m->buckets * sizeof *m->bucket);
  m->bucket = bucket;
  m->buckets = wanted;
  for (i = 0; i < m->count; i++) merge_enter(m, i);
  return 1;
}


/* NULL: there is none */
static ProfileNode *merge_find (const Merge *m, uint32_t parent,
                                uint32_t func, uint32_t line) {
  uint32_t b = merge_hash(parent, func, line);
  for (;; b++) {
    uint32_t i = m->bucket[b & (m->buckets - 1)];
    ProfileNode *n;
    if (i == 0) return NULL;
    n = &m->list[i - 1];
    if (n->parent == parent && n->func == func && n->call_line == line)
      return n;
  }
}


/* found or made; NULL: out of memory */
static ProfileNode *merge_node (Merge *m, uint32_t parent, uint32_t func,
                                uint32_t line) {
  void *array = m->list;
  ProfileNode *n;
  if (m->count * 2 >= m->buckets && !merge_rehash(m)) return NULL;
  n = merge_find(m, parent, func, line);
  if (n != NULL) return n;
  if (!memory_grow(m->memory, &array, &m->capacity, m->count, sizeof *n))
    return NULL;
  m->list = cast(ProfileNode *, array);
  n = &m->list[m->count];
  memset(n, 0, sizeof *n);
  n->parent = parent;
  n->func = func;
  n->call_line = line;
  merge_enter(m, m->count++);
  return n;
}


int merge_add (Merge *m, const Nodes *nodes, const uint32_t *func,
               uint32_t *to) {
  uint32_t i;
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *from = &nodes->list[i];
    /* all roots are one; no other node is its own parent */
    ProfileNode *n = merge_node(m, i == 0 ? 0 : to[from->parent],
                                func[from->func], from->call_line);
    if (n == NULL) return 0;
    to[i] = (uint32_t)(n - m->list);
    n->calls += from->calls;
    n->self += from->self;
    n->raw = n->self;  /* costs differ from run to run */
    if (from->depth > n->depth) n->depth = from->depth;
  }
  return 1;
}

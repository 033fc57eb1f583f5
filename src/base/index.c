/*
** See index.h
*/

#include "base/index.h"

#include <string.h>


#define BUCKETS_FIRST	64


void index_init (Index *x, Chunks *items, size_t next,
                 uint32_t (*hash) (const void *item)) {
  memset(x, 0, sizeof *x);
  x->items = items;
  x->next = next;
  x->hash = hash;
}


void index_key (Index *x, Chunks *items, size_t next, size_t key,
                size_t size) {
  index_init(x, items, next, NULL);
  x->key = key;
  x->size = size;
}


void index_free (Index *x) {
  if (x->bucket == NULL) return;
  memory_free(x->items->memory, x->bucket,
              x->buckets * sizeof *x->bucket);
  x->bucket = NULL;
  x->buckets = 0;
}


void chunkset_init (ChunkSet *s, const Memory *m, const Pages *pages) {
  s->memory = m;
  s->pages = pages;
  s->first = NULL;
  s->indexes = NULL;
}


void chunkset_add (ChunkSet *s, Chunks *c, size_t size, unsigned shift,
                   unsigned kind) {
  chunks_init(c, s->memory, size, shift);
  if (s->pages != NULL && kind != 0) c->pages = &s->pages[kind];
  c->next = s->first;
  s->first = c;
}


void chunkset_index (ChunkSet *s, Index *x) {
  x->nextindex = s->indexes;
  s->indexes = x;
}


void chunkset_clear (const ChunkSet *s) {
  Chunks *c;
  Index *x;
  for (c = s->first; c != NULL; c = c->next) chunks_clear(c);
  for (x = s->indexes; x != NULL; x = x->nextindex) index_all(x);
}


void chunkset_free (const ChunkSet *s) {
  Chunks *c;
  Index *x;
  for (x = s->indexes; x != NULL; x = x->nextindex) index_free(x);
  for (c = s->first; c != NULL; c = c->next) chunks_free(c);
}


static char *index_item (const Index *x, uint32_t id) {
  return cast(char *, chunks_at(x->items, id));
}


static uint32_t index_nextof (const Index *x, uint32_t id) {
  uint32_t next;
  memcpy(&next, index_item(x, id) + x->next, sizeof next);
  return next;
}


static void index_setnext (const Index *x, uint32_t id, uint32_t next) {
  memcpy(index_item(x, id) + x->next, &next, sizeof next);
}


static uint32_t index_hash (const Index *x, const char *key) {
  uint64_t hash = 0;
  size_t i;
  for (i = 0; i < x->size; i += sizeof(uint32_t)) {
    uint32_t word;
    memcpy(&word, key + i, sizeof word);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return (uint32_t)hash;
}


/* Compares words: a call of memcmp takes longer than all of this. */
static int index_is (const Index *x, uint32_t id, const char *key) {
  const char *own = index_item(x, id) + x->key;
  size_t i;
  for (i = 0; i < x->size; i += sizeof(uint32_t)) {
    uint32_t a, b;
    memcpy(&a, own + i, sizeof a);
    memcpy(&b, key + i, sizeof b);
    if (a != b) return 0;
  }
  return 1;
}


uint32_t index_find (const Index *x, const void *key) {
  const char *k = cast(const char *, key);
  uint32_t id = index_first(x, index_hash(x, k));
  while (id != 0 && !index_is(x, id, k)) id = index_nextof(x, id);
  return id;
}


static uint32_t *index_bucket (const Index *x, uint32_t id) {
  const char *item = index_item(x, id);
  uint32_t hash = x->hash ? x->hash(item) : index_hash(x, item + x->key);
  return &x->bucket[hash & (x->buckets - 1)];
}


void index_enter (Index *x, uint32_t id) {
  uint32_t *first = index_bucket(x, id);
  index_setnext(x, id, *first);
  *first = id;
}


void index_remove (Index *x, uint32_t id) {
  uint32_t *first = index_bucket(x, id), at = *first;
  if (at == id) {
    *first = index_nextof(x, id);
    return;
  }
  while (index_nextof(x, at) != id) at = index_nextof(x, at);
  index_setnext(x, at, index_nextof(x, id));
}


void index_all (Index *x) {
  uint32_t id;
  if (x->buckets == 0) return;
  memset(x->bucket, 0, x->buckets * sizeof *x->bucket);
  for (id = 1; id < x->items->count; id++) index_enter(x, id);
}


static int index_grow (Index *x) {
  uint32_t wanted = x->buckets ? x->buckets * 2 : BUCKETS_FIRST;
  return memory_room(x->items->memory, &x->bucket, &x->buckets, wanted,
                     sizeof *x->bucket);
}


int index_last (Index *x) {
  uint32_t id = x->items->count - 1;
  if (id < x->buckets) index_enter(x, id);
  else if (index_grow(x)) index_all(x);
  else {
    x->items->count--;
    return 0;
  }
  return 1;
}

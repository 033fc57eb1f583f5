/*
** See index.h
*/

#include "index.h"

#include <string.h>


#define INDEX_FIRST	64	/* buckets */


void index_init (Index *x, Chunks *items, size_t next,
                 uint32_t (*hash) (const void *item)) {
  memset(x, 0, sizeof *x);
  x->items = items;
  x->next = next;
  x->hash = hash;
}


void index_free (Index *x) {
  if (x->bucket == NULL) return;
  memory_free(x->items->memory, x->bucket,
              x->buckets * sizeof *x->bucket);
  x->bucket = NULL;
  x->buckets = 0;
}


static void index_link (Index *x, uint32_t id) {
  char *item = cast(char *, chunks_at(x->items, id));
  uint32_t *first = &x->bucket[x->hash(item) & (x->buckets - 1)];
  memcpy(item + x->next, first, sizeof id);
  *first = id;
}


void index_all (Index *x) {
  uint32_t id;
  memset(x->bucket, 0, x->buckets * sizeof *x->bucket);
  for (id = 1; id < x->items->count; id++) index_link(x, id);
}


static int index_grow (Index *x) {
  uint32_t wanted = x->buckets ? x->buckets * 2 : INDEX_FIRST;
  uint32_t *bucket = cast(uint32_t *, memory_resize(x->items->memory, x->bucket,
    x->buckets * sizeof *bucket, wanted * sizeof *bucket));
  if (bucket == NULL) return 0;
  x->bucket = bucket;
  x->buckets = wanted;
  index_all(x);
  return 1;
}


int index_last (Index *x) {
  uint32_t id = x->items->count - 1;
  if (id < x->buckets) index_link(x, id);
  else if (!index_grow(x)) {
    x->items->count--;
    return 0;
  }
  return 1;
}

/*
** See chunks.h
*/

#include "base/chunks.h"

#include <string.h>


/* Items of this size, or a divisor of it, do not straddle cache lines. */
#define CACHE_LINE	64


void chunks_init (Chunks *c, const Memory *m, size_t size, unsigned shift) {
  memset(c, 0, sizeof *c);
  c->memory = m;
  c->size = size;
  c->shift = shift;
}


static size_t chunk_bytes (const Chunks *c) {
  return (c->size << c->shift) + CACHE_LINE;
}


/*
** The address of the block is kept right before the aligned chunk, so that
** the block can be freed. There is room for it: blocks are aligned to the
** size of a pointer at least.
*/
static char *chunk_new (Chunks *c) {
  char *block, *chunk;
  if (c->pages != NULL)
    return cast(char *, c->pages->get(c->pages, c->chunks,
                                      c->size << c->shift));
  block = cast(char *, memory_resize(c->memory, NULL, 0, chunk_bytes(c)));
  if (block == NULL) return NULL;
  chunk = block + (CACHE_LINE - (uintptr_t)block % CACHE_LINE);
  memcpy(chunk - sizeof block, &block, sizeof block);
  return chunk;
}


static int chunk_add (Chunks *c) {
  char *chunk;
  if (!memory_grow(c->memory, &c->chunk, &c->capacity, c->chunks,
                   sizeof *c->chunk))
    return 0;
  chunk = chunk_new(c);
  if (chunk == NULL) return 0;
  c->chunk[c->chunks++] = chunk;
  return 1;
}


static void chunk_free (Chunks *c, char *chunk) {
  char *block;
  if (c->pages != NULL) return;
  memcpy(&block, chunk - sizeof block, sizeof block);
  memory_free(c->memory, block, chunk_bytes(c));
}


void *chunks_add (Chunks *c) {
  void *item;
  if (c->count == UINT32_MAX) return NULL;
  if (c->count >> c->shift == c->chunks && !chunk_add(c)) return NULL;
  item = chunks_at(c, c->count++);
  return memset(item, 0, c->size);
}


void *chunks_addcopied (Chunks *c, Chunks *copy) {
  void *item;
  do {
    item = chunks_add(c);
    if (item == NULL) return NULL;
    if (copy->pages != NULL && copy->count < c->count &&
        chunks_add(copy) == NULL) {
      c->count--;
      return NULL;
    }
  } while (c->count == 1);
  return item;
}


void chunks_clear (Chunks *c) {
  c->count = 0;
  chunks_publish(c);
}


void chunks_free (Chunks *c) {
  while (c->chunks > 0)
    chunk_free(c, c->chunk[--c->chunks]);
  memory_free(c->memory, c->chunk, c->capacity * sizeof *c->chunk);
  c->chunk = NULL;
  c->capacity = c->count = 0;
}

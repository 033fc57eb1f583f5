/*
** See chunk.h
*/

#include "chunk.h"

#include <string.h>


/* {======================================================
** Memory
** ======================================================= */

void *memory_resize (const Memory *m, void *p, size_t from, size_t to) {
  return m->alloc(m->ud, p, from, to);
}


void memory_free (const Memory *m, void *p, size_t size) {
  if (p) m->alloc(m->ud, p, size, 0);
}


int memory_grow (const Memory *m, void **array, uint32_t *capacity,
                 uint32_t count, size_t size) {
  uint32_t wanted = *capacity ? *capacity * 2 : 8;
  void *p;
  if (count < *capacity) return 1;
  if (wanted <= count) return 0;  /* more than 32 bits can count */
  p = memory_resize(m, *array, *capacity * size, wanted * size);
  if (p == NULL) return 0;
  *array = p;
  *capacity = wanted;
  return 1;
}

/* }====================================================== */


/* {======================================================
** Chunks
** ======================================================= */

void chunks_init (Chunks *c, const Memory *m, size_t size, unsigned shift) {
  memset(c, 0, sizeof *c);
  c->memory = m;
  c->size = size;
  c->shift = shift;
}


/* items of this size or a divisor of it share no line of the cache */
#define CACHELINE	64


static size_t chunkbytes (const Chunks *c) {
  return (c->size << c->shift) + CACHELINE;
}


/*
** The block's own address stands right before the chunk's, to free it.
** There is room: a block is aligned to a pointer at least.
*/
static char *newchunk (Chunks *c) {
  char *block, *chunk;
  if (c->pages != NULL)
    return cast(char *, c->pages->get(c->pages->ud, c->chunks,
                                      c->size << c->shift));
  block = cast(char *, memory_resize(c->memory, NULL, 0, chunkbytes(c)));
  if (block == NULL) return NULL;
  chunk = block + (CACHELINE - (uintptr_t)block % CACHELINE);
  memcpy(chunk - sizeof block, &block, sizeof block);
  return chunk;
}


static int addchunk (Chunks *c) {
  void *array = c->chunk;
  char *chunk;
  if (!memory_grow(c->memory, &array, &c->capacity, c->chunks,
                   sizeof *c->chunk))
    return 0;
  c->chunk = cast(char **, array);
  chunk = newchunk(c);
  if (chunk == NULL) return 0;
  c->chunk[c->chunks++] = chunk;
  return 1;
}


static void freechunk (Chunks *c, char *chunk) {
  char *block;
  if (c->pages != NULL) return;
  memcpy(&block, chunk - sizeof block, sizeof block);
  memory_free(c->memory, block, chunkbytes(c));
}


void *chunks_add (Chunks *c) {
  void *item;
  if (c->count == UINT32_MAX) return NULL;
  if (c->count >> c->shift == c->chunks && !addchunk(c)) return NULL;
  item = chunks_at(c, c->count++);
  return memset(item, 0, c->size);
}


void chunks_clear (Chunks *c) {
  c->count = 0;
  chunks_show(c);
}


void chunks_free (Chunks *c) {
  while (c->chunks > 0)
    freechunk(c, c->chunk[--c->chunks]);
  memory_free(c->memory, c->chunk, c->capacity * sizeof *c->chunk);
  c->chunk = NULL;
  c->capacity = c->count = 0;
}

/* }====================================================== */

/*
** See text.h
*/

#include "base/text.h"

#include <string.h>


#define BYTES_SHIFT	16	/* a string lies within one chunk */
#define STRINGS_SHIFT	8

typedef struct String {
  uint64_t hash;
  uint64_t length;	/* bytes */
  uint32_t at;		/* place of its first byte */
  uint32_t next;	/* next in the bucket */
} String;


/* Multiplies and mixes eight bytes at a time. */
uint64_t text_hash (const char *s, size_t length) {
  const uint64_t k = 0x9E3779B97F4A7C15u;
  uint64_t h = length * k;
  while (length > 0) {
    uint64_t word = 0;
    size_t n = length < 8 ? length : 8;
    memcpy(&word, s, n);
    h = text_mix(h, word);
    s += n;
    length -= n;
  }
  return h * k;
}


static uint32_t text_hashof (const void *item) {
  return (uint32_t)((const String *)item)->hash;
}


int text_init (Text *t, ChunkSet *s) {
  chunkset_add(s, &t->bytes, 1, BYTES_SHIFT, 0);
  chunkset_add(s, &t->strings, sizeof(String), STRINGS_SHIFT, 0);
  index_init(&t->index, &t->strings, offsetof(String, next), text_hashof);
  chunkset_index(s, &t->index);
  return chunks_add(&t->strings) != NULL;  /* the empty string */
}


static String *text_string (const Text *t, uint32_t id) {
  return cast(String *, chunks_at(&t->strings, id));
}


static size_t text_kept (uint64_t length) {
  return length < TEXT_MAX ? (size_t)length : TEXT_MAX;
}


/* Room for 'n' adjacent bytes; UINT32_MAX: out of memory. */
static uint32_t text_reserve (Text *t, size_t n) {
  Chunks *b = &t->bytes;
  uint32_t size = 1u << BYTES_SHIFT;
  uint32_t at = b->count, within = at & (size - 1);
  if (within + n > size) at += size - within;
  if (at >= UINT32_MAX - TEXT_MAX) return UINT32_MAX;
  if (at >> BYTES_SHIFT == b->chunks) {  /* 'chunks_add' makes the chunk */
    b->count = at;
    if (chunks_add(b) == NULL) return UINT32_MAX;
  }
  b->count = at + (uint32_t)n;
  return at;
}


static uint32_t text_insert (Text *t, const char *s, size_t n, uint64_t h) {
  uint32_t at = text_reserve(t, text_kept(n));
  String *x;
  if (at == UINT32_MAX) return TEXT_FAILED;
  x = cast(String *, chunks_add(&t->strings));
  if (x == NULL) return TEXT_FAILED;
  memcpy(chunks_at(&t->bytes, at), s, text_kept(n));
  x->hash = h;
  x->length = n;
  x->at = at;
  return index_last(&t->index) ? t->strings.count - 1 : TEXT_FAILED;
}


static uint32_t text_search (const Text *t, const char *s, size_t length,
                             uint64_t h) {
  uint32_t id = index_first(&t->index, (uint32_t)h);
  for (; id != 0; id = text_string(t, id)->next) {
    const String *x = text_string(t, id);
    if (x->hash == h && x->length == length &&
        memcmp(chunks_at(&t->bytes, x->at), s, text_kept(length)) == 0)
      return id;
  }
  return TEXT_FAILED;
}


uint32_t text_find (const Text *t, const char *s, size_t length) {
  return length == 0 ? 0 : text_search(t, s, length, text_hash(s, length));
}


uint32_t text_add (Text *t, const char *s, size_t length) {
  uint64_t h = text_hash(s, length);
  uint32_t id = length == 0 ? 0 : text_search(t, s, length, h);
  return id != TEXT_FAILED ? id : text_insert(t, s, length, h);
}


uint32_t text_addz (Text *t, const char *s) {
  return text_add(t, s, strlen(s));
}


const char *text_get (const Text *t, uint32_t id, size_t *length) {
  const String *s;
  *length = 0;
  if (id == 0 || id >= t->strings.count) return "";
  s = text_string(t, id);
  *length = text_kept(s->length);
  return cast(const char *, chunks_at(&t->bytes, s->at));
}


int text_like (const Text *t, uint32_t id, const char *s, size_t length) {
  const String *x = text_string(t, id);
  size_t n = length < 128 ? length : 128;
  return x->length == length &&
         memcmp(chunks_at(&t->bytes, x->at), s, n) == 0;
}

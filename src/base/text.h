/*
** Interned strings: each is kept once and known by an id. Id 0 is the
** empty string.
*/

#ifndef text_h
#define text_h

#include "base/chunks.h"
#include "base/index.h"


/*
** Bytes that are kept of longer strings. Their lengths and hashes
** are those of the whole strings.
*/
#define TEXT_MAX	16384

#define TEXT_FAILED	UINT32_MAX

typedef struct Text {
  Chunks bytes;
  Chunks strings;	/* of String */
  Index index;
} Text;

/* 0: out of memory */
CPROF_I int text_init (Text *t, ChunkSet *s);

/* The id of a string; TEXT_FAILED: out of memory. */
CPROF_I uint32_t text_add (Text *t, const char *s, size_t length);
CPROF_I uint32_t text_addz (Text *t, const char *s);

/* The id of a string that was added before; TEXT_FAILED: it was not. */
CPROF_I uint32_t text_find (const Text *t, const char *s, size_t length);

/* The bytes that are kept of a string; there is no zero at their end. */
CPROF_I const char *text_get (const Text *t, uint32_t id, size_t *length);

/*
** Do the length and the first 128 bytes agree? A quick comparison, for
** strings that rarely change.
*/
CPROF_I int text_like (const Text *t, uint32_t id, const char *s,
                       size_t length);

/*
** Mixes eight bytes into a hash. From the same hash, different bytes lead to
** different hashes.
*/
static inline uint64_t text_mix (uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

CPROF_I uint64_t text_hash (const char *s, size_t length);

#endif

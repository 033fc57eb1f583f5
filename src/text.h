/*
** Strings, each kept once and known by an id. Equal strings have equal
** ids. Id 0 is the empty string.
*/

#ifndef text_h
#define text_h

#include "chunk.h"
#include "index.h"


/* longer strings are told apart by all they hold but kept cut to this */
#define TEXT_MAX	16384

typedef struct Text {
  Chunks bytes;
  Chunks strings;	/* of String */
  Index index;
} Text;

/* 0: out of memory */
CPROF_I int text_init (Text *t, const Memory *m);
CPROF_I void text_free (Text *t);

/* the id of a string; UINT32_MAX when out of memory */
CPROF_I uint32_t text_add (Text *t, const char *s, size_t length);
#define TEXT_FAILED	UINT32_MAX

/* the id of a string that was added before; UINT32_MAX when it was not */
CPROF_I uint32_t text_find (const Text *t, const char *s, size_t length);

/* what is kept of a string, not ended by a zero */
CPROF_I const char *text_get (const Text *t, uint32_t id, size_t *length);

/* is it, as far as its length and beginning tell? */
CPROF_I int text_like (const Text *t, uint32_t id, const char *s,
                       size_t length);

CPROF_I uint64_t text_hash (const char *s, size_t length);

#endif

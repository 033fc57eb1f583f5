/*
** The Lua modules of cprof, as texts in a host
*/

#ifndef embed_h
#define embed_h

#include <stddef.h>


typedef struct Embedded {
  const char *name;		/* name of the module */
  const char *chunk;		/* name of its chunk */
  const char *const *piece;	/* pieces of its text, up to NULL */
} Embedded;

#endif

/*
** A Lua module of cprof inside a host
*/

#ifndef embed_h
#define embed_h

#include <stddef.h>


typedef struct Embedded {
  const char *name;		/* of the module */
  const char *chunk;
  const char *const *piece;	/* of its text, up to NULL */
} Embedded;

#endif

/*
** Codes: which prototype has its code at which address. Equal prototypes of
** a chunk (two empty functions on one line) are told apart by their ordinal,
** their order in the chunk. Only the main function of a chunk tells this
** order; prototypes whose main function was not seen get other numbers.
**
** Lua may reuse the address of a collected prototype. So lookups compare
** fingerprint and source, too, and a main function replaces old entries.
*/

#ifndef codes_h
#define codes_h

#include <lua.h>

#include "base/index.h"
#include "base/platform.h"
#include "identity/bytecode.h"


typedef struct Codes {
  Chunks list;		/* its items are of type Code */
  Index byaddress;
} Codes;

/* 0: out of memory */
CPROF_I int codes_init (Codes *c, ChunkSet *s);

/*
** Stores the ordinal of the prototype 'p'. 'source' is the text id of its
** source. 0: out of memory.
*/
CPROF_I int codes_set (Codes *c, uint32_t source, const Prototype *p,
                       uint32_t ordinal);

/* Stores the ordinals of all prototypes of a main function's bytecode. */
CPROF_I int codes_setall (Codes *c, uint32_t source, const Bytecode *b);

/* Finds the ordinal of 'p'. 0: it is not known, '*ordinal' is unchanged. */
CPROF_I int codes_find (const Codes *c, uint32_t source, const Prototype *p,
                        uint32_t *ordinal);


/* {======================================================
** Functions of closures that neither lines nor code identify. A weak table
** in the registry maps each such closure to the id of its function.
** ======================================================= */

/* Makes the table anew. Raises an error when out of memory. */
CPROF_I void closure_init (lua_State *L);

/* The function id of the closure on top of L; 0: none is stored. */
CPROF_I uint32_t closure_get (lua_State *L);

/*
** Stores the function id of the closure on top of L. If that fails (memory,
** C stack), the closure is identified again when it is next seen.
*/
CPROF_I void closure_set (lua_State *L, uint32_t func);

/* }====================================================== */

#endif

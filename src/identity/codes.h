/*
** Codes: which prototype lies at which address. Equal prototypes of a chunk
** (two empty functions on one line) are told apart by their order in it,
** the ordinal. Only the main function of a chunk tells that; prototypes
** whose main function was not seen get numbers of their own.
**
** An address comes back when its prototype was collected, so what lies
** there is compared, and a main function replaces what was known before.
*/

#ifndef codes_h
#define codes_h

#include "base/index.h"
#include "identity/bytecode.h"


typedef struct Codes {
  Chunks list;		/* of Code */
  Index byaddress;
} Codes;

/* 0: out of memory */
CPROF_I int codes_init (Codes *c, const Memory *m);
CPROF_I void codes_free (Codes *c);

/*
** The prototype 'p' of a source, which is named by its text, has this
** ordinal. 0: out of memory.
*/
CPROF_I int codes_set (Codes *c, uint32_t source, const Prototype *p,
                       uint32_t ordinal);

/* Sets the codes of all prototypes of a main function, as numbered. */
CPROF_I int codes_setall (Codes *c, uint32_t source, const Bytecode *b);

/* The ordinal of 'p'; 0: it is not known. */
CPROF_I int codes_find (const Codes *c, uint32_t source, const Prototype *p,
                        uint32_t *ordinal);

#endif

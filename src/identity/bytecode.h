/*
** Bytecode: the prototypes of a chunk or function, nested ones included,
** as 'lua_dump' writes them. Two prototypes are the same when their
** fingerprints are. Where even these agree (two empty functions on one
** line), the addresses of their code tell them apart while the chunk
** lives, see codes.h. A prototype that an edit of the text has moved or
** renamed still has its shape: that is code, constants, upvalues, parameters
** and nested functions, without lines, names and source.
*/

#ifndef bytecode_h
#define bytecode_h

#include "base/memory.h"


#define BYTECODE_INSTRUCTION	4	/* bytes of one */

typedef struct Prototype {
  int line, last;	/* where it is defined; -1: the dump was not read */
  uint64_t fingerprint;	/* hash of all that was compiled */
  uint64_t shape;	/* hash of the code alone; 0: too little to know it by */
  uint32_t layout;	/* hash of the code and of its lines from the first */
  const void *code;	/* its address, or NULL: only ever compared */
  uint32_t size;	/* of the code, in bytes */
  int first, final;	/* lines that its code is on; -1: not known */
  int entry;		/* the line that runs first */
  uint32_t ordinal;	/* its number among equal ones, from 0 ... */
  uint32_t equals;	/* ... and how many these are; by bytecode_number */
  uint32_t func;	/* id of the function, or 0; set by 'source' */
} Prototype;

/* what Lua's line hook has to do for a line; 255 means 255 or more */
typedef struct LineCode {
  uint8_t instructions;	/* on the line */
  uint8_t steps;	/* that Lua walks to find the line's number */
} LineCode;

typedef struct Bytecode {
  Prototype *list;	/* the dumped function first, in order of text */
  uint32_t count;
  uint32_t capacity;
  int marking;		/* are the following fields filled in? */
  uint8_t *active;	/* by line: is there code that can run? */
  uint32_t lines;	/* number of these; room for 'actives' */
  uint32_t actives;
  LineCode *code;	/* of the dumped function, from its first line */
  uint32_t codes;	/* room for these */
  int *places;		/* of the dumped function: line of each instruction,
			   0: not known */
  uint32_t placed;	/* room for these */
} Bytecode;

/*
** Reads the Lua function on top of the stack of L, and leaves the stack as
** it is. A dump of an unknown form gives one prototype with lines -1 and a
** fingerprint of the whole. 0: out of memory.
*/
CPROF_I int bytecode_read (Bytecode *b, const Memory *m, lua_State *L);

/* Numbers equal prototypes in order of text. 0: out of memory. */
CPROF_I int bytecode_number (Bytecode *b, const Memory *m);

/* Marks the active lines of 'from' in 'to', too. 0: out of memory. */
CPROF_I int bytecode_mark (Bytecode *to, const Memory *m,
                           const Bytecode *from);

/*
** Among 'n' prototypes, the one whose code is that of the Lua function on
** top of the stack of L; NULL: there is none. Reads no more of the function
** than it must.
*/
CPROF_I const Prototype *bytecode_match (lua_State *L, const Prototype *list,
                                         uint32_t n);

CPROF_I void bytecode_free (Bytecode *b, const Memory *m);

#endif

/*
** Bytecode: the prototypes of a chunk or function, nested ones included,
** as 'lua_dump' writes them. Two prototypes with different fingerprints are
** different. Two with the same fingerprint (two empty functions on one line)
** are told apart by the addresses of their code while the chunk lives, see
** codes.h. An edit that moves or renames a function does not change its
** shape, a hash of code, constants, upvalues, parameters and nested
** functions, without lines, names and source.
*/

#ifndef bytecode_h
#define bytecode_h

#include "base/memory.h"


#define BYTECODE_INSTRUCTION	4	/* bytes of an instruction */

typedef struct Prototype {
  int line, last;	/* lines of its definition; -1: unknown dump format */
  uint64_t fingerprint;	/* hash of all that was compiled, without the source */
  uint64_t shape;	/* hash without lines and names; 0: too little code */
  uint32_t layout;	/* hash of the code and of lines relative to 'line' */
  const void *code;	/* its address, or NULL; compared, never read through */
  uint32_t size;	/* size of the code in bytes */
  int first, final;	/* first and last line with code; -1: not known */
  int entry;		/* the line that runs first */
  uint32_t ordinal;	/* its number among equal prototypes, from 0, and */
  uint32_t equals;	/* how many these are; bytecode_number sets both */
  uint32_t func;	/* id of the function, or 0; set in function.c */
} Prototype;

/* what Lua's line hook has to do for a line; 255 means 255 or more */
typedef struct LineCode {
  uint8_t instructions;	/* number of instructions on the line */
  uint8_t steps;	/* instructions that Lua walks to find the line */
} LineCode;

typedef struct Bytecode {
  Prototype *list;	/* the dumped function first, in order of text */
  uint32_t count;
  uint32_t capacity;
  int marking;		/* are the following fields filled in? */
  uint8_t *active;	/* by line number: does the line have code? */
  uint32_t lines;	/* length of 'active' */
  uint32_t actives;	/* capacity of 'active' */
  LineCode *code;	/* of the dumped function, from its first line */
  uint32_t codes;	/* capacity of 'code' */
  int *places;		/* of the dumped function: line of each instruction,
			   0: not known */
  uint32_t placed;	/* capacity of 'places' */
} Bytecode;

/*
** Reads the Lua function on top of the stack of L, and leaves the stack as
** it is. A dump of an unknown format gives one prototype with lines -1 and
** a fingerprint of the whole. 0: out of memory.
*/
CPROF_I int bytecode_read (Bytecode *b, const Memory *m, lua_State *L);

/* Numbers equal prototypes in order of text. 0: out of memory. */
CPROF_I int bytecode_number (Bytecode *b, const Memory *m);

/* Adds the active lines of 'from' to those of 'to'. 0: out of memory. */
CPROF_I int bytecode_mark (Bytecode *to, const Memory *m,
                           const Bytecode *from);

/*
** The address and the size, in bytes, of the code of the Lua function on top of
** the stack of L; NULL: unknown. Reads no more of the function than it must.
*/
CPROF_I const void *bytecode_code (lua_State *L, size_t *size);

CPROF_I void bytecode_free (Bytecode *b, const Memory *m);

#endif

/*
** Definitions: the functions that a chunk of Lua code defines, nested
** ones too, as 'lua_dump' tells of them. Two definitions are the same
** when their prints are; where even those agree (two empty functions on
** one line), the addresses of their code tell them apart for as long as
** the chunk lives.
*/

#ifndef definition_h
#define definition_h

#include "chunk.h"


typedef struct Definition {
  int line, last;
  uint64_t print;	/* hash of all that was compiled */
  const void *code;	/* where its code lies, or NULL: only to be compared */
  uint32_t size;	/* of its code, in bytes */
  int first, final;	/* lines that its code is on; -1: not known */
  int entry;		/* the one that runs first */
  uint32_t func;	/* a function that was met, or 0: for the user */
} Definition;

/* what Lua does for a line where lines are counted; 255: that or more */
typedef struct LineCode {
  uint8_t instructions;	/* that the line has */
  uint8_t steps;	/* that it looks at to find the line's number */
} LineCode;

typedef struct Definitions {
  Definition *list;	/* the dumped function first, in order of text */
  uint32_t count;
  uint32_t capacity;
  int marking;		/* is this to be filled in, too? */
  uint8_t *active;	/* by line: is there code that can run? */
  uint32_t lines;	/* of these, which are 'actives' at most */
  uint32_t actives;
  LineCode *code;	/* and this of the dumped function, from its first line */
  uint32_t codes;	/* lines that there is room for */
} Definitions;

/*
** Reads the Lua function on top of the stack of L; leaves the stack as
** it is. Where the dump is of a form not known here, there is one
** definition, with lines -1 and a print of the whole. 0: out of memory.
*/
CPROF_I int definitions_read (Definitions *d, const Memory *m, lua_State *L);

/* marks in 'to' the lines that are marked in 'from'; 0: out of memory */
CPROF_I int definitions_mark (Definitions *to, const Memory *m,
                              const Definitions *from);

/*
** The one of 'n' definitions whose code is that of the Lua function on
** top of the stack of L; NULL when there is none. Much faster than to
** read it.
*/
CPROF_I const Definition *definition_match (lua_State *L,
                                            const Definition *list, uint32_t n);

CPROF_I void definitions_free (Definitions *d, const Memory *m);

#endif

/*
** Sources: what is known about the chunks that functions come from, to
** answer one question: what distinguishes a function of this chunk from
** all others?
**
** The main function of a chunk is called before all its other functions,
** so its bytecode tells what the chunk defines. For chunks that ran before
** recording began, the text is compiled again, in a scratch state. The
** result is trusted as long as it has every function that is met.
*/

#ifndef source_h
#define source_h

#include "identity/bytecode.h"


typedef enum SourceState {
  SOURCE_NEW,		/* nothing is known yet */
  SOURCE_READ,		/* its prototypes were compiled from the text */
  SOURCE_SEEN,		/* its prototypes were read from its main function */
  SOURCE_MIXED		/* not trusted: several chunks have this name, or
			   there is no text that matches */
} SourceState;

typedef struct Source {
  uint32_t text;	/* the name as Lua has it: @file, =name, or the code */
  uint32_t next;	/* in the bucket of its index */
  SourceState state;
  int internal;		/* is it part of the profiler itself? */
  int mains;		/* was a main function seen? */
  int used;		/* were functions identified by it? */
  int lines;		/* are lines counted? -1: not decided yet */
  char *content;	/* the text, where lines are counted; or NULL */
  size_t size;		/* of 'content'; its block is one byte larger */
  int changed;		/* is 'content' not the text that runs? */
  Bytecode code;	/* prototypes in order of text, so lines ascend; if
			   mixed, those of the main function seen last */
  uint32_t *met;	/* hash table that finds prototypes by the address of
			   their code: their index, from 1; 0: free. NULL:
			   'code' is searched */
  uint32_t room;	/* of 'met': a power of 2 */
  uint32_t filled;	/* entries of 'met' that are not 0 */
} Source;

/* what identifies a function of a source */
typedef enum SourceKey {
  KEY_LINES,		/* the lines of its definition */
  KEY_CODE,		/* the address of its code */
  KEY_CLOSURE,		/* nothing but the closure itself */
  KEY_NOMEMORY
} SourceKey;

/* Begins a source with this name; '*s' is zero, 'text' is the name's id. */
CPROF_I void source_init (Source *s, uint32_t text, const char *source);
CPROF_I void source_free (Source *s, const Memory *m);

/*
** Keeps the text of a source whose lines are counted, and compiles it to
** see whether it is what runs. 0: out of memory.
*/
CPROF_I int source_keep (Source *s, const Memory *m, const lua_Debug *ar);

/*
** Notes that a main function of this source was seen. Takes its bytecode
** '*b', and gives the old one in exchange. 0: out of memory.
*/
CPROF_I int source_main (Source *s, const Memory *m, Bytecode *b);

/*
** What identifies the function of 'ar', whose prototype is 'p'. Always
** KEY_CLOSURE once the source is SOURCE_MIXED, which this may make it. '*own'
** is the prototype of the source that equals 'p', or NULL.
*/
CPROF_I SourceKey source_key (Source *s, const Memory *m, const lua_Debug *ar,
                              const Prototype *p, Prototype **own);

/*
** The id of the function that was met with the same code as the Lua function
** on top of L, which is the one of 'ar'. 0: none was.
*/
CPROF_I uint32_t source_match (const Source *s, lua_State *L,
                               const lua_Debug *ar);

/*
** Is 'p' unique in the source? Answers for sources compiled from the text
** only; 0 for all others.
*/
CPROF_I int source_single (const Source *s, const Prototype *p);

/*
** The number of 'p' among the prototypes on its lines, from 1, in the order
** of the text; 0: it is not known.
*/
CPROF_I uint32_t source_nth (const Source *s, const Prototype *p);

#endif

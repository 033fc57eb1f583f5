/*
** Sources: what is known of the chunks that functions come from, to
** answer one question: what tells a function of this chunk from all
** others?
**
** The main function of a chunk is called before all others of it, so
** when it is seen, its dump tells what the chunk defines. For chunks that
** ran before recording began the text is compiled once more, in a state
** of its own; it is believed as long as the functions that are met are
** found in it.
*/

#ifndef source_h
#define source_h

#include "definition.h"


typedef enum SourceState {
  SOURCE_NEW,		/* nothing is known yet */
  SOURCE_READ,		/* what it defines was read from the text */
  SOURCE_SEEN,		/* the same, from its main function */
  SOURCE_MIXED		/* several chunks have this name, or no text */
} SourceState;

typedef struct Source {
  uint32_t text;	/* as Lua has it: @file, =name, or the code */
  uint32_t next;	/* in the bucket of its index */
  SourceState state;
  int hidden;		/* its functions are the profiler's own */
  int mains;		/* was a main function seen? */
  int used;		/* were functions told by their lines? */
  int lines;		/* are lines counted? -1: not asked yet */
  char *content;	/* its text, if lines are; NULL: there is none */
  size_t size;		/* of that */
  int changed;		/* is that not the text that runs? */
  Definitions defines;	/* in order of text, so that lines ascend; if
			   mixed, what the last main function defines */
} Source;

/* what tells a function from the others of its source */
typedef enum Telling {
  TELLING_LINES,
  TELLING_CODE,		/* the address of its code */
  TELLING_CLOSURE,	/* only a look at the closure */
  TELLING_NOMEMORY
} Telling;

/* a source that is met for the first time */
CPROF_I void source_init (Source *s, uint32_t text, const char *source);
CPROF_I void source_free (Source *s, const Memory *m);

/*
** Lines are counted for this source: its text is kept, and compiled to
** see whether it is what runs. 0: out of memory.
*/
CPROF_I int source_keep (Source *s, const Memory *m, const lua_Debug *ar);

/*
** A main function of this source was seen. Takes what it defines, 'd',
** and leaves other room there. 0: out of memory.
*/
CPROF_I int source_main (Source *s, const Memory *m, Definitions *d);

/*
** What tells the function of 'ar', defined by 'd', from others. If that
** is the closure, it is for the whole source from then on. The definition
** of 'd' among those of the source is '*own', or NULL.
*/
CPROF_I Telling source_telling (Source *s, const Memory *m, const lua_Debug *ar,
                                const Definition *d, Definition **own);

/*
** The function that was met with the definition whose code is that of
** the Lua function on top of L, which is the one of 'ar'; 0: none.
*/
CPROF_I uint32_t source_match (const Source *s, lua_State *L,
                               const lua_Debug *ar);

/* the number of a definition among its equals, after 'source_telling' */
CPROF_I uint32_t source_ordinal (const Source *s, const Definition *d);

#endif

/*
** Sources: what is known of the chunks that functions come from, to
** answer one question: do a source and two lines name one definition, or
** may there be two?
**
** The main function of a chunk is called before all others of it, so
** when it is seen, its dump tells what the chunk defines. Functions of
** chunks that ran before recording began are told by the text instead,
** where it can be had.
*/

#ifndef source_h
#define source_h

#include "definition.h"


typedef enum SourceState {
  SOURCE_UNSEEN,	/* told by the text, if there is one */
  SOURCE_SEEN,		/* one chunk has this name, and its dump was read */
  SOURCE_MIXED		/* several chunks have this name */
} SourceState;

typedef struct Source {
  uint32_t text;	/* as Lua has it: @file, =name, or the code */
  uint32_t next;	/* in the bucket of its index */
  SourceState state;
  int hidden;		/* its functions are the profiler's own */
  int used;		/* functions were told by their lines */
  int scanned;		/* was the text looked at? */
  uint64_t print;	/* of the main function */
  uint8_t *starts;	/* definitions that start on each line */
  uint32_t lines;	/* bytes in 'starts' */
  Definitions twins;	/* those that share both lines with another */
} Source;

void source_init (Source *s, uint32_t text, const char *source);
void source_free (Source *s, const Memory *m);

/*
** A main function of this source was seen, that defines 'd'. True if
** what was told by lines so far is in doubt now. -1: out of memory.
*/
int source_main (Source *s, const Memory *m, const Definitions *d);

/* may several definitions have these two lines? -1: out of memory */
int source_doubtful (Source *s, const Memory *m, const lua_Debug *ar);

/* a seen definition's number among its equals */
uint32_t source_ordinal (const Source *s, const Definition *d);

#endif

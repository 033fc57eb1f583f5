/*
** Lines: what is counted for each line of a function. The counters of a
** function lie together, so that from one line the next is found by its
** number alone.
*/

#ifndef line_h
#define line_h

#include "definition.h"


typedef struct Line {
  uint64_t hits;	/* times that the machine came to this line */
  uint64_t self;	/* ticks there, without callees */
  int32_t line;		/* its number; 0 where no lines are counted */
  unsigned before:24;	/* counters of the function before this one */
  unsigned instructions:8;	/* see LineCode */
  unsigned span:24;	/* counters of the function, less one */
  unsigned steps:8;
  uint32_t counts;	/* events of INSTRUCTIONS of them, of one of these */
} Line;

/*
** In how many instructions there is an event that tells of them. A prime,
** for else a loop could be told of at the same place each time.
*/
#define INSTRUCTIONS	251

typedef struct Lines {
  Line *list;		/* NULL: none are counted */
  uint32_t count;
  uint32_t entry;	/* the one that runs first */
} Lines;

/*
** Counters for the function 'func', from 'p' if it is not NULL; none where
** lines are not known. 'code' is that of this definition. 0: no memory.
*/
CPROF_I int lines_init (Lines *l, const Memory *m, const Pages *p,
                        uint32_t func, const Definition *d,
                        const LineCode *code);
CPROF_I void lines_free (Lines *l, const Memory *m);
CPROF_I void lines_clear (Lines *l);

/* what counts where nothing is to be counted */
CPROF_I void line_nowhere (Line *l);

static inline LineCode line_code (const Line *l) {
  LineCode c;
  c.instructions = l->instructions;
  c.steps = l->steps;
  return c;
}

/* the counter of 'line' in the same function; NULL: it has none */
static inline Line *line_go (Line *from, int line) {
  uint32_t at = from->before + (uint32_t)line - (uint32_t)from->line;
  return at <= from->span ? from + ((int32_t)at - (int32_t)from->before)
                          : NULL;
}

#endif

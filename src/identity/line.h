/*
** Lines: counters for each line of a function. Those of a function lie
** together, so that from one line any other is found by its number.
*/

#ifndef line_h
#define line_h

#include "base/chunks.h"
#include "identity/bytecode.h"


typedef struct Line {
  uint64_t hits;	/* line events */
  uint64_t self;	/* ticks on the line, without callees */
  int32_t line;		/* its number; 0: the counter is not a real line's */
  unsigned before:24;	/* counters of the function before this one */
  unsigned instructions:8;	/* see LineCode */
  unsigned span:24;	/* counters of the function, less one */
  unsigned steps:8;	/* see LineCode */
  uint32_t counts;	/* count events on the line */
} Line;

/*
** There is a count event for every so many instructions, to know how many
** run on each line. A prime: a loop must not always be met at one place.
*/
#define COUNT_INTERVAL	251

/* what was allocated on a line, or elsewhere */
typedef struct Allocated {
  uint64_t count;	/* new blocks, and blocks that grew */
  uint64_t bytes;	/* of the first, and by which the others grew */
} Allocated;

static inline void allocated_add (Allocated *to, uint64_t count,
                                  uint64_t bytes) {
  to->count += count;
  to->bytes += bytes;
}

/* the same of a line, and what of it is in use, see live.h */
typedef struct LineAllocated {
  Allocated all;
  int64_t live_bytes;
} LineAllocated;

typedef struct Lines {
  Line *list;		/* NULL: lines of this function are not counted */
  uint32_t count;
  uint32_t entry;	/* index of the line that runs first */
  int memory;		/* does a LineAllocated of each follow the list? */
} Lines;

/* That of a line whose function has them: behind all lines. */
static inline LineAllocated *line_allocated (Line *line) {
  Line *end = line + (int32_t)(line->span - line->before) + 1;
  return (LineAllocated *)(void *)end + line->before;
}

static inline size_t lines_size (uint32_t count, int memory) {
  return count * (sizeof(Line) + (memory ? sizeof(LineAllocated) : 0));
}

/*
** Makes counters for function 'func', in 'p' unless that is NULL; none if
** its lines are not known. 'code' belongs to 'proto', 'memory' asks for
** counters of what is allocated, too. 0: out of memory.
*/
CPROF_I int lines_init (Lines *l, const Memory *m, const Pages *p,
                        uint32_t func, const Prototype *proto,
                        const LineCode *code, int memory);
CPROF_I void lines_free (Lines *l, const Memory *m);

/* What was allocated on line 'index'; NULL: that was not counted. */
static inline LineAllocated *lines_allocated (const Lines *l,
                                              uint32_t index) {
  if (!l->memory) return NULL;
  return (LineAllocated *)(void *)(l->list + l->count) + index;
}

/* Puts the same counters, of zero, into 'p'. 0: out of memory. */
CPROF_I int lines_move (Lines *l, const Pages *p, uint32_t func);
CPROF_I void lines_clear (Lines *l);

/* The counter of 'line' in the same function; NULL: it has none. */
static inline Line *line_go (Line *from, int line) {
  int32_t way = (int32_t)((uint32_t)line - (uint32_t)from->line);
  return from->before + (uint32_t)way <= from->span ? from + way : NULL;
}

#endif

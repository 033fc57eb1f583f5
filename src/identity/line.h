/*
** Lines: counters for each line of a function. The counters of a function
** lie together: any one leads to any other by the line's number.
*/

#ifndef line_h
#define line_h

#include "base/chunks.h"
#include "identity/bytecode.h"


typedef struct Line {
  uint64_t hits;	/* line events */
  uint64_t self;	/* ticks on the line, without callees */
  int32_t line;		/* its number; 0: not a real line */
  uint32_t counts;	/* count events on the line */
  uint8_t instructions, steps;	/* see LineCode */
  uint8_t unused[6];
} Line;

/*
** Instructions from one count event to the next; these events estimate how
** many instructions run on each line. A prime, so that a loop is not always
** met at the same place.
*/
#define COUNT_INTERVAL	251

/* what was allocated on a line, or anywhere else */
typedef struct Allocated {
  uint64_t count;	/* new blocks, and blocks that grew */
  uint64_t bytes;	/* size of new blocks, growth of the others */
} Allocated;

static inline void allocated_add (Allocated *to, uint64_t count,
                                  uint64_t bytes) {
  to->count += count;
  to->bytes += bytes;
}

/* what a line has allocated, and how much is still in use, see live.h */
typedef struct LineAllocated {
  Allocated all;
  int64_t live_bytes;
} LineAllocated;

/*
** The counters of a function. 'list' may lie in a file that another process
** may overwrite; this structure is always in memory.
*/
typedef struct Lines {
  Line *list;		/* NULL: lines of this function are not counted */
  uint32_t count;
  uint32_t entry;	/* index of the line that runs first */
  int32_t first;	/* number of the first line; 0: only 'list' tells it */
  int memory;		/* do as many LineAllocated follow the list? */
  uint64_t shape;	/* hash of line numbers and LineCodes */
} Lines;

/* a counter, and the counters of its function */
typedef struct LineAt {
  Line *at;
  const Lines *of;
} LineAt;

/* The number of a line. */
static inline uint32_t line_number (LineAt line) {
  return (uint32_t)(line.of->first + (int32_t)(line.at - line.of->list));
}

/* What 'line' has allocated; its function must have 'memory' set. */
static inline LineAllocated *line_allocated (LineAt line) {
  Line *end = line.of->list + line.of->count;
  return (LineAllocated *)(void *)end + (line.at - line.of->list);
}

static inline size_t lines_size (uint32_t count, int memory) {
  return count * (sizeof(Line) + (memory ? sizeof(LineAllocated) : 0));
}

/*
** Makes counters for function 'func', in 'p' unless that is NULL; none if
** its lines are not known. 'code' belongs to 'proto'. With 'memory',
** allocations have counters, too. 0: out of memory.
*/
CPROF_I int lines_init (Lines *l, const Memory *m, const Pages *p,
                        uint32_t func, const Prototype *proto,
                        const LineCode *code, int memory);
CPROF_I void lines_free (Lines *l, const Memory *m);

/* What was allocated on line 'index'; NULL: it is not counted. */
static inline LineAllocated *lines_allocated (const Lines *l,
                                              uint32_t index) {
  if (!l->memory) return NULL;
  return (LineAllocated *)(void *)(l->list + l->count) + index;
}

/* Are line numbers and LineCodes unchanged? */
CPROF_I int lines_intact (const Lines *l);

/* Continues with new counters of these lines in 'p', all zero. 0: no memory. */
CPROF_I int lines_move (Lines *l, const Pages *p, uint32_t func);
CPROF_I void lines_clear (Lines *l);

/* The counter of line number 'line'; NULL: there is none. */
static inline Line *lines_go (const Lines *l, int line) {
  uint32_t i = (uint32_t)line - (uint32_t)l->first;
  return i < l->count ? l->list + i : NULL;
}


/* {======================================================
** Instructions: counters for each instruction of a function. Each also has
** the instruction's code and line, so that no source text is needed.
** ======================================================= */

/*
** In mode sample, 'count' is the number of samples that were noticed before
** the instruction ran, and next[0] is their ticks; next[1] and next[2] are
** the samples, and their ticks, that were noticed while it called or
** returned.
**
** Some instructions also do the work of the next one, which Lua's hook then
** does not see: the jump after a test, the call and the loop back of a
** generic 'for'. 'next' counts where the function went on, so that such
** instructions can be counted, too.
*/
typedef struct Instruction {
  uint64_t count;	/* times that the hook saw it run */
  uint64_t next[3];	/* times that the hook next saw the following one,
			   the one after that, or any other */
  uint32_t code;	/* as Lua encodes it */
  int32_t line;		/* 0: not known */
} Instruction;

/*
** What was allocated by an instruction. In mode sample, 'before' has the
** samples noticed before it ran, and 'other' those noticed while it called
** or returned. In other modes, 'other' has everything.
*/
typedef struct InstructionAllocated {
  Allocated before, other;
  int64_t live[2];	/* of 'before' and 'other': bytes in use, see live.h */
} InstructionAllocated;

typedef struct Instructions {
  Instruction *list;	/* NULL: this function has no such counters; list[0]
			   stands for the time before the function's first
			   instruction, so its 'next' are the calls */
  uint32_t count;	/* items in 'list': one more than the code has
			   instructions */
  int memory;		/* do as many InstructionAllocated follow? */
  uint64_t shape;	/* hash of 'code' and 'line' of all instructions */
} Instructions;

static inline size_t instructions_size (uint32_t count, int memory) {
  return count * (sizeof(Instruction) +
                  (memory ? sizeof(InstructionAllocated) : 0));
}

/* What instruction 'at' has allocated; NULL: it is not counted. */
static inline InstructionAllocated *instructions_allocated
                                    (const Instructions *x, uint32_t at) {
  if (!x->memory || x->list == NULL) return NULL;
  return (InstructionAllocated *)(void *)(x->list + x->count) + at;
}

/*
** Makes counters for the 'n' instructions at 'code', in 'p' unless that is
** NULL; with 'memory', allocations have counters, too. 0: out of memory.
*/
CPROF_I int instructions_init (Instructions *x, const Memory *m,
                               const Pages *p, uint32_t func,
                               const void *code, const int *lines,
                               uint32_t n, int memory);
CPROF_I void instructions_free (Instructions *x, const Memory *m);

/* Are 'code' and 'line' of all instructions unchanged? */
CPROF_I int instructions_intact (const Instructions *x);

/* Continues with new counters of this code in 'p', all zero. 0: no memory. */
CPROF_I int instructions_move (Instructions *x, const Pages *p,
                               uint32_t func);
CPROF_I void instructions_clear (Instructions *x);

/* The sum of all 'count'. */
CPROF_I uint64_t instructions_sum (const Instructions *x);

/* }====================================================== */

#endif

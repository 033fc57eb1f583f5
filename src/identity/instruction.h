/*
** Instructions: counters for each instruction of a function. Each also has
** the instruction's code and line, so that no source text is needed.
*/

#ifndef instruction_h
#define instruction_h

#include "base/chunks.h"
#include "identity/line.h"


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
  uint32_t count;	/* of 'list': one more than the code has */
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

/* Goes on with counters of zero for this code in 'p'. 0: out of memory. */
CPROF_I int instructions_move (Instructions *x, const Pages *p,
                               uint32_t func);
CPROF_I void instructions_clear (Instructions *x);

/* The sum of all 'count'. */
CPROF_I uint64_t instructions_sum (const Instructions *x);

#endif

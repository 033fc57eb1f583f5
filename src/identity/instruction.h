/*
** Instructions: counters for each instruction of a function, with the code
** and the line that they are about, so that they mean something without
** the text.
*/

#ifndef instruction_h
#define instruction_h

#include "base/chunks.h"
#include "identity/line.h"


/*
** In mode sample, 'count' are samples that were noticed before it ran, and
** next[0] their ticks; next[1] are samples, and next[2] their ticks, while
** it called or returned.
**
** Lua's hook sees no instruction that the one before it does the work of:
** the jump behind a test, the call and the end of a round of a generic
** 'for'. So it is also counted where the function went on.
*/
typedef struct Instruction {
  uint64_t count;	/* times that it ran */
  uint64_t next[3];	/* times that the next one seen was the one behind
			   it, the one after that, or any other */
  uint32_t code;	/* as Lua encodes it */
  int32_t line;		/* 0: not known */
} Instruction;

/*
** What was allocated by an instruction. In mode sample, 'before' are samples
** that were noticed before it ran, 'other' while it called or returned; else,
** 'other' is all.
*/
typedef struct InstructionAllocated {
  Allocated before, other;
  int64_t live[2];	/* bytes of each that are in use, see live.h */
} InstructionAllocated;

typedef struct Instructions {
  Instruction *list;	/* NULL: those of this function are not counted; the
			   first one stands for what came before the function
			   was seen, so its 'next' are the calls */
  uint32_t count;	/* one more than the code has */
  int memory;		/* does an InstructionAllocated of each follow? */
  uint64_t shape;	/* hash of what is no counter */
} Instructions;

static inline size_t instructions_size (uint32_t count, int memory) {
  return count * (sizeof(Instruction) +
                  (memory ? sizeof(InstructionAllocated) : 0));
}

/* What instruction 'at' has allocated; NULL: that was not counted. */
static inline InstructionAllocated *instructions_allocated
                                    (const Instructions *x, uint32_t at) {
  if (!x->memory || x->list == NULL) return NULL;
  return (InstructionAllocated *)(void *)(x->list + x->count) + at;
}

/*
** Makes counters for the 'n' instructions at 'code', in 'p' unless that is
** NULL; 'memory' asks for those of what is allocated, too. 0: out of memory.
*/
CPROF_I int instructions_init (Instructions *x, const Memory *m,
                               const Pages *p, uint32_t func,
                               const void *code, const int *lines,
                               uint32_t n, int memory);
CPROF_I void instructions_free (Instructions *x, const Memory *m);

/* Has nobody changed what is no counter? */
CPROF_I int instructions_intact (const Instructions *x);

/* Puts the same counters, of zero, into 'p'. 0: out of memory. */
CPROF_I int instructions_move (Instructions *x, const Pages *p,
                               uint32_t func);
CPROF_I void instructions_clear (Instructions *x);

/* How many ran. */
CPROF_I uint64_t instructions_sum (const Instructions *x);

#endif

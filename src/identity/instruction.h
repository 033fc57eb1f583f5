/*
** Instructions: counters for each instruction of a function, with the code
** and the line that they are about, so that they mean something without
** the text.
*/

#ifndef instruction_h
#define instruction_h

#include "base/chunks.h"


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

typedef struct Instructions {
  Instruction *list;	/* NULL: those of this function are not counted; the
			   first one stands for what came before the function
			   was seen, so its 'next' are the calls */
  uint32_t count;	/* one more than the code has */
} Instructions;

/*
** Makes counters for the 'n' instructions at 'code', in 'p' unless that is
** NULL. 0: out of memory.
*/
CPROF_I int instructions_init (Instructions *x, const Memory *m,
                               const Pages *p, uint32_t func,
                               const void *code, const int *lines,
                               uint32_t n);
CPROF_I void instructions_free (Instructions *x, const Memory *m);

/* Puts the same counters, of zero, into 'p'. 0: out of memory. */
CPROF_I int instructions_move (Instructions *x, const Pages *p,
                               uint32_t func);
CPROF_I void instructions_clear (Instructions *x);

/* How many ran. */
CPROF_I uint64_t instructions_sum (const Instructions *x);

#endif

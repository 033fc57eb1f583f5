/*
** Samples of another process: what a state of Lua runs, from its main thread
** through all coroutines that were resumed.
*/

#ifndef remote_stack_h
#define remote_stack_h

#include "remote/join.h"
#include "remote/known.h"
#include "remote/task.h"

#if PLATFORM_WATCH


#define STACK_DEEP	2000	/* calls that are read; of more, the innermost */
#define STACK_THREADS	256	/* coroutines that have resumed each other */

typedef struct StackCall {
  uint32_t func;	/* id of the function in Known */
  uint32_t at;		/* its instruction, from 1; 0: not known, as in C */
  int marks;		/* marks for join.h */
} StackCall;

typedef struct RemoteStack {
  uint32_t count;	/* 0: nothing runs */
  int cut;		/* are there more calls? */
  uint64_t jump;	/* an address in the C stack of what runs; 0: none */
  StackCall call[STACK_DEEP];	/* innermost first */
  /* how often each register has had the place in the code */
  uint32_t seen[TASK_REGISTERS];
  RemoteThread thread[STACK_THREADS];
} RemoteStack;

/*
** Reads what runs in the state or coroutine at this address. 'r' has the
** registers of the thread that is stopped there; NULL: none is stopped. Returns
** NULL if all fits; else, what does not.
*/
CPROF_I const char *stack_read (RemoteStack *s, RemoteMemory *m,
                                const RemoteLayout *l, Known *k,
                                uint64_t from, const TaskRegisters *r);

/*
** Lua keeps the place in the code of the function on top in a register, and
** writes it to memory only where it may have to be known. It is proved that a
** register has the place if another one has the instruction at this address.
** Without such proof, it is the register that has had an address in the code
** most often, as 'seen' counts. If none has one, a function of Lua's own may
** have saved it in the C stack; but not if the thread is just calling the
** function, or returning to it. 'ci' is its call. Sets '*at' to the
** instruction. 0: it is not known, or registers disagree; '*at' is not set.
*/
CPROF_I int stack_place (RemoteMemory *m, const RemoteProto *p, uint64_t ci,
                         const TaskRegisters *r, uint32_t *seen, int *at);

#endif

#endif

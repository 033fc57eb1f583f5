/*
** A thread of another process, as the system shows it: does it wait, has it
** run meanwhile, and, while it is stopped, its registers.
*/

#ifndef remote_task_h
#define remote_task_h

#include <stddef.h>
#include <stdint.h>

#include "base/timer.h"
#include "remote/memory.h"

#if PLATFORM_WATCH


#define TASK_REGISTERS	64

typedef struct TaskRegisters {
  int count;
  int stack;		/* which one is the stack pointer */
  int code;		/* which one has the place in the machine code */
  int kept;		/* the first one that called functions preserve */
  uint64_t word[TASK_REGISTERS];
} TaskRegisters;

/* Reads the registers of a stopped thread. 0: they cannot be read. */
CPROF_I int task_registers (long thread, TaskRegisters *r);

/*
** The address of the machine instruction at which a thread with these registers
** was stopped; TIMER_SYSTEM: in a system call. The thread's memory may have
** changed since.
*/
CPROF_I uint64_t task_at (RemoteMemory *m, const TaskRegisters *r);

/* Sets them to what a core file has. 0: these are not this machine's. */
CPROF_I int task_saved (TaskRegisters *r, const char *saved, size_t size);

/*
** Is the thread off its processor, to wait in the system? If so, '*stack' is
** its stack pointer, and '*pc' the place in its code. -1: it has ended.
*/
CPROF_I int task_waits (long process, long thread, uint64_t *stack,
                        uint64_t *pc);

#endif

#endif

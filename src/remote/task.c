/*
** See task.h
*/

#define _DEFAULT_SOURCE		/* ptrace */

#include "remote/task.h"

#if PLATFORM_WATCH

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>


#if !defined(PTRACE_GETREGSET)
#define PTRACE_GETREGSET	0x4204
#endif

#define TASK_GENERAL	1	/* NT_PRSTATUS: the general registers */

/*
** how many there are, which is the stack pointer, which has the place in the
** machine code, and the first one that called functions preserve; and the
** instruction that calls the system
*/
#if defined(__x86_64__)
#define TASK_COUNT	27
#define TASK_STACK	19
#define TASK_CODE	16
#define TASK_KEPT	0
static const unsigned char task_call[] = {0x0F, 0x05};
#else
#define TASK_COUNT	34
#define TASK_STACK	31
#define TASK_CODE	32
#define TASK_KEPT	19
static const unsigned char task_call[] = {0x01, 0x00, 0x00, 0xD4};
#endif


static int task_set (TaskRegisters *r, size_t size) {
  r->count = (int)(size / sizeof *r->word);
  r->stack = TASK_STACK;
  r->code = TASK_CODE;
  r->kept = TASK_KEPT;
  return r->count >= TASK_COUNT;
}


int task_registers (long thread, TaskRegisters *r) {
  struct iovec to;
  to.iov_base = r->word;
  to.iov_len = sizeof r->word;
  if (ptrace(PTRACE_GETREGSET, (pid_t)thread, (void *)TASK_GENERAL,
             &to) != 0)
    return 0;
  return task_set(r, to.iov_len);
}


uint64_t task_at (RemoteMemory *m, const TaskRegisters *r) {
  uint64_t at = r->word[r->code];
  unsigned char before[sizeof task_call];
  return remote_copy(m, at - sizeof before, before, sizeof before) &&
         memcmp(before, task_call, sizeof before) == 0 ? TIMER_SYSTEM : at;
}


int task_saved (TaskRegisters *r, const char *saved, size_t size) {
  if (size != TASK_COUNT * sizeof *r->word) return 0;
  memcpy(r->word, saved, size);
  return task_set(r, size);
}


/* Has the thread ended, but for its entry in the list of processes? */
static int task_ended (long process, long thread) {
  char text[512];
  const char *at;
  if (!platform_threadtext(process, thread, "stat", text, sizeof text))
    return 1;
  at = strrchr(text, ')');
  return at != NULL && at[1] == ' ' && (at[2] == 'Z' || at[2] == 'X');
}


int task_waits (long process, long thread, uint64_t *stack,
                uint64_t *pc) {
  char text[256];
  const char *at;
  if (!platform_threadtext(process, thread, "syscall", text, sizeof text))
    return task_ended(process, thread) ? -1 : 0;
  if (strncmp(text, "running", 7) == 0) return 0;
  /* the number of the call, its arguments, stack and instruction pointer; or
     -1 and these two */
  at = strrchr(text, ' ');
  while (at != NULL && at > text && at[-1] != ' ') at--;
  if (at == NULL || sscanf(at, "0x%" SCNx64 " 0x%" SCNx64, stack,
                           pc) != 2)
    return task_ended(process, thread) ? -1 : 0;
  return 1;
}

#endif

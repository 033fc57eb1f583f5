/*
** See interrupted.h
*/

#define _GNU_SOURCE		/* ucontext_t */

#include "base/interrupted.h"

#if !defined(_WIN32)

#include <errno.h>
#include <signal.h>
#include <string.h>

#if PLATFORM_TIMERS
#include <sys/syscall.h>
#endif


/*
** What was interrupted is known by the instruction at which the thread goes on,
** and by the register with the result of a system call. If that instruction
** calls the system, the call begins again. If the instruction before it does,
** and the result is EINTR, the call fails.
*/
#if PLATFORM_INTERRUPTED

#define CODE_PAGE	4096u

/* Are the 'size' bytes before 'code' in the same page, thus readable? */
static int code_samepage (const void *code, size_t size) {
  return (uintptr_t)code % CODE_PAGE >= size;
}


#if defined(__x86_64__)

static void registers_read (const ucontext_t *x, uintptr_t *code,
                            uintptr_t *stack, int64_t *result) {
  *code = (uintptr_t)x->uc_mcontext.gregs[REG_RIP];
  *stack = (uintptr_t)x->uc_mcontext.gregs[REG_RSP];
  *result = (int64_t)x->uc_mcontext.gregs[REG_RAX];
}


/* Does this instruction call the system? */
static int code_calls (const unsigned char *code) {
  return code[0] == 0x0F && code[1] == 0x05;
}

#define CODE_CALL	2	/* bytes of such an instruction */

#else

static void registers_read (const ucontext_t *x, uintptr_t *code,
                            uintptr_t *stack, int64_t *result) {
  *code = (uintptr_t)x->uc_mcontext.pc;
  *stack = (uintptr_t)x->uc_mcontext.sp;
  *result = (int64_t)x->uc_mcontext.regs[0];
}


static int code_calls (const unsigned char *code) {
  uint32_t instruction;
  memcpy(&instruction, code, sizeof instruction);
  return instruction == 0xD4000001u;
}

#define CODE_CALL	4

#endif


Interrupted interrupted_find (const void *context) {
  Interrupted x = {TIMER_RUNS, TIMER_UNKNOWN, 0};
  const unsigned char *code;
  int64_t result;
  int after;
  registers_read(cast(const ucontext_t *, context), &x.at, &x.stack, &result);
  code = (const unsigned char *)x.at;
  after = code_samepage(code, CODE_CALL) && code_calls(code - CODE_CALL);
  if (after && result == -EINTR) x.within = TIMER_ENDS;
  else if (code_calls(code)) x.within = TIMER_WAITS;
  if (after || x.within != TIMER_RUNS) x.at = TIMER_SYSTEM;
  return x;
}

#else

Interrupted interrupted_find (const void *context) {
  Interrupted x = {TIMER_RUNS, TIMER_UNKNOWN, 0};
  (void)context;
  return x;
}

#endif


/*
** The number of a system call is in the instruction before the one that calls
** the system, where the C library has it so. Only calls that wait are known
** here: others may have done something. A call that lets signals in while it
** waits may have ended for one of the program's.
*/
#if !PLATFORM_TIMERS
/* nothing calls it */
#elif defined(__x86_64__) && defined(__LP64__)

#define CODE_NUMBERED	7	/* bytes: 'mov $number, %eax' and 'syscall' */

static int call_waits (long number, const greg_t *registers) {
  const uintptr_t *mask;
  switch (number) {
    case SYS_poll: case SYS_select: case SYS_epoll_wait: case SYS_nanosleep:
    case SYS_clock_nanosleep: case SYS_recvfrom: case SYS_recvmsg:
    case SYS_futex: case SYS_semtimedop:
      return 1;
    case SYS_ppoll: return registers[REG_R10] == 0;
    case SYS_epoll_pwait: return registers[REG_R8] == 0;
    case SYS_pselect6:  /* its mask is behind a pointer */
      mask = (const uintptr_t *)(uintptr_t)registers[REG_R9];
      return mask == NULL || mask[0] == 0;
    default:
      return 0;
  }
}


/* Are there other signals than 'own', for which the call has to fail? */
static int call_hasothers (int own, const ucontext_t *context) {
  sigset_t pending;
  int sig;
  if (sigpending(&pending) != 0) return 1;
  for (sig = 1; sig < TIMER_SIGNALS; sig++)
    if (sig != own && sigismember(&pending, sig) == 1 &&
        sigismember(&context->uc_sigmask, sig) == 0)
      return 1;
  return 0;
}


int interrupted_again (void *context, int sig) {
  ucontext_t *x = cast(ucontext_t *, context);
  greg_t *pc = &x->uc_mcontext.gregs[REG_RIP];
  const unsigned char *code = (const unsigned char *)(uintptr_t)*pc;
  int32_t number;
  if (!code_samepage(code, CODE_NUMBERED + 1) ||
      code[-CODE_NUMBERED] != 0xB8 ||
      code[-CODE_NUMBERED - 1] == 0x41)  /* that is another register */
    return 0;
  memcpy(&number, code - CODE_NUMBERED + 1, sizeof number);
  if (!call_waits(number, x->uc_mcontext.gregs) || call_hasothers(sig, x))
    return 0;
  *pc -= CODE_NUMBERED;
  return 1;
}

#else

int interrupted_again (void *context, int sig) {
  (void)context; (void)sig;
  return 0;
}

#endif

#endif

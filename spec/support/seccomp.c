/*
** Runs a program as a strict host does, whose calls of the system fail:
**
**   seccomp CALL... -- PROGRAM ARGUMENT...
**
** "mapping" are the calls that map a file to be shared. Ends with 77 where
** the system has no such filters, or allows none here.
*/

#define _GNU_SOURCE

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>


static const struct { const char *name; int number; } calls[] = {
  {"timer_create", SYS_timer_create}, {"timer_settime", SYS_timer_settime},
  {"process_vm_readv", SYS_process_vm_readv}, {"mapping", SYS_mmap},
  {"ftruncate", SYS_ftruncate}, {"fallocate", SYS_fallocate},
  {"fcntl", SYS_fcntl}, {"rt_sigaction", SYS_rt_sigaction},
  {"rt_sigprocmask", SYS_rt_sigprocmask},
  {"rt_sigtimedwait", SYS_rt_sigtimedwait}, {"socket", SYS_socket},
  {"prlimit64", SYS_prlimit64}, {"pipe2", SYS_pipe2}, {"munmap", SYS_munmap},
  {"pwrite64", SYS_pwrite64}, {"getcwd", SYS_getcwd}, {"gettid", SYS_gettid},
  {"perf_event_open", SYS_perf_event_open},
  {"sched_setattr", SYS_sched_setattr},
  {"sched_getattr", SYS_sched_getattr}, {"clone", SYS_clone},
#if defined(SYS_clone3)
  {"clone3", SYS_clone3},
#endif
#if defined(SYS_pipe)  /* not on newer machines */
  {"pipe", SYS_pipe},
#endif
};

#define CALLS		(sizeof calls / sizeof *calls)
#define DATA(field)	offsetof(struct seccomp_data, field)
#define LOAD(field)	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, DATA(field))
#define IF(value, y, n)	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, y, n)
#define RETURN(value)	BPF_STMT(BPF_RET | BPF_K, value)

static struct sock_filter filter[3 * CALLS + 16];
static unsigned short length;


static void add (struct sock_filter f) {
  filter[length++] = f;
}


#define ADD(f) \
  do { struct sock_filter one = f; add(one); } while (0)


/* Refuses a call. Expects that the filter has loaded the call's number. */
static void refuse (int number) {
  if (number != SYS_mmap) {
    ADD(IF((unsigned)number, 0, 1));
    ADD(RETURN(SECCOMP_RET_ERRNO | EPERM));
    return;
  }
  ADD(IF((unsigned)number, 0, 5));
  ADD(LOAD(args[3]));  /* flags; the low half comes first */
  ADD(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, MAP_SHARED));
  ADD(IF(MAP_SHARED, 0, 1));
  ADD(RETURN(SECCOMP_RET_ERRNO | EPERM));
  ADD(LOAD(nr));
}


int main (int argc, char **argv) {
  struct sock_fprog program;
  size_t k;
  int i;
  ADD(LOAD(nr));
  for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    for (k = 0; k < CALLS && strcmp(calls[k].name, argv[i]) != 0; k++) ;
    if (k < CALLS && length <= 3 * CALLS) refuse(calls[k].number);
  }
  ADD(RETURN(SECCOMP_RET_ALLOW));
  program.len = length;
  program.filter = filter;
  if (i + 1 >= argc) return 2;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return 77;
  execvp(argv[i + 1], argv + i + 1);
  return 2;
}

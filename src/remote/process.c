/*
** See process.h
*/

#define _DEFAULT_SOURCE		/* syscall, ptrace, readlink, pread */

#include "remote/process.h"

#include "base/files.h"

#if PLATFORM_WATCH

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>


/* ns until a thread has to have stopped, and between two looks at it */
#define PROCESS_PATIENCE	1000000000u
#define PROCESS_PAUSE	1000000
#define PROCESS_LATE	10	/* at the end, it waits as long this often */

#if !defined(__WALL)
#define __WALL	0x40000000
#endif


static int process_read (void *ud, uint64_t at, void *to, size_t size) {
  const RemoteProcess *p = cast(RemoteProcess *, ud);
  return platform_copy(p->id, (const void *)(uintptr_t)at, to, size) == 1;
}


int process_open (RemoteProcess *p, long id) {
  char byte;
  p->id = id;
  p->count = 0;
  p->late = 0;
  p->file = -1;
  p->path = NULL;
  remote_open(&p->memory, process_read, p);
  errno = 0;  /* nothing is at address 0, but the system checks rights first */
  return platform_copy(id, NULL, &byte, 1) >= 0 ? 0
         : errno != 0 ? errno : ENOSYS;
}


/*
** The file of a segment; -1: it cannot be opened. The last one that is not the
** core file stays open: many of its pages are read, one after the other.
*/
static int process_segmentfile (RemoteProcess *p, const RemoteSegment *s) {
  if (s->path == NULL) return p->file;
  if (p->path == NULL || strcmp(p->path, s->path) != 0) {
    if (p->path != NULL && p->other >= 0) files_close(p->other);
    p->path = s->path;
    p->other = files_open(s->path);
  }
  return p->other;
}


/* Reads from the file of a segment. 0: not all can be read. */
static int process_readsegment (RemoteProcess *p, const RemoteSegment *s,
                                uint64_t at, void *to, size_t size) {
  int file = process_segmentfile(p, s);
  return file >= 0 && pread(file, to, size, (off_t)(s->offset +
                            (at - s->from))) == (ssize_t)size;
}


/* The segment that has an address; NULL: none has. */
static const RemoteSegment *process_segment (const RemoteProcess *p,
                                             uint64_t at) {
  size_t i;
  for (i = 0; i < p->segments; i++)
    if (at >= p->segment[i].from && at < p->segment[i].to)
      return &p->segment[i];
  return NULL;
}


static int process_readfile (void *ud, uint64_t at, void *to, size_t size) {
  RemoteProcess *p = cast(RemoteProcess *, ud);
  char *out = cast(char *, to);
  while (size > 0) {
    const RemoteSegment *s = process_segment(p, at);
    size_t n;
    if (s == NULL) return 0;
    n = s->to - at < size ? (size_t)(s->to - at) : size;
    if (!process_readsegment(p, s, at, out, n)) return 0;
    out += n;
    at += n;
    size -= n;
  }
  return 1;
}


int process_openfile (RemoteProcess *p, const char *path,
                      const RemoteSegment *segment, size_t n) {
  p->id = 0;
  p->count = 0;
  p->late = 0;
  p->segment = segment;
  p->segments = n;
  p->path = NULL;
  remote_open(&p->memory, process_readfile, p);
  p->file = files_open(path);
  return p->file >= 0 ? 0 : errno;
}


/*
** Has the thread stopped? 1: yes, and '*sent' is the signal that it was about
** to get, which is not lost. 0: no. -1: it has ended.
*/
static int process_stopped (long thread, int *sent) {
  int status;
  pid_t got = waitpid((pid_t)thread, &status, __WALL | WNOHANG);
  *sent = 0;
  if (got == 0 || (got < 0 && errno == EINTR)) return 0;
  if (got < 0 || !WIFSTOPPED(status)) return -1;
  /* an event of the stop itself is not a signal */
  if (status >> 16 == 0) *sent = WSTOPSIG(status);
  return 1;
}


/*
** Waits until the thread has stopped. The system says so by a signal, which
** is ignored unless it is blocked. Returns as 'process_stopped' does.
*/
static int process_await (long thread, int *sent) {
  uint64_t until = platform_monotonic() + PROCESS_PATIENCE;
  struct timespec pause = ZEROS;
  sigset_t child, before;
  int stopped;
  pause.tv_nsec = PROCESS_PAUSE;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &before);
  while ((stopped = process_stopped(thread, sent)) == 0 &&
         platform_monotonic() < until)
    sigtimedwait(&child, NULL, &pause);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return stopped;
}


int process_stop (RemoteProcess *p, long thread) {
  int stopped, *sent = &p->signals[p->count];
  if (p->count == REMOTE_STOPPED) return EAGAIN;
  if (p->late != 0 && p->late != thread) return EAGAIN;
  if (p->late == 0) {
    if (ptrace(PTRACE_SEIZE, (pid_t)thread, NULL, NULL) != 0) return errno;
    p->late = thread;
    ptrace(PTRACE_INTERRUPT, (pid_t)thread, NULL, NULL);
  }
  stopped = process_await(thread, sent);
  if (stopped == 0) return ETIMEDOUT;
  p->late = 0;
  if (stopped < 0) return ESRCH;
  p->threads[p->count++] = thread;
  remote_forget(&p->memory);
  return 0;
}


/*
** The thread that has not stopped in time goes on as soon as it has. 'wait':
** waits for that, but not for ever.
*/
static void process_golate (RemoteProcess *p, int wait) {
  int sent, stopped;
  if (p->late == 0) return;
  stopped = wait ? process_await(p->late, &sent)
                 : process_stopped(p->late, &sent);
  if (stopped == 0) return;
  if (stopped > 0)
    ptrace(PTRACE_DETACH, (pid_t)p->late, NULL, (void *)(intptr_t)sent);
  p->late = 0;
}


void process_go (RemoteProcess *p) {
  process_golate(p, 0);
  while (p->count > 0) {
    p->count--;
    ptrace(PTRACE_DETACH, (pid_t)p->threads[p->count], NULL,
           (void *)(intptr_t)p->signals[p->count]);
  }
  remote_forget(&p->memory);
}


void process_goall (RemoteProcess *p) {
  int i;
  process_go(p);
  for (i = 0; i < PROCESS_LATE; i++) process_golate(p, 1);
}


void process_close (RemoteProcess *p) {
  process_goall(p);
  if (p->file >= 0) files_close(p->file);
  p->file = -1;
  if (p->path != NULL && p->other >= 0) files_close(p->other);
  p->path = NULL;
}


int process_link (const char *path, char *to, size_t room) {
  ssize_t n = readlink(path, to, room - 1);
  if (n <= 0) return 0;
  to[n] = '\0';
  return 1;
}


static const ProcessCall process_calls[] = {
  {SYS_read, "read", 1}, {SYS_readv, "readv", 1}, {SYS_pread64, "pread", 1},
  {SYS_write, "write", 1}, {SYS_writev, "writev", 1},
  {SYS_ppoll, "poll", 0}, {SYS_pselect6, "select", 0},
  {SYS_epoll_pwait, "epoll_wait", 1},
#if defined(__x86_64__)
  {SYS_poll, "poll", 0}, {SYS_select, "select", 0},
  {SYS_epoll_wait, "epoll_wait", 1}, {SYS_pause, "pause", 0},
  {SYS_open, "open", 0},
#endif
  {SYS_nanosleep, "nanosleep", 0}, {SYS_clock_nanosleep, "nanosleep", 0},
  {SYS_futex, "futex", 0}, {SYS_wait4, "wait", 0}, {SYS_waitid, "wait", 0},
  {SYS_recvfrom, "recv", 1}, {SYS_recvmsg, "recv", 1},
  {SYS_sendto, "send", 1}, {SYS_sendmsg, "send", 1},
  {SYS_accept, "accept", 1}, {SYS_accept4, "accept", 1},
  {SYS_connect, "connect", 1}, {SYS_flock, "flock", 1},
  {SYS_fcntl, "fcntl", 1}, {SYS_fsync, "fsync", 1},
  {SYS_fdatasync, "fdatasync", 1}, {SYS_openat, "open", 0},
  {SYS_rt_sigsuspend, "sigsuspend", 0},
  {SYS_rt_sigtimedwait, "sigtimedwait", 0}, {SYS_semop, "semop", 0},
  {SYS_semtimedop, "semop", 0}
};


const ProcessCall *process_call (long number) {
  size_t i;
  for (i = 0; i < sizeof process_calls / sizeof *process_calls; i++)
    if (process_calls[i].number == number) return &process_calls[i];
  return NULL;
}

#endif

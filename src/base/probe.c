/*
** See probe.h
*/

#define _DEFAULT_SOURCE		/* pipe, read, write, syscall */

#include "base/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/uio.h>
#endif


int probe_open (MemoryProbe *p) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  p->read = ends[0];
  p->write = ends[1];
  p->process = platform_process();
  p->generation = platform_generation();
  return 1;
}


void probe_close (const MemoryProbe *p) {
  close(p->read);
  close(p->write);
}


/* Not so in the child of a fork, which shares the pipe. */
static int probe_isours (const MemoryProbe *p) {
  return p->generation == platform_generation() &&
         p->process == (long)getpid();
}


/*
** Where a process may read itself like another one. That is no use of the
** bytes that valgrind could object to. -1: it may not.
*/
static int probe_self (const MemoryProbe *p, const void *at, void *to,
                       size_t size) {
#if defined(SYS_process_vm_readv)
  struct iovec local, remote;
  long n, process = p->process;
  if (p->generation != platform_generation()) process = (long)getpid();
  local.iov_base = to;
  remote.iov_base = (void *)(uintptr_t)at;
  local.iov_len = remote.iov_len = size;
  n = syscall(SYS_process_vm_readv, process, &local, 1L, &remote, 1L, 0L);
  return n < 0 && errno != EFAULT ? -1 : n == (long)size;
#else
  (void)p; (void)at; (void)to; (void)size;
  return -1;
#endif
}


int probe_copy (const MemoryProbe *p, const void *at, void *to,
                size_t size) {
  int readable;
  if (size > PROBE_MOST) return 0;
  readable = probe_self(p, at, to, size);
  if (readable >= 0) return readable;
  return probe_isours(p) &&
         write(p->write, at, size) == (ssize_t)size &&
         read(p->read, to, size) == (ssize_t)size;
}


int probe_readable (const MemoryProbe *p, const void *at, size_t size) {
  char bytes[PROBE_MOST];
  return probe_copy(p, at, bytes, size);
}

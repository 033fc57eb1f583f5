/*
** See platform.h
*/

#define _DEFAULT_SOURCE		/* MAP_ANONYMOUS, madvise */

#include "platform.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if PLATFORM_TSC && !defined(__aarch64__)
#include <cpuid.h>
#endif


int platform_steady (void) {
#if PLATFORM_TSC && !defined(__aarch64__)
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
#else
  return PLATFORM_TSC;
#endif
}


static uint64_t nanoseconds (clockid_t clock) {
  struct timespec t;
  if (clock_gettime(clock, &t) != 0) return 0;
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}


uint64_t platform_monotonic (void) {
  return nanoseconds(CLOCK_MONOTONIC);
}


uint64_t platform_cpu (void) {
  return nanoseconds(CLOCK_THREAD_CPUTIME_ID);
}


void *platform_newpage (size_t size) {
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
#if defined(MADV_WIPEONFORK)
  (void)madvise(p, size, MADV_WIPEONFORK);  /* kernels before 4.14: no */
#endif
  return p;
}


void platform_freepage (void *page, size_t size) {
  (void)munmap(page, size);
}


int platform_columns (void) {
  struct winsize w;
  if (!isatty(STDOUT_FILENO)) return 0;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col == 0) return 80;
  return w.ws_col;
}


int platform_special (const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

/*
** See sigbus.h
*/

#define _DEFAULT_SOURCE		/* sigaction, SA_ONSTACK, MAP_ANON */

#include "base/sigbus.h"

#if !defined(_WIN32)

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>


/*
** The handler reads the ranges without a lock. That is safe: 'base' is stored
** last and cleared first, and nobody removes a range while it is accessed.
*/
typedef struct SigbusRange {
  char *volatile base;	/* NULL: this entry is free */
  size_t size;
  void (*tell) (void *ud);
  void *ud;
  volatile sig_atomic_t lost;
} SigbusRange;

static SigbusRange sigbus_ranges[SIGBUS_MAX];
static int sigbus_count;
static int sigbus_installed;
static struct sigaction sigbus_before;	/* the handler before ours */


static SigbusRange *sigbus_find (const char *address) {
  int i;
  for (i = 0; i < SIGBUS_MAX; i++) {
    SigbusRange *p = &sigbus_ranges[i];
    const char *base = p->base;
    if (base != NULL && address >= base && address < base + p->size)
      return p;
  }
  return NULL;
}


/* Replaces the page that contains 'at' by an empty one. */
static int sigbus_replace (void *at) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *start = (char *)at - (uintptr_t)at % page;
  return mmap(start, page, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) != MAP_FAILED;
}


/* Calls the program's handler as the system would. */
static void sigbus_call (int signal, siginfo_t *info, void *context) {
  struct sigaction theirs = sigbus_before;
  sigset_t mask;
  if (theirs.sa_flags & (int)SA_RESETHAND) {
    sigbus_before.sa_flags &= ~SA_SIGINFO;
    sigbus_before.sa_handler = SIG_DFL;
  }
  pthread_sigmask(SIG_BLOCK, &theirs.sa_mask, &mask);
  if (theirs.sa_flags & SA_SIGINFO)
    theirs.sa_sigaction(signal, info, context);
  else
    theirs.sa_handler(signal);
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
}


/* For signals that are not about guarded pages: acts as if without cprof. */
static void sigbus_chain (int signal, siginfo_t *info, void *context) {
  if ((sigbus_before.sa_flags & SA_SIGINFO) ||
      (sigbus_before.sa_handler != SIG_DFL &&
       sigbus_before.sa_handler != SIG_IGN))
    sigbus_call(signal, info, context);
  else {  /* a fault recurs by itself, a signal that was sent does not */
    sigaction(signal, &sigbus_before, NULL);
    if (info->si_code <= 0) raise(signal);
  }
}


static void sigbus_handle (int signal, siginfo_t *info, void *context) {
  int error = errno;
  const char *at = cast(const char *, info->si_addr);
  SigbusRange *p = info->si_code > 0 ? sigbus_find(at) : NULL;
  if (p != NULL && sigbus_replace(info->si_addr)) {
    p->lost = 1;
    p->tell(p->ud);
  }
  else
    sigbus_chain(signal, info, context);
  errno = error;
}


static void sigbus_install (void) {
  struct sigaction ours;
  sigemptyset(&ours.sa_mask);
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  ours.sa_sigaction = sigbus_handle;
  sigbus_installed = sigaction(SIGBUS, &ours, &sigbus_before) == 0;
}


/* A handler that the program installed over ours stays. */
static void sigbus_uninstall (void) {
  struct sigaction now;
  if (sigaction(SIGBUS, NULL, &now) != 0) return;
  if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != sigbus_handle)
    return;
  sigaction(SIGBUS, &sigbus_before, NULL);
  sigbus_installed = 0;
}


int sigbus_add (void *base, size_t size, void (*tell) (void *ud), void *ud) {
  int i = 0;
  platform_acquire();
  while (i < SIGBUS_MAX && sigbus_ranges[i].base != NULL) i++;
  if (i < SIGBUS_MAX) {
    sigbus_ranges[i].size = size;
    sigbus_ranges[i].tell = tell;
    sigbus_ranges[i].ud = ud;
    sigbus_ranges[i].lost = 0;
    sigbus_ranges[i].base = cast(char *, base);
    if (sigbus_count++ == 0 && !sigbus_installed) sigbus_install();
  }
  platform_release();
  return i < SIGBUS_MAX ? i : SIGBUS_NONE;
}


void sigbus_remove (int range) {
  if (range == SIGBUS_NONE) return;
  platform_acquire();
  sigbus_ranges[range].base = NULL;
  if (--sigbus_count == 0 && sigbus_installed) sigbus_uninstall();
  platform_release();
}


int sigbus_lost (int range) {
  return range != SIGBUS_NONE && sigbus_ranges[range].lost;
}

#endif

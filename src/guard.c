/*
** See guard.h
*/

#define _DEFAULT_SOURCE		/* sigaction, SA_ONSTACK */

#include "guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>

#include "platform.h"


/*
** The handler reads guard_places without a lock: 'base' is stored last and
** taken away first, and who faults within a file keeps it guard_count.
*/
typedef struct Guarded {
  char *volatile base;	/* NULL: the place is free */
  size_t size;
  void (*tell) (void *ud);
  void *ud;
  volatile sig_atomic_t lost;
} Guarded;

static Guarded guard_places[GUARD_MAX];
static int guard_count;		/* places that are taken */
static int guard_installed;
static struct sigaction guard_before;	/* what was there before ours */
static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;


static Guarded *guard_place (const char *address) {
  int i;
  for (i = 0; i < GUARD_MAX; i++) {
    Guarded *p = &guard_places[i];
    const char *base = p->base;
    if (base != NULL && address >= base && address < base + p->size)
      return p;
  }
  return NULL;
}


/* not ours: what would have happened without us */
static void guard_chain (int signal, siginfo_t *info, void *context) {
  if (guard_before.sa_flags & SA_SIGINFO) {
    guard_before.sa_sigaction(signal, info, context);
  }
  else if (guard_before.sa_handler != SIG_DFL &&
           guard_before.sa_handler != SIG_IGN) {
    guard_before.sa_handler(signal);
  }
  else {  /* a fault comes again by itself */
    sigaction(signal, &guard_before, NULL);
    if (info->si_code <= 0) raise(signal);
  }
}


static void guard_handle (int signal, siginfo_t *info, void *context) {
  int error = errno;
  const char *at = cast(const char *, info->si_addr);
  Guarded *p = info->si_code > 0 ? guard_place(at) : NULL;
  if (p != NULL && platform_replace(info->si_addr)) {
    p->lost = 1;
    p->tell(p->ud);
  }
  else
    guard_chain(signal, info, context);
  errno = error;
}


static void guard_install (void) {
  struct sigaction ours;
  sigemptyset(&ours.sa_mask);
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  ours.sa_sigaction = guard_handle;
  guard_installed = sigaction(SIGBUS, &ours, &guard_before) == 0;
}


/* a handler that the program put over ours since then stays */
static void guard_uninstall (void) {
  struct sigaction now;
  if (sigaction(SIGBUS, NULL, &now) != 0) return;
  if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != guard_handle)
    return;
  sigaction(SIGBUS, &guard_before, NULL);
  guard_installed = 0;
}


int guard_add (void *base, size_t size, void (*tell) (void *ud), void *ud) {
  int i = 0;
  pthread_mutex_lock(&guard_lock);
  while (i < GUARD_MAX && guard_places[i].base != NULL) i++;
  if (i < GUARD_MAX) {
    guard_places[i].size = size;
    guard_places[i].tell = tell;
    guard_places[i].ud = ud;
    guard_places[i].lost = 0;
    guard_places[i].base = cast(char *, base);
    if (guard_count++ == 0 && !guard_installed) guard_install();
  }
  pthread_mutex_unlock(&guard_lock);
  return i < GUARD_MAX ? i : GUARD_NONE;
}


void guard_remove (int guard) {
  if (guard == GUARD_NONE) return;
  pthread_mutex_lock(&guard_lock);
  guard_places[guard].base = NULL;
  if (--guard_count == 0 && guard_installed) guard_uninstall();
  pthread_mutex_unlock(&guard_lock);
}


int guard_lost (int guard) {
  return guard != GUARD_NONE && guard_places[guard].lost;
}

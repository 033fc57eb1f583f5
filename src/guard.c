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
** The handler reads places without a lock: 'base' is stored last and
** taken away first, and who faults within a file keeps it guarded.
*/
typedef struct Place {
  char *volatile base;	/* NULL: the place is free */
  size_t size;
  void (*tell) (void *ud);
  void *ud;
  volatile sig_atomic_t lost;
} Place;

static Place places[GUARD_MAX];
static int guarded;		/* places that are taken */
static int installed;
static struct sigaction before;	/* what was there before our handler */
static pthread_mutex_t guard_lock = PTHREAD_MUTEX_INITIALIZER;


static Place *guard_place (const char *address) {
  int i;
  for (i = 0; i < GUARD_MAX; i++) {
    const char *base = places[i].base;
    if (base != NULL && address >= base && address < base + places[i].size)
      return &places[i];
  }
  return NULL;
}


/* not ours: what would have happened without us */
static void guard_chain (int signal, siginfo_t *info, void *context) {
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(signal, info, context);
  }
  else if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
    sigaction(signal, &before, NULL);  /* a fault comes again by itself */
    if (info->si_code <= 0) raise(signal);
  }
  else
    before.sa_handler(signal);
}


static void guard_handle (int signal, siginfo_t *info, void *context) {
  int error = errno;
  Place *p = info->si_code > 0 ? guard_place(info->si_addr) : NULL;
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
  installed = sigaction(SIGBUS, &ours, &before) == 0;
}


/* a handler that the program put over ours since then stays */
static void guard_uninstall (void) {
  struct sigaction now;
  if (sigaction(SIGBUS, NULL, &now) != 0) return;
  if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != guard_handle)
    return;
  sigaction(SIGBUS, &before, NULL);
  installed = 0;
}


int guard_add (void *base, size_t size, void (*tell) (void *ud), void *ud) {
  int i = 0;
  pthread_mutex_lock(&guard_lock);
  while (i < GUARD_MAX && places[i].base != NULL) i++;
  if (i < GUARD_MAX) {
    places[i].size = size;
    places[i].tell = tell;
    places[i].ud = ud;
    places[i].lost = 0;
    places[i].base = base;
    if (guarded++ == 0 && !installed) guard_install();
  }
  pthread_mutex_unlock(&guard_lock);
  return i < GUARD_MAX ? i : GUARD_NONE;
}


void guard_remove (int guard) {
  if (guard == GUARD_NONE) return;
  pthread_mutex_lock(&guard_lock);
  places[guard].base = NULL;
  if (--guarded == 0 && installed) guard_uninstall();
  pthread_mutex_unlock(&guard_lock);
}


int guard_lost (int guard) {
  return guard != GUARD_NONE && places[guard].lost;
}

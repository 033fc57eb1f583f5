/*
** See watch.h
*/

#define _GNU_SOURCE		/* pthread_getcpuclockid, pthread_setname_np */

#include "base/hurry.h"
#include "base/watch.h"

#if PLATFORM_WATCH

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>


#define WATCH_STACK	(64u * 1024)	/* bytes of the thread's own C stack */

/* not all C libraries have the system's headers */
#if !defined(FUTEX_WAIT_PRIVATE)
#define FUTEX_WAIT_PRIVATE	128
#define FUTEX_WAKE_PRIVATE	129
#endif

#define WATCH_SWITCH	20000u	/* most ns by which two threads differ in when
				   they switched */

#define WATCH_WOKEN	1
#define WATCH_ENDS	2

/*
** The file that tells when a thread last ran. If the descriptor's file has
** another device or inode, it is not the thread's: the program has closed that
** one, and opened another file, which got its descriptor.
*/
typedef struct WatchRan {
  int file;		/* -1: none */
  dev_t device;
  ino_t inode;
} WatchRan;

struct Watch {
  WatchLook look;
  void *ud;
  uint64_t first;	/* ns until the first look */
  clockid_t clock;	/* processor time of the thread that is watched */
  char begins[32];	/* first bytes of its state file: its number */
  int file;
  WatchRan ran;		/* of that thread */
  WatchRan own;		/* of the watching thread */
  int opened;		/* was 'own' opened? */
  pthread_t thread;	/* the watching thread */
  PlatformSelf owner;	/* the process that has the thread */
  int woken;		/* WATCH_WOKEN or WATCH_ENDS, where that is asked for */
};


uint64_t watch_cpu (const Watch *w) {
  struct timespec t;
  if (clock_gettime(w->clock, &t) != 0) return 0;
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}


/*
** The letter for the thread's state. The file has it after the number of the
** thread and its name in parentheses. 0: it is not that file, since the
** program may have closed the descriptor, and opened another one with its
** number.
*/
static char watch_state (const Watch *w) {
  char text[128];
  const char *at;
  ssize_t size = pread(w->file, text, sizeof text - 1, 0);
  if (size <= 0) return 0;
  text[size] = '\0';
  if (strncmp(text, w->begins, strlen(w->begins)) != 0) return 0;
  at = strrchr(text, ')');
  return at != NULL && at[1] == ' ' ? at[2] : (char)0;
}


/* Where the state is not known, a thread that does not run is taken to wait. */
int watch_waits (const Watch *w) {
  return watch_state(w) != 'R';
}


/* Opens this thread's file. */
static void watch_openran (WatchRan *r) {
  struct stat s;
  r->file = open("/proc/thread-self/sched", O_RDONLY | O_CLOEXEC);
  if (r->file < 0 || fstat(r->file, &s) != 0) return;
  r->device = s.st_dev;
  r->inode = s.st_ino;
}


/*
** When the thread of the file last ran, in ns by its processor's clock. 0: that
** is not known.
*/
static uint64_t watch_ran (const WatchRan *r) {
  struct stat s;
  char text[256];
  unsigned long long ms, ns;
  const char *at;
  ssize_t size;
  if (fstat(r->file, &s) != 0 || s.st_dev != r->device || s.st_ino != r->inode)
    return 0;
  size = pread(r->file, text, sizeof text - 1, 0);
  if (size <= 0) return 0;
  text[size] = '\0';
  at = strstr(text, "\nse.exec_start ");
  if (at == NULL || sscanf(at, " %*s : %llu.%6llu", &ms, &ns) != 2) return 0;
  return (uint64_t)ms * 1000000u + ns;
}


int watch_ispossible (void) {
  WatchRan r = ZEROS;
  int known;
  watch_openran(&r);
  known = watch_ran(&r) != 0;
  platform_procclose(r.file, "/sched");
  return known;
}


/*
** If this thread took the processor from the other one, both have the time of
** that switch: the other one last ran then, and this one began to run. The
** system's tick may since have made this one's time a little later.
*/
int watch_preempts (const Watch *w) {
  uint64_t ran = watch_ran(&w->ran), own = watch_ran(&w->own);
  return ran != 0 && own != 0 && own - ran < WATCH_SWITCH;
}


/* Sleeps until the time, or until it is woken. 0: the thread is to end. */
static int watch_sleep (Watch *w, uint64_t ns) {
  struct timespec t;
  t.tv_sec = (time_t)(ns / 1000000000u);
  t.tv_nsec = (long)(ns % 1000000000u);
  syscall(SYS_futex, &w->woken, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
  return (__atomic_fetch_and(&w->woken, ~WATCH_WOKEN, __ATOMIC_SEQ_CST) &
          WATCH_ENDS) == 0;
}


static void watch_tell (Watch *w, int what) {
  __atomic_fetch_or(&w->woken, what, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &w->woken, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}


void watch_wake (Watch *w) {
  watch_tell(w, WATCH_WOKEN);
}


static void *watch_run (void *ud) {
  Watch *w = cast(Watch *, ud);
  uint64_t ns = w->first;
  Hurry before;
  pthread_setname_np(pthread_self(), "cprof");
  hurry_begin(&before);
  watch_openran(&w->own);
  __atomic_store_n(&w->opened, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &w->opened, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  while (ns > 0 && watch_sleep(w, ns)) ns = w->look(w->ud, w);
  return NULL;
}


/*
** Begins the thread, which gets none of the program's signals. Waits until it
** has opened its file: if it did so later, it could get a descriptor that the
** program expects for a file of its own. Until then, no signal is handled: a
** handler that forks would make a child that waits for a thread which it does
** not have.
*/
static int watch_thread (Watch *w) {
  pthread_attr_t attributes;
  sigset_t all, before;
  int ok;
  if (pthread_attr_init(&attributes) != 0) return 0;
  pthread_attr_setstacksize(&attributes, WATCH_STACK);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  ok = pthread_create(&w->thread, &attributes, watch_run, w) == 0;
  while (ok && !__atomic_load_n(&w->opened, __ATOMIC_SEQ_CST))
    syscall(SYS_futex, &w->opened, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return ok;
}


static int watch_open (Watch *w) {
  ssize_t size;
  char *space;
  w->file = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC);
  if (w->file < 0) return 0;
  size = pread(w->file, w->begins, sizeof w->begins - 1, 0);
  space = size > 0 ? strchr(w->begins, ' ') : NULL;
  if (space == NULL) {
    close(w->file);
    return 0;
  }
  space[1] = '\0';
  watch_openran(&w->ran);
  return 1;
}


/* A child of a fork closes what it has of its parent's, too. */
static void watch_close (const Watch *w) {
  platform_procclose(w->file, "/stat");
  platform_procclose(w->ran.file, "/sched");
  platform_procclose(w->own.file, "/sched");
}


Watch *watch_begin (WatchLook look, void *ud, uint64_t ns) {
  Watch *w = cast(Watch *, calloc(1, sizeof *w));
  if (w == NULL) return NULL;
  w->look = look;
  w->ud = ud;
  w->first = ns;
  w->owner = platform_self();
  w->own.file = -1;
  if (pthread_getcpuclockid(pthread_self(), &w->clock) == 0 &&
      watch_open(w)) {
    if (watch_thread(w)) return w;
    watch_close(w);
  }
  free(w);
  return NULL;
}


void watch_end (Watch *w) {
  if (platform_isself(&w->owner)) {
    watch_tell(w, WATCH_ENDS);
    pthread_join(w->thread, NULL);
  }
  watch_close(w);
  free(w);
}

#endif

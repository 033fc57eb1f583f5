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

#define WATCH_RAN	"/proc/thread-self/sched"

#define WATCH_WOKEN	1
#define WATCH_ENDS	2

struct Watch {
  WatchLook look;
  void *ud;
  uint64_t first;	/* ns until the first look */
  clockid_t clock;	/* processor time of the thread that is watched */
  PlatformFile state;	/* has that thread's state */
  PlatformFile ran;	/* tells when that thread last ran */
  PlatformFile own;	/* tells when the watching thread last ran */
  uint64_t turn;	/* of the watching thread, see 'hurry_turn' */
  int opened;		/* were 'own' opened, and 'turn' set? */
  pthread_t thread;	/* the watching thread */
  PlatformSelf owner;	/* the process that has the thread */
  int woken;		/* WATCH_WOKEN or WATCH_ENDS, where that is asked for */
};


uint64_t watch_cpu (const Watch *w) {
  return platform_clock(w->clock);
}


/* Opens a file of this thread. */
static void watch_openfile (PlatformFile *f, const char *path) {
  platform_file(f, open(path, O_RDONLY | O_CLOEXEC));
}


/* Reads the beginning of a file, as a string. 0: there is nothing to read. */
static int watch_read (const PlatformFile *f, char *to, size_t size) {
  ssize_t n = platform_isopen(f) ? pread(f->fd, to, size - 1, 0) : 0;
  to[n > 0 ? n : 0] = '\0';
  return n > 0;
}


/*
** The letter for the thread's state, which comes after the thread's number and
** its name in parentheses. 0: not known.
*/
static char watch_state (const Watch *w) {
  char text[128];
  const char *at;
  if (!watch_read(&w->state, text, sizeof text)) return 0;
  at = strrchr(text, ')');
  return at != NULL && at[1] == ' ' ? at[2] : (char)0;
}


/* Where the state is not known, a thread that does not run is taken to wait. */
int watch_waits (const Watch *w) {
  return watch_state(w) != 'R';
}


/*
** When the thread of the file last ran, in ns by its processor's clock. 0: that
** is not known.
*/
static uint64_t watch_ran (const PlatformFile *f) {
  char text[256];
  unsigned long long ms, ns;
  const char *at;
  if (!watch_read(f, text, sizeof text)) return 0;
  at = strstr(text, "\nse.exec_start ");
  if (at == NULL || sscanf(at, " %*s : %llu.%6llu", &ms, &ns) != 2) return 0;
  return (uint64_t)ms * 1000000u + ns;
}


int watch_ispossible (void) {
  PlatformFile f;
  int known;
  watch_openfile(&f, WATCH_RAN);
  known = watch_ran(&f) != 0;
  platform_closefile(&f);
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
  hurry_begin(&before, 0);
  w->turn = hurry_turn();
  watch_openfile(&w->own, WATCH_RAN);
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
  watch_openfile(&w->state, "/proc/thread-self/stat");
  if (w->state.fd < 0) return 0;
  watch_openfile(&w->ran, WATCH_RAN);
  return 1;
}


/* A child of a fork closes what it has of its parent's, too. */
static void watch_close (const Watch *w) {
  platform_closefile(&w->state);
  platform_closefile(&w->ran);
  platform_closefile(&w->own);
}


/* Where no thread has short turns, none is begun to find that out. */
Watch *watch_begin (WatchLook look, void *ud, uint64_t ns, int prompt) {
  Watch *w;
  if (prompt && hurry_turn() == 0) return NULL;
  w = cast(Watch *, calloc(1, sizeof *w));
  if (w == NULL) return NULL;
  w->look = look;
  w->ud = ud;
  w->first = ns;
  w->owner = platform_self();
  w->own.fd = -1;
  if (pthread_getcpuclockid(pthread_self(), &w->clock) == 0 &&
      watch_open(w)) {
    if (watch_thread(w)) {
      if (!prompt || (w->turn > 0 && w->turn <= HURRY_TURN)) return w;
      watch_end(w);
      return NULL;
    }
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

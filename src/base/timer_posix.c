/*
** See timer.h
**
** The signal is SIGPROF, or where the program handles that itself, another
** one for which there is no handler. Where POSIX timers can be delivered
** to a thread (Linux), each timer is one of these; elsewhere there can be
** one at a time, which is the process's, and whichever thread its signal
** comes to sends it on.
**
** The handler may run at any instruction of the thread. It reads an entry
** of 'timers', which is never freed, and what the signal carries tells
** whether that is still meant by it: a late signal does nothing. It calls
** nothing but 'tick', and keeps errno.
*/

#define _GNU_SOURCE		/* SIGEV_THREAD_ID, syscall */
#define _DARWIN_C_SOURCE

#include "base/timer.h"

#if !defined(_WIN32)

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if !PLATFORM_TIMERS
#include <sys/time.h>
#else
#include <sys/syscall.h>
#if !defined(sigev_notify_thread_id)
#define sigev_notify_thread_id	_sigev_un._tid
#endif
#endif


typedef struct Timer {
  volatile uintptr_t carries;	/* what its signals carry; 0: it is free */
  TimerTick tick;
  void *ud;
  const void *thread;	/* an address that is this thread's alone */
  unsigned generation;	/* of the process */
  int signal;
#if PLATFORM_TIMERS
  timer_t id;
#else
  pthread_t to;
#endif
} Timer;

static Timer timers[TIMER_MOST];
static uintptr_t timer_number;	/* of the last one that was begun */
static pthread_mutex_t timer_lock = PTHREAD_MUTEX_INITIALIZER;
static PLATFORM_THREAD char timer_thread;

#if !PLATFORM_TIMERS
static volatile sig_atomic_t timer_astray;	/* came to another thread */
#endif

/* how many use a signal, and what the program had there */
typedef struct TimerSignal {
  int users;
  struct sigaction before;
} TimerSignal;

#define TIMER_SIGNALS	65	/* Linux's last one is 64 */

static TimerSignal timer_signals[TIMER_SIGNALS];


static int timer_of (const Timer *t) {
  return (int)(t - timers);
}


/* Is this the thread, and the process, that began it? */
static int timer_ishere (int timer) {
  const Timer *t = &timers[timer];
  return t->thread == &timer_thread && t->generation == platform_generation();
}


static void timer_handler (int sig, siginfo_t *info, void *context) {
  int error = errno, i = 0;  /* a process has one timer only: the first */
  (void)sig; (void)context;
#if !PLATFORM_TIMERS
  (void)info;
  if (timers[i].carries != 0 && timers[i].thread == &timer_thread)
    timers[i].tick(timers[i].ud);
  else {
    timer_astray = 1;
    /* either this sees an end, or that sees this */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (timers[i].carries != 0 &&
        timers[i].generation == platform_generation())
      pthread_kill(timers[i].to, sig);
  }
#else
  if (info->si_code == SI_TIMER) {
    uintptr_t carried = (uintptr_t)info->si_value.sival_ptr;
    i = (int)(carried % TIMER_MOST);
    if (carried != 0 && timers[i].carries == carried &&
        timers[i].thread == &timer_thread)
      timers[i].tick(timers[i].ud);
  }
#endif
  errno = error;
}


/* {======================================================
** The signal
** ======================================================= */

static int timer_handles (const struct sigaction *a) {
  return (a->sa_flags & SA_SIGINFO) && a->sa_sigaction == timer_handler;
}


int timer_lost (int timer) {
  struct sigaction a;
  const Timer *t = &timers[timer];
  return t->generation == platform_generation() &&
         sigaction(t->signal, NULL, &a) == 0 && !timer_handles(&a);
}


/* Is there no handler of the program's? */
static int timer_free (int sig) {
  struct sigaction a;
  if (sigaction(sig, NULL, &a) != 0) return 0;
  return (!(a.sa_flags & SA_SIGINFO) &&
          (a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN)) ||
         timer_handles(&a);
}


/* The same, and this thread does not block it. */
static int timer_usable (int sig) {
  sigset_t blocked;
  return timer_free(sig) && pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 &&
         !sigismember(&blocked, sig);
}


#if !PLATFORM_TIMERS

static int timer_choose (void) {
  return timer_usable(SIGALRM) ? SIGALRM : 0;
}

#else

static int timer_choose (void) {
  int sig;
  if (timer_usable(SIGPROF)) return SIGPROF;
  for (sig = SIGRTMIN; sig <= SIGRTMAX && sig < TIMER_SIGNALS; sig++)
    if (timer_usable(sig)) return sig;
  return 0;
}

#endif


static int timer_install (void) {
  struct sigaction a, before;
  int sig = timer_choose();
  if (sig == 0) return 0;
  memset(&a, 0, sizeof a);
  a.sa_sigaction = timer_handler;
  a.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&a.sa_mask);  /* other handlers may set hooks, too */
  if (sigaction(sig, &a, &before) != 0) return 0;
  if (!timer_handles(&before)) timer_signals[sig].before = before;
  timer_signals[sig].users++;
  return sig;
}


/* Takes what is on its way to this thread. */
static void timer_drain (int sig) {
#if !PLATFORM_TIMERS
  (void)sig;
#else
  struct timespec none = {0, 0};
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, sig);
  if (pthread_sigmask(SIG_BLOCK, &set, &before) != 0) return;
  while (sigtimedwait(&set, NULL, &none) == sig) ;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
}


/*
** The program gets its signal back, unless it has set a handler since. A
** signal that is on its way to another thread would end the process then:
** there, the handler stays, and its code with it.
*/
static void timer_uninstall (int sig, int here) {
  struct sigaction a;
  TimerSignal *s = &timer_signals[sig];
#if !PLATFORM_TIMERS
  here = here && !timer_astray;
#endif
  if (--s->users > 0 || sigaction(sig, NULL, &a) != 0 || !timer_handles(&a))
    return;
  if (here) sigaction(sig, &s->before, NULL);
  else platform_stay();
}

/* }====================================================== */


/* {======================================================
** The system's timers
** ======================================================= */

#if !PLATFORM_TIMERS

static int timer_make (Timer *t, int cpu) {
  (void)cpu;
  t->to = pthread_self();
  return 1;
}

static int timer_set (const Timer *t, uint64_t ns) {
  struct itimerval v;
  memset(&v, 0, sizeof v);
  v.it_value.tv_sec = (time_t)(ns / 1000000000u);
  v.it_value.tv_usec = (suseconds_t)(ns % 1000000000u / 1000u);
  if (ns > 0 && v.it_value.tv_sec == 0 && v.it_value.tv_usec == 0)
    v.it_value.tv_usec = 1;
  (void)t;
  return setitimer(ITIMER_REAL, &v, NULL) == 0;
}

static void timer_delete_of (const Timer *t) {
  (void)timer_set(t, 0);
}

#define TIMER_ATONCE	1

#else

static int timer_make (Timer *t, int cpu) {
  struct sigevent e;
  memset(&e, 0, sizeof e);
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = t->signal;
  e.sigev_value.sival_ptr = (void *)t->carries;
  e.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  return timer_create(cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &e,
                      &t->id) == 0;
}

static int timer_set (const Timer *t, uint64_t ns) {
  struct itimerspec v;
  memset(&v, 0, sizeof v);
  v.it_value.tv_sec = (time_t)(ns / 1000000000u);
  v.it_value.tv_nsec = (long)(ns % 1000000000u);
  return timer_settime(t->id, 0, &v, NULL) == 0;
}

static void timer_delete_of (const Timer *t) {
  timer_delete(t->id);
}

#define TIMER_ATONCE	TIMER_MOST

#endif

/* }====================================================== */


static Timer *timer_new (const char **why) {
  int i = 0;
  while (i < TIMER_ATONCE && timers[i].carries != 0) i++;
  if (i < TIMER_ATONCE) return &timers[i];
  *why = TIMER_ATONCE == 1 ? "another recording has the process's only timer"
                           : "too many recordings sample at once";
  return NULL;
}


static int timer_fill (Timer *t, TimerTick tick, void *ud, int cpu,
                       const char **why) {
  t->tick = tick;
  t->ud = ud;
  t->thread = &timer_thread;
  t->generation = platform_generation();
  t->signal = timer_install();
  if (t->signal == 0) {
    *why = "the program handles or blocks each signal that a timer could use";
    return 0;
  }
  t->carries = ++timer_number * TIMER_MOST + (uintptr_t)timer_of(t);
  if (timer_make(t, cpu)) {
    if (timer_set(t, 0)) return 1;  /* a host may forbid this alone */
    timer_delete_of(t);
  }
  t->carries = 0;
  timer_uninstall(t->signal, 1);
  *why = "the system gives no timer";
  return 0;
}


int timer_begin (TimerTick tick, void *ud, int cpu, const char **why) {
  Timer *t;
  pthread_mutex_lock(&timer_lock);
  t = timer_new(why);
  if (t != NULL && !timer_fill(t, tick, ud, cpu, why)) t = NULL;
  pthread_mutex_unlock(&timer_lock);
  return t != NULL ? timer_of(t) : -1;
}


void timer_next (int timer, uint64_t ns) {
  const Timer *t = &timers[timer];
  if (t->generation == platform_generation()) (void)timer_set(t, ns);
}


void timer_end (int timer) {
  Timer *t = &timers[timer];
  int here = timer_ishere(timer);
  pthread_mutex_lock(&timer_lock);
  t->carries = 0;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (t->generation == platform_generation()) {
    timer_delete_of(t);
    if (here) timer_drain(t->signal);
  }
  timer_uninstall(t->signal, here);
  pthread_mutex_unlock(&timer_lock);
}


/* Another thread may have had the lock, and is gone. */
void timer_forked (void) {
  static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  int i;
  memcpy(&timer_lock, &fresh, sizeof fresh);
  for (i = 0; i < TIMER_MOST; i++)
    if (timers[i].carries != 0 && timers[i].thread == &timer_thread)
      timers[i].tick(timers[i].ud);
}

#endif

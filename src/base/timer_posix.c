/*
** See timer.h
**
** Where POSIX timers can signal a thread (Linux), each timer is one of them.
** The signal is SIGPROF or, if the program handles or blocks that itself, a
** real-time signal without a handler. Elsewhere there is one timer at a time,
** the process's, with SIGALRM. Whichever thread its signal comes to sends it
** on to the timer's thread.
**
** The handler may run at any instruction of the thread. It reads an entry
** of 'timers', which is never freed. On Linux, the value that the signal
** carries tells whether it is still for the timer in that entry: a late
** signal does nothing. The signal of a task clock carries its descriptor. The
** handler calls nothing but 'tick', clock_gettime, getpid, getrusage,
** timer_settime, sigpending and, to send a signal on, pthread_kill. It keeps
** errno. Another thread that ends the timer waits until the handler has left
** the entry.
*/

#define _GNU_SOURCE		/* SIGEV_THREAD_ID, syscall */
#define _DARWIN_C_SOURCE

#include "base/interrupted.h"
#include "base/taskclock.h"
#include "base/timer.h"

#if !defined(_WIN32)

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if PLATFORM_INTERRUPTED
#include <sys/resource.h>
#endif

#if !PLATFORM_TIMERS
#include <sys/time.h>
#else
#include <sys/syscall.h>
#if !defined(sigev_notify_thread_id)
#define sigev_notify_thread_id	_sigev_un._tid
#endif
#endif


typedef struct Timer {
  uintptr_t carries;	/* the value that its signals carry; 0: the entry is
			   free */
  int within;	/* number of handlers that use the entry now */
  TimerTick tick;
  void *ud;
  int cpu;
  uintptr_t thread;	/* the number of the thread that it interrupts */
  PlatformSelf owner;	/* the process that has made it */
  int signal;
  uintptr_t ended;	/* stack pointer of the system call that the last
			   signal has ended; 0: it has ended none */
  uint64_t left;	/* processor time in ns, when that signal's handler
			   returned */
  long blocked;		/* how often the thread had blocked by then */
  uintptr_t at;		/* see 'timer_at' */
#if PLATFORM_TIMERS
  timer_t id;
  pid_t to;		/* the thread, as the system numbers it */
  volatile uint64_t ran;	/* 'cpu' of 'timer_now' */
#else
  pthread_t to;
#endif
#if PLATFORM_WATCH
  int counts;		/* see 'timer_counts' */
  volatile sig_atomic_t on;	/* do its ticks come? */
  TaskClock clock;
  timer_t looks;	/* its signals come when the system's tick has found
			   that the thread runs */
  uint64_t system;	/* 'taskclock_system' at the last such signal */
  uint64_t stands;	/* see 'timer_system' */
#endif
} Timer;

static Timer timers[TIMER_MOST];
static uintptr_t timer_number;	/* how many were begun so far */
static pthread_mutex_t timer_lock = PTHREAD_MUTEX_INITIALIZER;

/*
** Threads are known by numbers of our own: a new thread may reuse the
** pthread_t, and the addresses of thread-local variables, of one that ended.
*/
static uintptr_t timer_threads;
static PLATFORM_THREAD uintptr_t timer_thread;	/* 0: no number yet */

/* how many timers use a signal, and the program's action for it */
typedef struct TimerSignal {
  int users;
  volatile sig_atomic_t astray;	/* may a tick be pending for another thread? */
  struct sigaction before;
} TimerSignal;

static TimerSignal timer_signals[TIMER_SIGNALS];
static int timer_stays;		/* does this code stay in memory? */


static int timer_index (const Timer *t) {
  return (int)(t - timers);
}


int timer_ishere (int timer) {
  return timers[timer].thread == timer_thread;
}


static int timer_isours (const Timer *t) {
  return platform_isself(&t->owner);
}


/*
** A handler enters the entry of a timer, and leaves it by 'timer_leave'.
** Returns its 'carries'; 0: the entry is free.
*/
static uintptr_t timer_enter (Timer *t) {
  __atomic_fetch_add(&t->within, 1, __ATOMIC_SEQ_CST);
  return __atomic_load_n(&t->carries, __ATOMIC_SEQ_CST);
}


static void timer_leave (Timer *t) {
  __atomic_fetch_sub(&t->within, 1, __ATOMIC_SEQ_CST);
}


/* Marks the entry as free, and waits until no handler is in it any more. */
static void timer_close (Timer *t) {
  __atomic_store_n(&t->carries, 0, __ATOMIC_SEQ_CST);
  while (timer_isours(t) && __atomic_load_n(&t->within, __ATOMIC_SEQ_CST) > 0)
    sched_yield();
}


/* How many times this thread has blocked; 0: never, or not known. */
static long timer_blocked (void) {
#if PLATFORM_INTERRUPTED
  struct rusage use;
  if (getrusage(RUSAGE_THREAD, &use) == 0) return use.ru_nvcsw;
#endif
  return 0;
}


/*
** A signal that comes while the handler runs is delivered when the handler
** returns. It finds the system call that the first signal has ended, and must
** not count as having ended another one. In between, the thread may be
** preempted, but it neither blocks nor uses processor time.
*/
#define TIMER_NEXT	10000u	/* ns of processor time until the second handler
				   begins */

static TimerWithin timer_once (Timer *t, const Interrupted *x) {
  uintptr_t stack = x->within == TIMER_ENDS ? x->stack : 0;
  int again = stack != 0 && stack == t->ended && t->blocked != 0 &&
              timer_blocked() == t->blocked &&
              platform_cpu() - t->left < TIMER_NEXT;
  t->ended = stack;
  return again ? TIMER_WAITS : x->within;
}


/*
** A system call that has just begun to wait, and has ended with EINTR, may
** begin again: nothing has happened in it. After more processor time, it may
** have failed for a signal of the program, whose handler had blocked ours
** meanwhile.
*/
#define TIMER_JUSTNOW	50000u	/* ns of processor time */

static TimerWithin timer_again (const Timer *t, TimerWithin within,
                                void *context) {
#if PLATFORM_TIMERS
  uint64_t ran = t->ran;
  if (within == TIMER_ENDS && ran != 0 &&
      platform_cpu() - ran <= TIMER_JUSTNOW &&
      interrupted_again(context, t->signal))
    return TIMER_WAITS;
#else
  (void)t; (void)context;
#endif
  return within;
}


uintptr_t timer_at (int timer) {
  return timers[timer].at;
}


/* Calls the tick. 'context' is what was interrupted; NULL: nothing was. */
static void timer_come (Timer *t, void *context) {
  TimerWithin within = TIMER_RUNS;
  t->at = TIMER_UNKNOWN;
  if (context != NULL) {
    Interrupted x = interrupted_find(context);
    t->at = x.at;
    within = timer_again(t, timer_once(t, &x), context);
  }
  t->tick(t->ud, within);
  if (t->ended == 0) return;
  t->blocked = timer_blocked();
  t->left = platform_cpu();
}


#if !PLATFORM_TIMERS

/* A process has one such timer: the first entry. */
static void timer_signal (int sig, const siginfo_t *info, void *context) {
  Timer *t = timers;
  (void)info;
  if (timer_enter(t) != 0 && t->thread == timer_thread)
    timer_come(t, context);
  else {
    timer_signals[sig].astray = 1;
    if (t->carries != 0 && timer_isours(t)) pthread_kill(t->to, sig);
  }
  timer_leave(t);
}

#else

#if PLATFORM_WATCH

#define TIMER_LOOKS	((uintptr_t)1 << (8 * sizeof(uintptr_t) - 1))

static int timer_arm (timer_t id, uint64_t ns);

/*
** Called when the system's tick has found that the thread runs. If the system
** was working for the thread, this is a tick for that work since the last such
** signal. The work is the difference of two clocks, which may be less than
** before.
*/
static void timer_looked (Timer *t, void *context) {
  uint64_t system = taskclock_system();
  if (!t->on) return;
  if (system > t->system) {
    t->stands = system - t->system;
    t->system = system;
    timer_come(t, context);
    t->stands = 0;
  }
  if (t->on) (void)timer_arm(t->looks, 1);
}


/*
** The value that signals carry for this thread's timer with the descriptor
** 'file'.
*/
static uintptr_t timer_carried (int file) {
  int i;
  for (i = 0; i < TIMER_MOST; i++) {
    const Timer *t = &timers[i];
    if (t->carries != 0 && t->counts && t->clock.file == file &&
        timer_ishere(i))
      return t->carries;
  }
  return 0;
}


static int timer_isevent (const siginfo_t *info) {
  return info->si_code == POLL_IN || info->si_code == POLL_HUP;
}

#else

#define TIMER_LOOKS	((uintptr_t)0)
#define timer_looked(t,context)	((void)(t), (void)(context))
#define timer_carried(file)	((void)(file), 0u)
#define timer_isevent(info)	((void)(info), 0)

#endif

static void timer_signal (int sig, const siginfo_t *info, void *context) {
  uintptr_t value = (uintptr_t)info->si_value.sival_ptr, carried;
  Timer *t;
  (void)sig;
  if (timer_isevent(info)) value = timer_carried(info->si_fd);
  else if (info->si_code != SI_TIMER) return;
  carried = value & ~TIMER_LOOKS;
  if (carried == 0) return;
  t = &timers[carried % TIMER_MOST];
  if (timer_enter(t) == carried && t->thread == timer_thread) {
    if (value == carried) timer_come(t, context);
    else timer_looked(t, context);
  }
  timer_leave(t);
}

#endif


static void timer_handler (int sig, siginfo_t *info, void *context) {
  int error = errno;
  timer_signal(sig, info, context);
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
  return timer_isours(t) &&
         sigaction(t->signal, NULL, &a) == 0 && !timer_handles(&a);
}


/* Does the program have no handler for the signal? */
static int timer_isfree (int sig) {
  struct sigaction a;
  if (sigaction(sig, NULL, &a) != 0) return 0;
  return (!(a.sa_flags & SA_SIGINFO) &&
          (a.sa_handler == SIG_DFL || a.sa_handler == SIG_IGN)) ||
         timer_handles(&a);
}


/* Is the signal free, and does this thread not block it? */
static int timer_usable (int sig) {
  sigset_t blocked;
  return timer_isfree(sig) && pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 &&
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
  sigfillset(&a.sa_mask);  /* others wait, as they may set hooks, too */
  if (sigaction(sig, &a, &before) != 0) return 0;
  if (!timer_handles(&before)) timer_signals[sig].before = before;
  timer_signals[sig].users++;
  return sig;
}


/*
** Takes the signals that are pending for this thread. Those of the thread's
** other timers are handled here, since a lost tick would be their last.
*/
static void timer_drain (int sig) {
#if !PLATFORM_TIMERS
  (void)sig;
#else
  struct timespec none = {0, 0};
  sigset_t set, all, before;
  siginfo_t info;
  sigemptyset(&set);
  sigaddset(&set, sig);
  sigfillset(&all);
  if (pthread_sigmask(SIG_BLOCK, &all, &before) != 0) return;
  while (sigtimedwait(&set, &info, &none) == sig)
    timer_signal(sig, &info, NULL);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
}


/*
** When no timer uses the signal any more, the program gets it back, unless
** it has set a handler since. If a tick may still be on its way to another
** thread, it would end the process then. In this case our handler stays, and
** its code stays in memory.
*/
static void timer_uninstall (int sig, int here) {
  struct sigaction a;
  TimerSignal *s = &timer_signals[sig];
  if (!here) s->astray = 1;
  if (--s->users > 0 || sigaction(sig, NULL, &a) != 0 || !timer_handles(&a))
    return;
  if (!s->astray) sigaction(sig, &s->before, NULL);
  else if (!timer_stays) {
    timer_stays = 1;
    platform_stay();
  }
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

static void timer_destroy (const Timer *t) {
  (void)timer_set(t, 0);
}

#define TIMER_ATONCE	1

#else

/* Makes a timer whose signals carry 'value'. 0: there can be none. */
static int timer_ofsystem (const Timer *t, int cpu, uintptr_t value,
                          timer_t *to) {
  struct sigevent e;
  memset(&e, 0, sizeof e);
  e.sigev_notify = SIGEV_THREAD_ID;
  e.sigev_signo = t->signal;
  e.sigev_value.sival_ptr = (void *)value;
  e.sigev_notify_thread_id = t->to;
  return timer_create(cpu ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &e,
                      to) == 0;
}

static int timer_make (Timer *t, int cpu) {
  t->to = (pid_t)syscall(SYS_gettid);
  t->ran = 0;
  return timer_ofsystem(t, cpu, t->carries, &t->id);
}

static int timer_arm (timer_t id, uint64_t ns) {
  struct itimerspec v;
  memset(&v, 0, sizeof v);
  v.it_value.tv_sec = (time_t)(ns / 1000000000u);
  v.it_value.tv_nsec = (long)(ns % 1000000000u);
  return timer_settime(id, 0, &v, NULL) == 0;
}

static int timer_set (const Timer *t, uint64_t ns) {
  return timer_arm(t->id, ns);
}

#if PLATFORM_WATCH
static void timer_send (Timer *t, uint64_t cpu) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  info.si_signo = t->signal;
  info.si_code = SI_TIMER;
  info.si_value.sival_ptr = (void *)t->carries;
  t->ran = cpu;
  if (syscall(SYS_rt_tgsigqueueinfo, platform_process(), t->to, t->signal,
              &info) != 0)
    (void)timer_set(t, 1);  /* where a sandbox forbids that call, the timer
                               itself can tick */
}
#endif

static void timer_destroy (const Timer *t) {
  timer_delete(t->id);
}

#if PLATFORM_WATCH

/*
** Ends counting. The child of a fork has a descriptor, too, but no timers of
** the system.
*/
static void timer_uncount (Timer *t) {
  if (!t->counts) return;
  t->counts = 0;
  t->on = 0;
  taskclock_close(&t->clock);
  if (timer_isours(t)) timer_delete(t->looks);
}


/*
** If the system cannot queue a real-time signal of an event, it sends SIGIO
** instead, which could end the program.
*/
int timer_counts (int timer, int on) {
  Timer *t = &timers[timer];
  timer_uncount(t);
  if (!on || t->signal >= SIGRTMIN || !taskclock_open(&t->clock, t->signal))
    return 0;
  if (!timer_ofsystem(t, 1, t->carries | TIMER_LOOKS, &t->looks)) {
    taskclock_close(&t->clock);
    return 0;
  }
  t->counts = 1;
  return 1;
}


int timer_iscounting (int timer) {
  const Timer *t = &timers[timer];
  return t->counts && taskclock_isopen(&t->clock);
}


uint64_t timer_system (int timer) {
  return timers[timer].stands;
}


/* In place of 'timer_set', for a timer that counts. */
static void timer_count (Timer *t, uint64_t ns) {
  int on = ns > 0;
  if (on) taskclock_next(&t->clock, ns);
  if (on == t->on) return;
  t->on = on;
  t->system = taskclock_system();
  taskclock_run(&t->clock, on);
  (void)timer_arm(t->looks, (uint64_t)on);
}

#endif

#define TIMER_ATONCE	TIMER_MOST

#endif

/* }====================================================== */


/* A free entry; NULL: there is none. */
static Timer *timer_new (const char **why) {
  int i = 0;
  while (i < TIMER_ATONCE && timers[i].carries != 0) i++;
  if (i < TIMER_ATONCE) return &timers[i];
  *why = TIMER_ATONCE == 1 ? "another recording has the process's only timer"
                           : "too many recordings sample at once";
  return NULL;
}


/* Makes a timer for this thread in a free entry. 0: '*why' says why not. */
static int timer_fill (Timer *t, const char **why) {
  if (timer_thread == 0) timer_thread = ++timer_threads;
  t->thread = timer_thread;
  t->owner = platform_self();
  t->signal = timer_install();
  if (t->signal == 0) {
    *why = "the program handles or blocks each signal that a timer could use";
    return 0;
  }
  __atomic_store_n(&t->carries, ++timer_number * TIMER_MOST +
                   (uintptr_t)timer_index(t), __ATOMIC_SEQ_CST);
  if (timer_make(t, t->cpu)) {
    if (timer_set(t, 0)) return 1;  /* a sandbox may allow to make a timer,
                                       but not to set it */
    timer_destroy(t);
  }
  timer_close(t);
  timer_uninstall(t->signal, 1);
  *why = "the system provides no timer";
  return 0;
}


/* Ends the timer in an entry, which is free then. */
static void timer_empty (Timer *t) {
  int here = timer_ishere(timer_index(t)) && timer_isours(t);
  timer_close(t);
#if PLATFORM_WATCH
  timer_uncount(t);
#endif
  if (timer_isours(t)) {
    timer_destroy(t);
    if (here) timer_drain(t->signal);
  }
  timer_uninstall(t->signal, here);
}


int timer_begin (TimerTick tick, void *ud, int cpu, const char **why) {
  Timer *t;
  pthread_mutex_lock(&timer_lock);
  t = timer_new(why);
  if (t != NULL) {
    t->tick = tick;
    t->ud = ud;
    t->cpu = cpu;
    if (!timer_fill(t, why)) t = NULL;
  }
  pthread_mutex_unlock(&timer_lock);
  return t != NULL ? timer_index(t) : -1;
}


int timer_follow (int timer, const char **why) {
  int ok;
  pthread_mutex_lock(&timer_lock);
  timer_empty(&timers[timer]);
  ok = timer_fill(&timers[timer], why);
  pthread_mutex_unlock(&timer_lock);
  return ok;
}


void timer_next (int timer, uint64_t ns) {
  Timer *t = &timers[timer];
  if (!timer_isours(t)) return;
#if PLATFORM_WATCH
  if (t->counts) {
    timer_count(t, ns);
    return;
  }
#endif
  (void)timer_set(t, ns);
}


#if PLATFORM_WATCH
void timer_now (int timer, uint64_t cpu) {
  if (timer_isours(&timers[timer])) timer_send(&timers[timer], cpu);
}
#endif


void timer_end (int timer) {
  pthread_mutex_lock(&timer_lock);
  timer_empty(&timers[timer]);
  pthread_mutex_unlock(&timer_lock);
}


/*
** When the process forked, another thread may have had the lock, or have been
** in the handler. That thread is not in the child, so both are reset.
*/
void timer_forked (void) {
  static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  int i;
  memcpy(&timer_lock, &fresh, sizeof fresh);
  for (i = 0; i < TIMER_MOST; i++) {
    timers[i].within = 0;
    timers[i].at = TIMER_UNKNOWN;
    if (timers[i].carries != 0 && timer_ishere(i))
      timers[i].tick(timers[i].ud, TIMER_RUNS);
  }
}

#endif

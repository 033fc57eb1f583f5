/*
** See timer.h. Windows has no signals, so each timer has a ticker, a thread of
** cprof's own. It suspends the thread that the timer belongs to, calls 'tick',
** and resumes that thread.
**
** Such a tick finds the suspended thread as a signal handler does, at any
** instruction, and sees all that it has stored. That thread may hold any lock,
** such as the heap's. So meanwhile nothing is allocated or locked: there are
** only system calls, and 'tick', which is fit for signal handlers, but must not
** count on running in the suspended thread. The locks below are taken before
** that thread is suspended, so it does not hold them.
*/

#include "base/timer.h"

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#define NOGDI

#include <windows.h>

#include <stdlib.h>
#include <string.h>


#define TIMER_FINE	2u	/* CREATE_WAITABLE_TIMER_HIGH_RESOLUTION */
#define TIMER_RETRY	1000000000u	/* ns until the next tick if a thread
					   cannot be suspended, as it has
					   ended */

typedef void (WINAPI *TimerLocker) (void);

typedef struct Timer {
  TimerTick tick;
  void *ud;
  HANDLE thread;	/* the thread that it interrupts; while this is open,
			   no other thread gets its id */
  DWORD id;
  HANDLE alarm;		/* the system's timer */
  HMODULE code;		/* keeps this code in memory */
  int ended;
} Timer;

static Timer *timers[TIMER_MOST];	/* NULL: the entry is free */
static SRWLOCK timer_lock = SRWLOCK_INIT;

/*
** Take and release a lock of the system's, which a process takes before it ends
** its other threads. Otherwise, it could end a ticker that has just suspended
** the thread that ends the process, and the process would never end.
*/
static TimerLocker timer_hold, timer_letgo;


/* {======================================================
** In the ticker
** ======================================================= */

static void timer_set (const Timer *t, uint64_t ns) {
  LARGE_INTEGER due;
  due.QuadPart = -(LONGLONG)((ns + 99) / 100);
  (void)SetWaitableTimer(t->alarm, &due, 0, NULL, NULL, FALSE);
}


/*
** 'SuspendThread' may return before the thread has stopped. Reading the
** registers waits for that.
*/
static void timer_interrupt (const Timer *t) {
  CONTEXT registers;
  int suspended;
  registers.ContextFlags = CONTEXT_CONTROL;
  timer_hold();
  suspended = SuspendThread(t->thread) != (DWORD)-1;
  if (suspended && GetThreadContext(t->thread, &registers))
    t->tick(t->ud, TIMER_RUNS);
  else timer_set(t, TIMER_RETRY);
  if (suspended) ResumeThread(t->thread);
  timer_letgo();
}


/* 0: the timer has ended. */
static int timer_come (const Timer *t) {
  int goes;
  AcquireSRWLockExclusive(&timer_lock);
  goes = !t->ended;
  if (goes) timer_interrupt(t);
  ReleaseSRWLockExclusive(&timer_lock);
  return goes;
}


static void timer_free (Timer *t) {
  if (t->alarm != NULL) CloseHandle(t->alarm);
  if (t->thread != NULL) CloseHandle(t->thread);
  free(t);
}


static DWORD WINAPI timer_run (void *ud) {
  Timer *t = cast(Timer *, ud);
  HMODULE code = t->code;
  do WaitForSingleObject(t->alarm, INFINITE); while (timer_come(t));
  timer_free(t);
  FreeLibraryAndExitThread(code, 0);
}

/* }====================================================== */


static TimerLocker timer_locker (const char *name) {
  FARPROC found = GetProcAddress(GetModuleHandleA("ntdll.dll"), name);
  TimerLocker f;
  memcpy(&f, &found, sizeof f);
  return f;
}


/* Fine alarms need Windows 10 (1803); others ring some 64 times a second. */
static HANDLE timer_alarm (void) {
  HANDLE h = CreateWaitableTimerExW(NULL, NULL, TIMER_FINE, TIMER_ALL_ACCESS);
  return h != NULL ? h
                   : CreateWaitableTimerExW(NULL, NULL, 0, TIMER_ALL_ACCESS);
}


static int timer_open (Timer *t) {
  HANDLE process = GetCurrentProcess();
  t->id = GetCurrentThreadId();
  t->alarm = timer_alarm();
  timer_hold = timer_locker("RtlAcquirePebLock");
  timer_letgo = timer_locker("RtlReleasePebLock");
  return t->alarm != NULL && timer_hold != NULL && timer_letgo != NULL &&
         DuplicateHandle(process, GetCurrentThread(), process, &t->thread,
                         THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT, FALSE, 0);
}


/*
** Starts the ticker, with a priority above all other threads. Otherwise, where
** these keep all processors busy, it would run only when the thread that it
** interrupts has just lost its processor.
*/
static int timer_start (Timer *t) {
  HANDLE h;
  if (!GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                          (LPCSTR)&timer_lock, &t->code))
    return 0;
  h = CreateThread(NULL, 0, timer_run, t, 0, NULL);
  if (h == NULL) {
    FreeLibrary(t->code);
    return 0;
  }
  SetThreadPriority(h, THREAD_PRIORITY_TIME_CRITICAL);
  CloseHandle(h);
  return 1;
}


/* Makes a timer for this thread. NULL: '*why' says why not. */
static Timer *timer_make (TimerTick tick, void *ud, const char **why) {
  Timer *t = cast(Timer *, calloc(1, sizeof *t));
  *why = "out of memory";
  if (t == NULL) return NULL;
  t->tick = tick;
  t->ud = ud;
  if (timer_open(t) && timer_start(t)) return t;
  *why = "the system allows no thread that interrupts this one";
  timer_free(t);
  return NULL;
}


/* Ends the timer in an entry, which is free then. Its ticker frees the rest. */
static void timer_empty (int timer) {
  Timer *t = timers[timer];
  timers[timer] = NULL;
  t->ended = 1;
  timer_set(t, 0);
}


int timer_begin (TimerTick tick, void *ud, int cpu, const char **why) {
  int i = 0;
  *why = "Windows has no timer of processor time";
  if (cpu) return -1;
  AcquireSRWLockExclusive(&timer_lock);
  while (i < TIMER_MOST && timers[i] != NULL) i++;
  if (i < TIMER_MOST) timers[i] = timer_make(tick, ud, why);
  else *why = "too many recordings sample at once";
  if (i == TIMER_MOST || timers[i] == NULL) i = -1;
  ReleaseSRWLockExclusive(&timer_lock);
  return i;
}


int timer_ishere (int timer) {
  return timers[timer]->id == GetCurrentThreadId();
}


int timer_follow (int timer, const char **why) {
  TimerTick tick = timers[timer]->tick;
  void *ud = timers[timer]->ud;
  int ok;
  AcquireSRWLockExclusive(&timer_lock);
  timer_empty(timer);
  timers[timer] = timer_make(tick, ud, why);
  ok = timers[timer] != NULL;
  ReleaseSRWLockExclusive(&timer_lock);
  return ok;
}


void timer_next (int timer, uint64_t ns) {
  if (ns > 0) timer_set(timers[timer], ns);
  else (void)CancelWaitableTimer(timers[timer]->alarm);
}


void timer_end (int timer) {
  AcquireSRWLockExclusive(&timer_lock);
  timer_empty(timer);
  ReleaseSRWLockExclusive(&timer_lock);
}


void timer_forked (void) {
}


/* On Windows, modules are not known, so an address tells nothing. */
uintptr_t timer_at (int timer) {
  (void)timer;
  return TIMER_UNKNOWN;
}


int timer_lost (int timer) {
  (void)timer;
  return 0;
}

#endif

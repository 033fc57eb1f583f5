/*
** What differs from one platform to the next: clocks, processes, and compiler
** extensions; for files, see files.h. platform_posix.c and platform_windows.c
** implement it, each for one family of systems, and are empty on the others.
** Windows means mingw-w64 here: other compilers lack its headers.
*/

#ifndef platform_h
#define platform_h

#include <stddef.h>
#include <stdint.h>
#if !defined(_WIN32)
#include <pthread.h>
#endif

#include "base/whole.h"


/*
** Does the system have POSIX signals? Where it does not, the files that need
** them, or POSIX processes, users or terminals, are empty.
*/
#if defined(_WIN32)
#define PLATFORM_SIGNALS	0
#else
#define PLATFORM_SIGNALS	1
#endif

#if PLATFORM_SIGNALS
typedef pthread_once_t PlatformOnce;
#define PLATFORM_ONCE	PTHREAD_ONCE_INIT
#else
typedef int PlatformOnce;
#define PLATFORM_ONCE	0
#endif

/* Can a timer signal one thread? */
#if !defined(PLATFORM_TIMERS)
#if defined(__linux__)
#define PLATFORM_TIMERS	1
#else
#define PLATFORM_TIMERS	0
#endif
#endif

/* Can a signal handler see which instruction it has interrupted? */
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define PLATFORM_INTERRUPTED	1
#else
#define PLATFORM_INTERRUPTED	0
#endif


/* Can a thread be watched by another one? */
#define PLATFORM_WATCH	(PLATFORM_TIMERS && PLATFORM_INTERRUPTED)


/*
** Linkage of functions that only cprof calls. In a build without all parts,
** nothing may call some of them.
*/
#if defined(CPROF_AMALGAMATION) && !CPROF_WHOLE && defined(__GNUC__)
#define CPROF_I	__attribute__((unused)) static
#elif defined(CPROF_AMALGAMATION)
#define CPROF_I	static
#elif defined(__GNUC__) && !defined(_WIN32)
#define CPROF_I	__attribute__((visibility("hidden"))) extern
#else
#define CPROF_I	extern
#endif


/*
** For the declaration of a function that a program may lack: its address is
** then NULL. Not defined where the linker refuses that.
*/
#if defined(__GNUC__) && defined(__ELF__)
#define PLATFORM_WEAK	__attribute__((weak))
#endif


/* nanoseconds, from any fixed point in time */
CPROF_I uint64_t platform_monotonic (void);

/*
** The processor's own counter. Where there is none, it counts the
** nanoseconds of the monotonic clock.
*/
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))

#include <x86intrin.h>
#define PLATFORM_TSC	1
static inline uint64_t platform_ticks (void) { return __rdtsc(); }

#elif defined(__GNUC__) && defined(__aarch64__)

#define PLATFORM_TSC	1
static inline uint64_t platform_ticks (void) {
  uint64_t t;
  __asm__ volatile ("mrs %0, cntvct_el0" : "=r"(t));
  return t;
}

#else

#define PLATFORM_TSC	0
#define platform_ticks	platform_monotonic

#endif


/* Reads the counter after all earlier instructions are done. */
static inline uint64_t platform_ticksafter (void) {
#if defined(__GNUC__) && defined(__x86_64__)
  __asm__ volatile ("lfence" ::: "memory");
#elif defined(__GNUC__) && defined(__aarch64__)
  __asm__ volatile ("isb" ::: "memory");
#endif
  return platform_ticks();
}


/* nanoseconds of processor time that this thread has used */
CPROF_I uint64_t platform_cpu (void);

#if PLATFORM_SIGNALS
/* Reads a POSIX clock, a clockid_t, in ns. 0: the system does not tell. */
CPROF_I uint64_t platform_clock (int clock);
#endif

/* Can platform_cpu tell microseconds apart? */
#if defined(_WIN32)
#define PLATFORM_CPUFINE	0
#else
#define PLATFORM_CPUFINE	1
#endif

/* an open file; the program may close it and reuse its descriptor */
typedef struct PlatformFile {
  int fd;		/* -1: it is not open */
  uint64_t device, number;
} PlatformFile;

#if PLATFORM_SIGNALS
/* Notes which file 'fd' refers to. */
CPROF_I void platform_file (PlatformFile *f, int fd);

/*
** Does the descriptor still refer to that file, by device and file number?
** May be called in a signal handler.
*/
CPROF_I int platform_isopen (const PlatformFile *f);
#endif

/* Closes the file, unless the program has closed it. */
CPROF_I void platform_closefile (const PlatformFile *f);

/*
** Opens a file in which the system counts for how long this thread was ready
** to run while others had the processor. It is not open if the system does not
** count that.
*/
CPROF_I void platform_delayopen (PlatformFile *f);

/*
** Reads for how long, in ns, the thread was ready while others had the
** processor, from the file of 'platform_delayopen'. 'blocks' is how often the
** thread has left its processor to wait for something. 0: the file is not this
** thread's.
*/
CPROF_I int platform_delay (const PlatformFile *f, uint64_t *ns,
                            uint64_t *blocks);

#if defined(__linux__)
/* what a thread has used */
typedef struct PlatformUse {
  uint64_t cpu;		/* ns on a processor */
  uint64_t delay;	/* ns in which it was ready, but others ran */
  uint64_t turns;	/* how often it was given a processor */
} PlatformUse;

/*
** Reads what a thread has used. 'thread' is the system's number of it; with
** process 0, it is this thread. 0: not known, as the thread has ended, or the
** system does not tell.
*/
CPROF_I int platform_threaduse (int64_t process, int64_t thread,
                                PlatformUse *u);

/*
** Reads the small file 'what' of a thread, as text. The thread is given as for
** 'platform_threaduse'. 0: the file cannot be read.
*/
CPROF_I int platform_threadtext (int64_t process, int64_t thread,
                                 const char *what, char *text, size_t room);
#endif

/*
** A number of this thread, to be given to 'platform_threadran', in any process.
** 0: there is none.
*/
CPROF_I int64_t platform_threadid (void);

/*
** Reads of any thread how long it has run ('*ran') and how long it was ready
** while others had the processor ('*delay'), in ns, and how often it has left
** its processor to wait ('*blocks'). While the thread runs, '*ran' lags behind,
** by up to PLATFORM_RANLAG; while it is ready, so does '*delay'. 0: there is no
** such thread, or the system does not tell, as of a thread in another PID
** namespace, where numbers mean other processes.
*/
CPROF_I int platform_threadran (int64_t process, int64_t thread,
                                uint64_t *ran, uint64_t *delay,
                                uint64_t *blocks);
#define PLATFORM_RANLAG	10000000u

/* the bounds of a thread's C stack; NULL: not known */
typedef struct PlatformStack {
  const char *from, *to;
} PlatformStack;

/* The C stack of this thread, if the thread runs on it now. */
CPROF_I PlatformStack platform_stack (void);

/*
** Has 'child' called in the child of each fork, in the thread that forked,
** before any of the program's code runs there. At most PLATFORM_CHILDREN
** functions can be given; giving one of them again changes nothing.
*/
#define PLATFORM_CHILDREN	2
CPROF_I void platform_atfork (void (*child) (void));

#if PLATFORM_SIGNALS
/*
** Locks and unlocks what all Lua states of the process share. A fork waits for
** the lock, so no child finds it taken by a thread that the child does not
** have.
*/
CPROF_I void platform_acquire (void);
CPROF_I void platform_release (void);
#endif

/*
** The number of forks between the process that called platform_atfork first
** and this one.
*/
CPROF_I unsigned platform_generation (void);

/* the id of this process */
CPROF_I long platform_process (void);

/*
** Tells a process from the children of its forks: some forks do not change
** the generation, and a later process may get the same id.
*/
typedef struct PlatformSelf {
  long process;
  unsigned generation;
} PlatformSelf;

static inline PlatformSelf platform_self (void) {
  PlatformSelf self;
  self.process = platform_process();
  self.generation = platform_generation();
  return self;
}

static inline int platform_isself (const PlatformSelf *self) {
  return self->generation == platform_generation() &&
         self->process == platform_process();
}

/* The session of this process if it has a terminal; else 0. */
CPROF_I long platform_session (void);

/* Calls 'f' once in a process; other threads wait until it has ended. */
CPROF_I void platform_once (PlatformOnce *once, void (*f) (void));

CPROF_I void platform_sleep (double seconds);

/*
** Copies memory of this process from an address that may be invalid.
** 'process' is the id of this process. 1: it is copied; 0: it cannot be read;
** -1: the system has no such call.
*/
CPROF_I int platform_copy (long process, const void *at, void *to,
                           size_t size);

#if PLATFORM_SIGNALS
/*
** Keeps cprof's code in memory, even if Lua closes the library: a signal may
** still come to its handler.
*/
CPROF_I void platform_stay (void);
#endif

/* The data that the program exports under this name; NULL: not known. */
CPROF_I const void *platform_exported (const char *name);

/*
** Names the place of a C function: "/lib/a.so: symbol", if it is exported,
** or "/lib/a.so+0x1a30". 0: the place is not known.
*/
#define PLATFORM_PLACE	1024
CPROF_I int platform_place (uintptr_t code, char to[PLATFORM_PLACE]);

/*
** The path of the current directory, and that of the running program, in up
** to 'room' bytes. 0: it is not known.
*/
CPROF_I int platform_cwd (char *to, size_t room);
CPROF_I int platform_executable (char *to, size_t room);

/* Is an open file a terminal? Gives its size; 0, 0: the size is unknown. */
CPROF_I int platform_terminal (int fd, int *columns, int *rows);

/*
** Stores 'value' with release order: other threads and processes, even after
** the end of this one, see it no earlier than what was stored before.
*/
static inline void platform_publish (uint32_t *at, uint32_t value) {
#if defined(__GNUC__)
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
#else
  *(volatile uint32_t *)at = value;
#endif
}


/*
** Adds to a number that several threads change. On machines without atomic
** additions, the number becomes 1 and stays 1.
*/
static inline void platform_add (volatile int *to, int n) {
#if defined(__GNUC__)
  __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
#else
  if (n > 0) *to = 1;
#endif
}


/* Adds 1, atomically, and returns the sum. */
static inline unsigned platform_increment (unsigned *at) {
#if defined(__GNUC__)
  return __atomic_add_fetch(at, 1, __ATOMIC_SEQ_CST);
#else
  return ++*(volatile unsigned *)at;
#endif
}


/*
** The compiler moves no load or store across this: for data that a signal
** handler in this thread reads or writes.
*/
static inline void platform_fence (void) {
#if defined(__GNUC__)
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
#endif
}


/* A thread-local variable; 'initial-exec' saves a call per access. */
#if defined(__GLIBC__)
#define PLATFORM_THREAD	\
	__thread __attribute__((tls_model("initial-exec")))
#else
#define PLATFORM_THREAD	__thread
#endif

/* The amalgamation also compiles as C++. */
#define cast(t, p)	((t)(p))

#ifdef __cplusplus
#define ZEROS	{}
#else
#define ZEROS	{0}
#endif

#if defined(__GNUC__)
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define COLD		__attribute__((noinline, cold))
#define NOINLINE	__attribute__((noinline))
#define INLINE		inline __attribute__((always_inline))
#else
#define likely(x)	(x)
#define unlikely(x)	(x)
#define COLD
#define NOINLINE
#define INLINE		inline
#endif

#endif

/*
** What differs from one platform to the next: three clocks, a page that
** a fork wipes, terminals, files, also in memory. Nothing else in cprof
** asks where it runs.
*/

#ifndef platform_h
#define platform_h

#include <stddef.h>
#include <stdint.h>


/* what no one outside the library calls; when all is one file, no one can */
#if defined(CPROF_AMALGAMATION)
#define CPROF_I	static
#elif defined(__GNUC__)
#define CPROF_I	__attribute__((visibility("hidden"))) extern
#else
#define CPROF_I	extern
#endif


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


/* the same, when all that comes before it is done */
static inline uint64_t platform_ticksafter (void) {
#if defined(__GNUC__) && defined(__x86_64__)
  __asm__ volatile ("lfence" ::: "memory");
#elif defined(__GNUC__) && defined(__aarch64__)
  __asm__ volatile ("isb" ::: "memory");
#endif
  return platform_ticks();
}


/* does 'platform_ticks' run at one rate on all processors? */
CPROF_I int platform_steady (void);

/* nanoseconds, from any fixed point in time */
CPROF_I uint64_t platform_monotonic (void);

/* nanoseconds of processor time that this thread has used */
CPROF_I uint64_t platform_cpu (void);

/*
** At least 'size' bytes of zeros that read as zeros again in the child
** of a fork, where the platform can do that. NULL when out of memory.
*/
CPROF_I void *platform_newpage (size_t size);
CPROF_I void platform_freepage (void *page, size_t size);

/* the columns of the terminal that an open file is; 0: it is none */
CPROF_I int platform_columns (int fd);

/*
** 'handler' is called for the next SIGINT; the one after it kills again.
** NULL: the next one does.
*/
CPROF_I void platform_interrupt (void (*handler) (int number));

/* is there a file of this name that is none on a disk: a device, a pipe? */
CPROF_I int platform_special (const char *path);


/*
** Addresses alone, without memory behind them, to map a file at; to be
** given back with 'platform_freepage'. NULL: there are not so many.
*/
CPROF_I void *platform_space (size_t size);

/* 'size' bytes of a file from its beginning; less: there are no more */
CPROF_I size_t platform_read (int fd, char *to, size_t size);

/* maps 'size' bytes of an open file, shared, at a place in such a space */
CPROF_I int platform_map (void *at, size_t size, int fd, uint64_t offset);

/*
** Puts memory in the place of the file that is mapped at 'at', with what
** the file holds from its beginning. 0: out of memory, it stays mapped.
*/
CPROF_I int platform_unmap (void *at, size_t size, int fd);

/* puts an empty page in the place of the one that 'at' lies in */
CPROF_I int platform_replace (void *at);

/*
** Makes a file longer, with room on the disk for all of it, so that no
** later store can fail for lack of that. 0, or a number of errno. No
** signal is raised where the process may not write so much.
*/
CPROF_I int platform_extend (int fd, uint64_t from, uint64_t to);

/* locks a file for as long as it is open; 0: another one has locked it */
CPROF_I int platform_lock (int fd);

/* does another one have it locked? */
CPROF_I int platform_locked (int fd);

/* the number of this process */
CPROF_I long platform_process (void);

/*
** Stores 'value' where another thread, process, or whoever comes after
** the end of this one sees it no earlier than what was stored before.
*/
static inline void platform_publish (uint32_t *at, uint32_t value) {
#if defined(__GNUC__)
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
#else
  *(volatile uint32_t *)at = value;
#endif
}


/* a variable of each thread; 'initial-exec' saves a call per access */
#if defined(__GLIBC__)
#define PLATFORM_THREAD	\
	__thread __attribute__((tls_model("initial-exec")))
#elif defined(_MSC_VER)
#define PLATFORM_THREAD	__declspec(thread)
#else
#define PLATFORM_THREAD	__thread
#endif

/* C++, as which all of cprof can be compiled, wants to be told types */
#define cast(t, p)	((t)(p))

#ifdef __cplusplus
#define ZEROS	{}
#else
#define ZEROS	{0}
#endif

#if defined(__GNUC__)
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define rare		__attribute__((noinline, cold))
#define apart		__attribute__((noinline))
#else
#define likely(x)	(x)
#define unlikely(x)	(x)
#define rare
#define apart
#endif

#endif

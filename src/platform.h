/*
** What differs from one platform to the next: three clocks, a page
** that a fork wipes, terminals and files. Nothing else in cprof asks where it runs.
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

/* the columns of the terminal that is standard output; 0: it is none */
CPROF_I int platform_columns (void);

/* is there a file of this name that is none on a disk: a device, a pipe? */
CPROF_I int platform_special (const char *path);


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

/*
** See platform.h: Linux, macOS, the BSDs and others of their kind.
*/

#define _DEFAULT_SOURCE		/* winsize */
#define _GNU_SOURCE		/* dladdr */

#include "base/platform.h"

#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/uio.h>
#endif

#if defined(__APPLE__)
#include <limits.h>
#include <mach-o/dyld.h>
#elif defined(__FreeBSD__)
#include <sys/types.h>
#include <sys/sysctl.h>
#endif

#if defined(__linux__) || defined(__APPLE__) || defined(__FreeBSD__) || \
    defined(__NetBSD__) || defined(__OpenBSD__) || defined(__sun)
#include <dlfcn.h>
#define PLATFORM_DLADDR	1
#else
#define PLATFORM_DLADDR	0
#endif

/* the folder of this thread, and the file in it with what it has used */
#define THREAD_OWN	"/proc/thread-self/"
#define SCHEDSTAT	"schedstat"

/* ns by which PlatformUse.cpu may lag behind the clock */
#define DELAY_SLICE	1000000000u


uint64_t platform_clock (int clock) {
  struct timespec t;
  if (clock_gettime((clockid_t)clock, &t) != 0) return 0;
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}


uint64_t platform_monotonic (void) {
  return platform_clock(CLOCK_MONOTONIC);
}


uint64_t platform_cpu (void) {
  return platform_clock(CLOCK_THREAD_CPUTIME_ID);
}


/*
** The bounds are unknown if the thread runs on a stack that the program has
** made, and with musl, which tells only the part of the main thread's stack
** that was used so far.
*/
PlatformStack platform_stack (void) {
  PlatformStack stack = {NULL, NULL};
#if defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__)
  const char *here = (const char *)__builtin_frame_address(0);
  pthread_attr_t a;
  void *from;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &a) != 0) return stack;
  if (pthread_attr_getstack(&a, &from, &size) == 0 &&
      here >= (const char *)from && here < (const char *)from + size) {
    stack.from = (const char *)from;
    stack.to = stack.from + size;
  }
  pthread_attr_destroy(&a);
#endif
  return stack;
}


/* {======================================================
** Waiting for a processor
** ======================================================= */

#if defined(__linux__)
/* Reads the three numbers of schedstat. A system that does not count has 0. */
static int thread_parse (const char *text, PlatformUse *u) {
  char *at;
  u->cpu = strtoull(text, &at, 10);
  u->delay = strtoull(at, &at, 10);
  u->turns = strtoull(at, NULL, 10);
  return u->turns > 0;
}


int platform_threadtext (int64_t process, int64_t thread, const char *what,
                         char *text, size_t room) {
  char path[96];
  ssize_t size;
  int file;
  if (process == 0) snprintf(path, sizeof path, THREAD_OWN "%s", what);
  else
    snprintf(path, sizeof path, "/proc/%lld/task/%lld/%s", (long long)process,
             (long long)thread, what);
  file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  size = read(file, text, room - 1);
  close(file);
  text[size > 0 ? size : 0] = '\0';
  return size > 0;
}


int platform_threaduse (int64_t process, int64_t thread, PlatformUse *u) {
  char text[96];
  return platform_threadtext(process, thread, SCHEDSTAT, text, sizeof text) &&
         thread_parse(text, u);
}
#endif


void platform_delayopen (PlatformFile *f) {
#if defined(__linux__)
  uint64_t ns, blocks;
  int fd = open(THREAD_OWN SCHEDSTAT, O_RDONLY | O_CLOEXEC);
  platform_file(f, fd);
  if (platform_delay(f, &ns, &blocks)) return;
  if (fd >= 0) close(fd);
#endif
  f->fd = -1;
}


/*
** If the program has closed the descriptor and opened another file with its
** number, or has forked, what is read here is not this thread's. So the time
** for which the thread ran is checked: it has to agree with the thread's clock,
** but for the time slice that still runs.
*/
int platform_delay (const PlatformFile *f, uint64_t *ns, uint64_t *blocks) {
#if defined(__linux__)
  char text[64];
  struct rusage used;
  PlatformUse use;
  ssize_t size = pread(f->fd, text, sizeof text - 1, 0);
  uint64_t now = platform_cpu();
  if (size <= 0) return 0;
  text[size] = '\0';
  if (!thread_parse(text, &use) || use.cpu > now ||
      now - use.cpu > DELAY_SLICE || getrusage(RUSAGE_THREAD, &used) != 0)
    return 0;
  *ns = use.delay;
  *blocks = (uint64_t)used.ru_nvcsw;
  return 1;
#else
  (void)f; (void)ns; (void)blocks;
  return 0;
#endif
}


#if defined(__linux__)
/* The number of this process's PID namespace, of 32 bits. */
static uint64_t thread_namespace (void) {
  struct stat s;
  return stat("/proc/self/ns/pid", &s) == 0 ? (uint64_t)s.st_ino : 0;
}
#endif


/* On Linux, the lower half is the thread's number in its PID namespace. */
int64_t platform_threadid (void) {
#if defined(__linux__)
  return (int64_t)(thread_namespace() << 32 | (uint64_t)syscall(SYS_gettid));
#else
  return 0;
#endif
}


int platform_threadran (int64_t process, int64_t thread, uint64_t *ran,
                        uint64_t *delay, uint64_t *blocks) {
#if defined(__linux__)
  static const char line[] = "\nvoluntary_ctxt_switches:";
  char text[4096];
  const char *at;
  int64_t number = thread & UINT32_MAX;
  PlatformUse use;
  if ((uint64_t)thread >> 32 != (thread_namespace() & UINT32_MAX) ||
      !platform_threaduse(process, number, &use) ||
      !platform_threadtext(process, number, "status", text, sizeof text) ||
      (at = strstr(text, line)) == NULL)
    return 0;
  *ran = use.cpu;
  *delay = use.delay;
  *blocks = strtoull(at + sizeof line - 1, NULL, 10);
  return 1;
#else
  (void)process; (void)thread; (void)ran; (void)delay; (void)blocks;
  return 0;
#endif
}

/* }====================================================== */


/* {======================================================
** Processes
** ======================================================= */

/* A fork concerns the whole process, so all Lua states share these. */
static void (*platform_children[PLATFORM_CHILDREN]) (void);
static unsigned platform_forks;
static pthread_mutex_t platform_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t platform_watched = PTHREAD_ONCE_INIT;


static void platform_prepare (void) {
  pthread_mutex_lock(&platform_mutex);
}


void platform_release (void) {
  pthread_mutex_unlock(&platform_mutex);
}


static void platform_forked (void) {
  int i;
  platform_release();
  platform_forks++;
  for (i = 0; i < PLATFORM_CHILDREN; i++)
    if (platform_children[i] != NULL) platform_children[i]();
}


static void platform_watchforks (void) {
  pthread_atfork(platform_prepare, platform_release, platform_forked);
}


void platform_acquire (void) {
  pthread_once(&platform_watched, platform_watchforks);
  platform_prepare();
}


void platform_atfork (void (*child) (void)) {
  int i = 0;
  platform_acquire();
  while (platform_children[i] != NULL && platform_children[i] != child) i++;
  platform_children[i] = child;
  platform_release();
}


unsigned platform_generation (void) {
  return platform_forks;
}


long platform_process (void) {
  return (long)getpid();
}


/* If a fork happens while 'f' runs, the child runs 'f' anew. */
void platform_once (PlatformOnce *once, void (*f) (void)) {
  pthread_once(once, f);
}


/* Sleeps for this time, or until a signal comes. */
void platform_sleep (double seconds) {
  struct timespec t;
  t.tv_sec = (time_t)seconds;
  t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
  nanosleep(&t, NULL);
}


/*
** Reads this process's memory as another process would, where the system
** allows that. Valgrind does not object to it, even if bytes are undefined.
*/
int platform_copy (long process, const void *at, void *to, size_t size) {
#if defined(SYS_process_vm_readv)
  struct iovec local, remote;
  long n;
  local.iov_base = to;
  remote.iov_base = (void *)(uintptr_t)at;
  local.iov_len = remote.iov_len = size;
  n = syscall(SYS_process_vm_readv, process, &local, 1L, &remote, 1L, 0L);
  return n < 0 && errno != EFAULT ? -1 : n == (long)size;
#else
  (void)process; (void)at; (void)to; (void)size;
  return -1;
#endif
}

/* }====================================================== */


const void *platform_exported (const char *name) {
#if PLATFORM_DLADDR
  return dlsym(RTLD_DEFAULT, name);
#else
  (void)name;
  return NULL;
#endif
}


void platform_stay (void) {
#if PLATFORM_DLADDR && defined(RTLD_NODELETE) && defined(RTLD_NOLOAD)
  static const char here = 0;
  Dl_info info;
  if (dladdr(&here, &info) && info.dli_fname != NULL)
    (void)dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}


int platform_place (uintptr_t code, char to[PLATFORM_PLACE]) {
#if PLATFORM_DLADDR
  Dl_info info;
  size_t length;
  if (!dladdr((void *)code, &info) || info.dli_fname == NULL) return 0;
  length = strlen(info.dli_fname);  /* a long path loses its beginning */
  if (length > PLATFORM_PLACE / 2)
    info.dli_fname += length - PLATFORM_PLACE / 2;
  if (info.dli_sname != NULL && (uintptr_t)info.dli_saddr == code)
    snprintf(to, PLATFORM_PLACE, "%s: %s", info.dli_fname, info.dli_sname);
  else
    snprintf(to, PLATFORM_PLACE, "%s+0x%llx", info.dli_fname,
             (unsigned long long)(code - (uintptr_t)info.dli_fbase));
  return 1;
#else
  (void)code;
  (void)to;
  return 0;
#endif
}


void platform_file (PlatformFile *f, int fd) {
  struct stat s;
  memset(&s, 0, sizeof s);
  f->fd = fstat(fd, &s) == 0 ? fd : -1;
  f->device = (uint64_t)s.st_dev;
  f->number = (uint64_t)s.st_ino;
}


int platform_isopen (const PlatformFile *f) {
  struct stat s;
  return f->fd >= 0 && fstat(f->fd, &s) == 0 &&
         (uint64_t)s.st_dev == f->device && (uint64_t)s.st_ino == f->number;
}


void platform_closefile (const PlatformFile *f) {
  if (platform_isopen(f)) close(f->fd);
}


/* The shell's PWD is preferred, if correct: it keeps symbolic links. */
int platform_cwd (char *to, size_t room) {
  const char *called = getenv("PWD");
  struct stat a, b;
  if (called != NULL && called[0] == '/' && strlen(called) < room &&
      stat(called, &a) == 0 && stat(".", &b) == 0 &&
      a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
    strcpy(to, called);
    return 1;
  }
  return getcwd(to, room) != NULL;
}


#if defined(__APPLE__)

/* The system gives the path as the program was called, so it is resolved. */
int platform_executable (char *to, size_t room) {
  char called[PATH_MAX], whole[PATH_MAX];
  uint32_t size = sizeof called;
  if (_NSGetExecutablePath(called, &size) != 0 ||
      realpath(called, whole) == NULL || strlen(whole) >= room)
    return 0;
  strcpy(to, whole);
  return 1;
}

#elif defined(__FreeBSD__)

int platform_executable (char *to, size_t room) {
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PATHNAME, -1};
  return sysctl(name, 4, to, &room, NULL, 0) == 0;
}

#else

/* the names on Linux, NetBSD and DragonFly */
int platform_executable (char *to, size_t room) {
  static const char *const links[] = {
    "/proc/self/exe", "/proc/curproc/exe", "/proc/curproc/file"
  };
  size_t i;
  for (i = 0; i < sizeof links / sizeof *links; i++) {
    ssize_t n = readlink(links[i], to, room);
    if (n <= 0 || (size_t)n == room) continue;
    to[n] = '\0';
    return 1;
  }
  return 0;
}

#endif


/* Streams may be redirected, so this asks for the session's terminal. */
long platform_session (void) {
  int error = errno;
  int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (fd >= 0) close(fd);
  errno = error;
  return fd >= 0 ? (long)getsid(0) : 0;
}


int platform_terminal (int fd, int *columns, int *rows) {
  struct winsize w;
  if (!isatty(fd)) return 0;
  memset(&w, 0, sizeof w);
  ioctl(fd, TIOCGWINSZ, &w);
  *columns = w.ws_col;
  *rows = w.ws_row;
  return 1;
}

#endif

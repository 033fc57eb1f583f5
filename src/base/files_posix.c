/*
** See files.h: Linux, macOS, the BSDs and others of their kind.
*/

#define _DEFAULT_SOURCE		/* MAP_ANON, flock */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64

#include "base/files.h"

#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>


/*
** Opening a pipe or a device can have effects, so the path is checked before.
** The open file is checked again, as it may have been replaced in between.
*/
int files_open (const char *path) {
  struct stat s;
  int fd;
  if (stat(path, &s) != 0) return -1;
  if (S_ISREG(s.st_mode)) {
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || (fstat(fd, &s) == 0 && S_ISREG(s.st_mode))) return fd;
    close(fd);
  }
  errno = EINVAL;
  return -1;
}


int files_openprofile (const char *path, int create) {
  int flags = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  flags |= create ? O_RDWR | O_CREAT : O_RDONLY;
  return open(path, flags, 0666);
}


int files_claim (const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}


void files_close (int fd) {
  close(fd);
}


int64_t files_size (int fd) {
  struct stat s;
  if (fstat(fd, &s) != 0) return -1;
  if (S_ISREG(s.st_mode)) return (int64_t)s.st_size;
  errno = EINVAL;
  return -1;
}


int files_resize (int fd, uint64_t size) {
  return ftruncate(fd, (off_t)size) == 0 ? 0 : errno;
}


int files_rename (const char *from, const char *to) {
  return rename(from, to) == 0 ? 0 : errno;
}


int files_makefolder (const char *path) {
  return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}


int files_special (const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
}


/* {======================================================
** Mapped files
** ======================================================= */

#if !defined(MAP_NORESERVE)
#define MAP_NORESERVE	0
#endif

void *files_space (size_t size) {
  void *p = mmap(NULL, size, PROT_NONE,
                 MAP_PRIVATE | MAP_ANON | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}


void files_freespace (void *at, size_t size) {
  (void)munmap(at, size);
}


int files_map (void *at, size_t size, size_t *room, int fd,
               uint64_t offset) {
  if (size > *room) {
    errno = ENOMEM;
    return 0;
  }
  return mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
              (off_t)offset) != MAP_FAILED;
}


size_t files_read (int fd, char *to, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = pread(fd, to + done, size - done, (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += (size_t)n;
  }
  return done;
}


int files_unmap (void *at, size_t size, int fd) {
#if defined(__OpenBSD__)  /* pread may not see what a mapping has stored */
  (void)msync(at, size, MS_SYNC);
#endif
  if (mmap(at, size, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANON | MAP_FIXED, -1, 0) == MAP_FAILED)
    return 0;
  files_read(fd, cast(char *, at), size);  /* if cut short, zeros follow */
  return 1;
}


/* Writes zeros: this reserves room where there is no call that does. */
static int files_fill (int fd, uint64_t from, uint64_t to) {
  const char zeros[4096] = ZEROS;
  while (from < to) {
    size_t n = to - from < sizeof zeros ? (size_t)(to - from)
                                        : sizeof zeros;
    ssize_t done = pwrite(fd, zeros, n, (off_t)from);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done < 0 ? errno : ENOSPC;
    from += (uint64_t)done;
  }
  return 0;
}


uint64_t files_limit (void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY)
    return 0;
  return limit.rlim_cur > 0 ? (uint64_t)limit.rlim_cur : 1;
}


int files_extend (int fd, uint64_t from, uint64_t to) {
  uint64_t limit = files_limit();
  int status = EINVAL;
  if (limit > 0 && to > limit) return EFBIG;
#if !defined(__APPLE__) && !defined(__OpenBSD__)  /* they lack the call */
  do {
    status = posix_fallocate(fd, (off_t)from, (off_t)(to - from));
  } while (status == EINTR);
#endif
  /* the file system does not support it, or a sandbox forbids it */
  if (status == EINVAL || status == EOPNOTSUPP || status == ENOSYS ||
      status == EPERM)
    status = files_fill(fd, from, to);
  return status;
}


/* Locks of an open file. In strict modes, the C library hides their names. */
#if defined(__linux__) && !defined(F_OFD_SETLK)
#define F_OFD_GETLK	36
#define F_OFD_SETLK	37
#endif

#if defined(F_OFD_SETLK)

static int lock_call (int fd, int command, short type, struct flock *l) {
  memset(l, 0, sizeof *l);
  l->l_type = type;
  l->l_whence = SEEK_SET;
  return fcntl(fd, command, l) == 0;
}


int files_lock (int fd) {
  struct flock l;
  return lock_call(fd, F_OFD_SETLK, F_WRLCK, &l) ||
         (errno != EAGAIN && errno != EACCES);
}


void files_unlock (int fd) {
  struct flock l;
  (void)lock_call(fd, F_OFD_SETLK, F_UNLCK, &l);
}


int files_locked (int fd) {
  struct flock l;
  return lock_call(fd, F_OFD_GETLK, F_WRLCK, &l) && l.l_type != F_UNLCK;
}

#else

/* 'files_locked' locks the file for a moment, so locking is retried. */
#define LOCK_TRIES	100

int files_lock (int fd) {
  const struct timespec moment = {0, 1000000};
  int i;
  for (i = 0; i < LOCK_TRIES; i++) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return 1;
    nanosleep(&moment, NULL);
  }
  return 0;
}


void files_unlock (int fd) {
  flock(fd, LOCK_UN);
}


int files_locked (int fd) {
  if (flock(fd, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  flock(fd, LOCK_UN);
  return 0;
}

#endif

/* }====================================================== */

#endif

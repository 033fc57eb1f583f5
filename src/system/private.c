/*
** Files and processes of this user, in places where nobody else can write.
*/

#define _DEFAULT_SOURCE		/* fcntl */
#define _FILE_OFFSET_BITS 64

#include "base/files.h"
#include "system/listen.h"
#include "system/system.h"

#if PLATFORM_SIGNALS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>


#define HELD	"cprof.held"

/* most bytes that are read of a file */
#define PRIVATE_MOST	0x400000


/* {======================================================
** Folders
** ======================================================= */

static int private_owned (const struct stat *s) {
  return s->st_uid == geteuid() && (s->st_mode & 077) == 0;
}


/* path -> boolean: is it a folder that only this user can use? */
static int private_isprivate (lua_State *L) {
  struct stat s;
  lua_pushboolean(L, lstat(luaL_checkstring(L, 1), &s) == 0 &&
                     S_ISDIR(s.st_mode) && private_owned(&s));
  return 1;
}


/* path -> boolean: is it this user's folder, writable for nobody else? */
static int private_isown (lua_State *L) {
  struct stat s;
  lua_pushboolean(L, stat(luaL_checkstring(L, 1), &s) == 0 &&
                     S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
                     (s.st_mode & 022) == 0);
  return 1;
}

/* }====================================================== */


/* {======================================================
** Files
** ======================================================= */

/* Opens a file that only this user can use, and tells its size; or -1. */
static int private_openfile (const char *path, size_t *size) {
  struct stat s;
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -1;
  if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && private_owned(&s)) {
    *size = s.st_size < PRIVATE_MOST ? (size_t)s.st_size : PRIVATE_MOST;
    return fd;
  }
  close(fd);
  return -1;
}


/*
** path -> its text, if it is a file that only this user can use; or nil. The
** file is closed while memory is asked for, which may raise an error.
*/
static int private_read (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  size_t size, now;
  char *text;
  int fd = private_openfile(path, &size);
  if (fd < 0) return 0;
  close(fd);
  text = cast(char *, lua_newuserdatauv(L, size, 0));
  fd = private_openfile(path, &now);
  if (fd < 0) return 0;
  size = files_read(fd, text, size);
  close(fd);
  lua_pushlstring(L, text, size);
  return 1;
}


/*
** path -> a stamp, a text that changes whenever the file does; nil: it is no
** regular file, or it has changed in the last seconds, and may change again
** within the same second. Each change of a file sets 'st_ctime' to the time of
** the change, and programs cannot set it to another one.
*/
static int private_stamp (lua_State *L) {
  struct stat s;
  if (stat(luaL_checkstring(L, 1), &s) != 0 || !S_ISREG(s.st_mode) ||
      s.st_ctime > time(NULL) - 3)
    return 0;
  lua_pushfstring(L, "%I %I %I %I %I", (LUAI_UACINT)s.st_dev,
                  (LUAI_UACINT)s.st_ino, (LUAI_UACINT)s.st_size,
                  (LUAI_UACINT)s.st_mtime, (LUAI_UACINT)s.st_ctime);
  return 1;
}


/* Makes a file, and fails if it exists. */
static int private_create (const char *path) {
  int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = open(path, flags, 0600);
  if (fd >= 0 || errno != EEXIST || unlink(path) != 0) return fd;
  return open(path, flags, 0600);
}


/* Removes the file of an action that has failed; keeps errno. */
static void private_drop (const char *name) {
  int error = errno;
  unlink(name);
  errno = error;
}


/*
** Writes all of the text. 0: errno says why not. Above the limit for files, a
** signal would end the program.
*/
static int private_put (int fd, const char *text, size_t size) {
  uint64_t limit = files_limit();
  if (limit > 0 && size > limit) {
    errno = EFBIG;
    return 0;
  }
  while (size > 0) {
    ssize_t n = write(fd, text, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    text += n;
    size -= (size_t)n;
  }
  return 1;
}


/* The name of a file until it is complete; pushed. */
static const char *private_new (lua_State *L, const char *path) {
  return lua_pushfstring(L, "%s.%d", path, (int)platform_process());
}


/*
** path, text -> true; or nil and a message. Replaces the file at once: readers
** see the old text or the new one.
*/
static int private_write (lua_State *L) {
  const char *path = luaL_checkstring(L, 1), *to;
  size_t size;
  const char *text = luaL_checklstring(L, 2, &size);
  int fd, good;
  to = private_new(L, path);
  fd = private_create(to);
  if (fd < 0) return luaL_fileresult(L, 0, to);
  good = private_put(fd, text, size);
  good = close(fd) == 0 && good && rename(to, path) == 0;
  if (!good) private_drop(to);
  return luaL_fileresult(L, good, path);
}


static struct flock private_lock (short type) {
  struct flock l;
  memset(&l, 0, sizeof l);
  l.l_type = type;
  l.l_whence = SEEK_SET;
  return l;
}


/*
** path, text, offset in the text -> userdata that holds a lock on the file
** until it is collected or this process ends; or nil and a message. The lock
** belongs to the process: no child has it, nor the program after an exec. A
** program may close all of its files, ours too. That it listens is then known
** by its mapping of the file: each signal changes the byte at the offset, see
** 'listen_countin'. The file gets its name when it is locked, since one without
** a lock is removed.
*/
static int private_hold (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  size_t size;
  const char *text = luaL_checklstring(L, 2, &size);
  lua_Integer offset = luaL_checkinteger(L, 3);
  struct flock l = private_lock(F_WRLCK);
  PlatformFile *f = cast(PlatformFile *, lua_newuserdatauv(L, sizeof *f, 0));
  const char *to;
  int fd;
  f->fd = -1;
  luaL_setmetatable(L, HELD);
  to = private_new(L, path);
  fd = private_create(to);
  if (fd >= 0) platform_file(f, fd);
  if (fd < 0 || fcntl(fd, F_SETLK, &l) != 0 ||
      !private_put(fd, text, size) || rename(to, path) != 0) {
    private_drop(to);
    return luaL_fileresult(L, 0, path);
  }
  listen_countin(fd, (size_t)offset);
  lua_pop(L, 1);
  return 1;
}


/* userdata -> : its lock lasts until the process ends, even if collected */
static int private_keep (lua_State *L) {
  cast(PlatformFile *, luaL_checkudata(L, 1, HELD))->fd = -1;
  return 0;
}


static int held_gc (lua_State *L) {
  PlatformFile *f = cast(PlatformFile *, luaL_checkudata(L, 1, HELD));
  platform_closefile(f);
  f->fd = -1;
  return 0;
}


/* path -> the process that holds a lock on the file, or nil */
static int private_holder (lua_State *L) {
  struct flock l = private_lock(F_WRLCK);
  int fd = open(luaL_checkstring(L, 1),
                O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  int known;
  if (fd < 0) return 0;
  known = fcntl(fd, F_GETLK, &l) == 0 && l.l_type != F_UNLCK;
  close(fd);
  if (!known) return 0;
  lua_pushinteger(L, l.l_pid);
  return 1;
}

/* }====================================================== */


/* {======================================================
** Processes
** ======================================================= */

typedef struct SignalName {
  const char *name;
  int number;
} SignalName;

/* signals that can be chosen, as programs hardly use them otherwise */
static const SignalName private_signals[] = {
  {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"PROF", SIGPROF},
  {"WINCH", SIGWINCH}, {"URG", SIGURG}, {"IO", SIGIO}, {NULL, 0}
};


/* name, with or without "SIG" -> number; nil: it is not one of these signals */
static int private_signalnumber (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const SignalName *s = private_signals;
  if (strncmp(name, "SIG", 3) == 0) name += 3;
  while (s->name != NULL && strcmp(name, s->name) != 0) s++;
  if (s->name == NULL) return 0;
  lua_pushinteger(L, s->number);
  return 1;
}


/* -> id of this user */
static int private_user (lua_State *L) {
  lua_pushinteger(L, (lua_Integer)geteuid());
  return 1;
}


/*
** process, number of a signal -> true; or nil and a message. Where the system
** can, it is sent with sigqueue, which tells that it is a request of cprof.
*/
static int private_signal (lua_State *L) {
  lua_Integer process = luaL_checkinteger(L, 1);
  int number = (int)luaL_checkinteger(L, 2), good;
  luaL_argcheck(L, process > 1 && process <= 0x7fffffff, 1, "no process");
#if defined(_POSIX_REALTIME_SIGNALS) && _POSIX_REALTIME_SIGNALS > 0
  {
    union sigval nothing;
    memset(&nothing, 0, sizeof nothing);
    good = sigqueue((pid_t)process, number, nothing) == 0;
  }
#else
  good = kill((pid_t)process, number) == 0;
#endif
  return luaL_fileresult(L, good, NULL);
}


/* process -> "self": it is this user's; "other": another user's; nil: the
** process does not exist */
static int private_owner (lua_State *L) {
  lua_Integer process = luaL_checkinteger(L, 1);
  struct stat s;
  char path[64];
  if (process < 1 || process > 0x7fffffff) return 0;
  if (kill((pid_t)process, 0) != 0 && errno != EPERM) return 0;
  snprintf(path, sizeof path, "/proc/%ld", (long)process);
  if (stat(path, &s) == 0)
    lua_pushstring(L, s.st_uid == geteuid() ? "self" : "other");
  else
    lua_pushstring(L, kill((pid_t)process, 0) == 0 ? "self" : "other");
  return 1;
}


/* }====================================================== */


static const luaL_Reg private_list[] = {
  {"user", private_user},
  {"isprivate", private_isprivate},
  {"isown", private_isown},
  {"private_read", private_read},
  {"private_write", private_write},
  {"stamp", private_stamp},
  {"hold", private_hold},
  {"keep_held", private_keep},
  {"holder", private_holder},
  {"signalnumber", private_signalnumber},
  {"signal", private_signal},
  {"owner", private_owner},
  {NULL, NULL}
};

void private_open (lua_State *L) {
  system_class(L, HELD, held_gc);
  luaL_setfuncs(L, private_list, 0);
}

#endif

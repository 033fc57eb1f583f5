/*
** See private.h
*/

#define _DEFAULT_SOURCE		/* fcntl */
#define _FILE_OFFSET_BITS 64

#include "lua/private.h"

#include "lua/listen.h"

#if PLATFORM_SIGNALS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>


#define HELD	"cprof.held"

/* most bytes that are read of a file */
#define PRIVATE_MOST	65536


/* {======================================================
** Folders
** ======================================================= */

static int private_owned (const struct stat *s) {
  return s->st_uid == geteuid() && (s->st_mode & 077) == 0;
}


/* Makes the folder if need be. Can only this user read or write in it? */
static int private_make (const char *path) {
  struct stat s;
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return 0;
  return lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && private_owned(&s);
}


/*
** -> a folder that only this user can use, for recordings without a name; nil:
** there is none
*/
static int private_folder (lua_State *L) {
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  const char *temporary = getenv("TMPDIR");
  if (runtime != NULL && *runtime == '/') {
    lua_pushfstring(L, "%s/cprof", runtime);
    if (private_make(lua_tostring(L, -1))) return 1;
  }
  if (temporary == NULL || *temporary != '/') temporary = "/tmp";
  lua_pushfstring(L, "%s/cprof-%d", temporary, (int)geteuid());
  return private_make(lua_tostring(L, -1));
}


static void private_addfolder (lua_State *L, const char *path) {
  struct stat s;
  if (lstat(path, &s) != 0 || !S_ISDIR(s.st_mode) || !private_owned(&s))
    return;
  lua_pushstring(L, path);
  lua_rawseti(L, 1, luaL_len(L, 1) + 1);
}


/*
** -> list of all existing folders that 'core.folder' may have returned in some
** process of this user, which may have another environment
*/
static int private_folders (lua_State *L) {
  static const char *const from[] = {"XDG_RUNTIME_DIR", "TMPDIR"};
  char path[4096];
  int i, id = (int)geteuid();
  lua_settop(L, 0);
  lua_newtable(L);
  for (i = 0; i < 2; i++) {
    const char *folder = getenv(from[i]);
    if (folder == NULL || *folder != '/') continue;
    if (i == 0) snprintf(path, sizeof path, "%s/cprof", folder);
    else snprintf(path, sizeof path, "%s/cprof-%d", folder, id);
    private_addfolder(L, path);
  }
  snprintf(path, sizeof path, "/run/user/%d/cprof", id);
  private_addfolder(L, path);
  snprintf(path, sizeof path, "/tmp/cprof-%d", id);
  private_addfolder(L, path);
  return 1;
}


/* path -> is it a folder of this user's, which nobody else can write to? */
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

/* path -> its text, if it is a file that only this user can write; or nil */
static int private_read (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  char *text = cast(char *, lua_newuserdatauv(L, PRIVATE_MOST, 0));
  struct stat s;
  ssize_t n = -1;
  int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return 0;
  if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && private_owned(&s))
    n = read(fd, text, PRIVATE_MOST);
  close(fd);
  if (n < 0) return 0;
  lua_pushlstring(L, text, (size_t)n);
  return 1;
}


/* Makes a file, and fails if it exists. */
static int private_create (const char *path) {
  int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  int fd = open(path, flags, 0600);
  if (fd >= 0 || errno != EEXIST || unlink(path) != 0) return fd;
  return open(path, flags, 0600);
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
  to = lua_pushfstring(L, "%s.%d", path, (int)platform_process());
  fd = private_create(to);
  if (fd < 0) return luaL_fileresult(L, 0, to);
  good = write(fd, text, size) == (ssize_t)size;
  good = close(fd) == 0 && good && rename(to, path) == 0;
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
** 'listen_countin'.
*/
static int private_hold (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  size_t size;
  const char *text = luaL_checklstring(L, 2, &size);
  lua_Integer offset = luaL_checkinteger(L, 3);
  struct flock l = private_lock(F_WRLCK);
  PlatformFile *f = cast(PlatformFile *, lua_newuserdatauv(L, sizeof *f, 0));
  int fd;
  f->fd = -1;
  luaL_setmetatable(L, HELD);
  fd = private_create(path);
  if (fd >= 0) platform_file(f, fd);
  if (fd < 0 || fcntl(fd, F_SETLK, &l) != 0 ||
      write(fd, text, size) != (ssize_t)size)
    return luaL_fileresult(L, 0, path);
  listen_countin(fd, (size_t)offset);
  return 1;
}


/* userdata -> : its lock lasts until the process ends, even if collected */
static int private_keep (lua_State *L) {
  cast(PlatformFile *, luaL_checkudata(L, 1, HELD))->fd = -1;
  return 0;
}


static int held_gc (lua_State *L) {
  PlatformFile *f = cast(PlatformFile *, luaL_checkudata(L, 1, HELD));
  if (platform_isopen(f)) close(f->fd);
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
  {"WINCH", SIGWINCH}, {"URG", SIGURG}, {"IO", SIGIO}
};


/* name, with or without "SIG" -> number; nil: it is not one of these signals */
static int private_signalnumber (lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  size_t i;
  if (strncmp(name, "SIG", 3) == 0) name += 3;
  for (i = 0; i < sizeof private_signals / sizeof *private_signals; i++) {
    if (strcmp(name, private_signals[i].name) != 0) continue;
    lua_pushinteger(L, private_signals[i].number);
    return 1;
  }
  return 0;
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


/* process -> "self": it is this user's; "other": another user's; nil: there
** is no such process */
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
  {"folder", private_folder},
  {"folders", private_folders},
  {"isown", private_isown},
  {"private_read", private_read},
  {"private_write", private_write},
  {"hold", private_hold},
  {"keep_held", private_keep},
  {"holder", private_holder},
  {"signalnumber", private_signalnumber},
  {"signal", private_signal},
  {"owner", private_owner},
  {NULL, NULL}
};

const luaL_Reg *private_functions (void) {
  return private_list;
}


void private_open (lua_State *L) {
  luaL_newmetatable(L, HELD);
  lua_pushcfunction(L, held_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
}

#endif

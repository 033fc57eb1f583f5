/*
** Terminals, kinds and texts of files, processes, the time.
*/

#include "system/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "file/format.h"
#include "heap/nogc.h"


/*
** file descriptor, default 1 -> columns and rows of that terminal; nil: it is
** not a terminal
*/
static int system_columns (lua_State *L) {
  int columns, rows;
  int fd = (int)luaL_optinteger(L, 1, 1);
  if (!platform_terminal(fd, &columns, &rows)) return 0;
  lua_pushinteger(L, columns ? columns : 80);
  lua_pushinteger(L, rows ? rows : 24);
  return 2;
}


/* path -> boolean: is it something that a file must not replace? */
static int system_special (lua_State *L) {
  lua_pushboolean(L, files_special(luaL_checkstring(L, 1)));
  return 1;
}


/* path -> boolean: is a process recording into this file? */
static int system_islive (lua_State *L) {
  int fd = files_open(luaL_checkstring(L, 1));
  lua_pushboolean(L, fd >= 0 && files_locked(fd));
  if (fd >= 0) files_close(fd);
  return 1;
}


/* Pushes true; or, after an error, nil and its message. */
static int system_result (lua_State *L, int error) {
  if (error != 0) return system_fail(L, strerror(error));
  lua_pushboolean(L, 1);
  return 1;
}


/* path -> true: something is there now; or nil and a message: no folder */
static int system_makefolder (lua_State *L) {
  return system_result(L, files_makefolder(luaL_checkstring(L, 1)));
}


/*
** path -> what identifies its recording: process, time, and a hash of its
** figures, as there may be several in a second; nil: it is not a profile
*/
static int system_recorded (lua_State *L) {
  FormatHeader h;
  int fd = files_open(luaL_checkstring(L, 1)), ok;
  if (fd < 0) return 0;
  ok = files_read(fd, (char *)&h, sizeof h) == sizeof h &&
       memcmp(h.magic, FORMAT_MAGIC, sizeof h.magic) == 0;
  files_close(fd);
  if (!ok) return 0;
  lua_pushfstring(L, "%I-%I-%I", (LUAI_UACINT)h.pid,
                  (LUAI_UACINT)h.started_at,
                  (LUAI_UACINT)(int64_t)checksum_bytes((const char *)&h,
                                                       sizeof h));
  return 1;
}


/* -> id of this process */
static int system_process (lua_State *L) {
  lua_pushinteger(L, platform_process());
  return 1;
}


/* -> what identifies this process's terminal; nil: it has none */
static int system_terminal (lua_State *L) {
  long session = platform_session();
  if (session == 0) return 0;
  lua_pushinteger(L, session);
  return 1;
}


/*
** -> a number that no other call in this process gets, in any state. The child
** of a fork goes on from its parent's number, which its first file may have.
*/
static int system_number (lua_State *L) {
  static unsigned last;
  lua_pushinteger(L, platform_increment(&last));
  return 1;
}


/*
** path -> false: there is a file of this name, perhaps another process's; true:
** an empty one was created or, if that failed, a writer will say why
*/
static int system_claim (lua_State *L) {
  lua_pushboolean(L, files_claim(luaL_checkstring(L, 1)) != EEXIST);
  return 1;
}


int system_fail (lua_State *L, const char *why) {
  lua_pushnil(L);
  lua_pushstring(L, why);
  return 2;
}


static int system_unread (lua_State *L, const char *path, int error) {
  return system_fail(L, lua_pushfstring(L, "%s: %s", path,
    error == EINVAL ? "not a regular file" : strerror(error)));
}


/* files of fewer bytes are read without asking for their size */
#define SHORT_FILE	16384

/*
** path -> its text; or nil and a message. Only regular files are read, as the
** name of a chunk may be that of a pipe, or of the program's input. If the file
** grows meanwhile, it is read again. A luaL_Buffer cannot do that: popping its
** box moves the stack, which Lua 5.4.3 and 5.4.4 do not expect.
*/
static int system_readfile (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  char few[SHORT_FILE];
  size_t room = sizeof few, got;
  char *to;
  int fd = files_open(path);
  int64_t size;
  if (fd < 0) return system_unread(L, path, errno);
  got = files_read(fd, few, sizeof few);
  size = got == sizeof few ? files_size(fd) : 0;
  files_close(fd);
  if (got < sizeof few) {
    lua_pushlstring(L, few, got);
    return 1;
  }
  do {  /* closes the file before anything that may raise an error */
    lua_settop(L, 1);
    room *= 2;
    if (size >= (int64_t)room) room = (size_t)size + 1;
    to = cast(char *, lua_newuserdatauv(L, room, 0));
    fd = files_open(path);
    if (fd < 0) return system_unread(L, path, errno);
    got = files_read(fd, to, room);
    files_close(fd);
  } while (got == room);
  lua_pushlstring(L, to, got);
  return 1;
}


/*
** os.exit, but calls another function first. It is a C function, so that
** errors in its arguments have the line of the call. At the end it calls the
** library's os.exit, as closing the state unloads this code. The program's
** finalizers run there, after that function.
*/
static int system_exit (lua_State *L) {
  Recorder *r;
  int held;
  if (!lua_isboolean(L, 1)) (void)luaL_optinteger(L, 1, 0);
  lua_settop(L, 2);
  r = recorder_get(L);
  held = r != NULL && nogc_begin(r, L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pcall(L, 0, 0, 0);
  if (held) nogc_end(r, L);
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, 2, 0);
  return 0;
}


/*
** Calls the function, and prints its error, if any, to standard error: in a
** finalizer, or at exit, nobody else would.
*/
int system_say (lua_State *L) {
  const char *why;
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  if (lua_pcall(L, lua_gettop(L) - 1, 0, 0) == LUA_OK) return 0;
  why = lua_tostring(L, -1);
  fprintf(stderr, "cprof: %s\n", why ? why : "an error that is not a string");
  return 0;
}


/* function -> a function that calls it, and prints its errors */
static int system_saying (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_pushcclosure(L, system_say, 1);
  return 1;
}


/* function, os.exit -> an os.exit that calls the function first */
static int system_exiting (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_pushcclosure(L, system_exit, 2);
  return 1;
}


static int system_path (lua_State *L, int (*f) (char *to, size_t room)) {
  char path[4096];
  if (!f(path, sizeof path)) return 0;
  lua_pushstring(L, path);
  return 1;
}


/* -> the current folder, or nil */
static int system_cwd (lua_State *L) {
  return system_path(L, platform_cwd);
}


/* -> path of the program that runs, or nil */
static int system_executable (lua_State *L) {
  return system_path(L, platform_executable);
}


/* os.rename, but on all systems, it replaces an existing file */
static int system_rename (lua_State *L) {
  return system_result(L, files_rename(luaL_checkstring(L, 1),
                                       luaL_checkstring(L, 2)));
}


/* -> most bytes that a file may have; nil: no limit */
static int system_filelimit (lua_State *L) {
  uint64_t limit = files_limit();
  if (limit == 0) return 0;
  lua_pushinteger(L, limit < INT64_MAX ? (lua_Integer)limit
                                       : LUA_MAXINTEGER);
  return 1;
}


/* seconds -> : sleeps for that time, or until a signal comes */
static int system_sleep (lua_State *L) {
  double seconds = luaL_checknumber(L, 1);
  if (seconds > 0) platform_sleep(seconds > 1e8 ? 1e8 : seconds);
  return 0;
}


/* -> seconds of a clock that never goes back */
static int system_seconds (lua_State *L) {
  lua_pushnumber(L, (lua_Number)platform_monotonic() * 1e-9);
  return 1;
}


void system_class (lua_State *L, const char *name, lua_CFunction gc) {
  luaL_newmetatable(L, name);
  if (gc != NULL) {
    lua_pushcfunction(L, gc);
    lua_setfield(L, -2, "__gc");
  }
  lua_pop(L, 1);
}


static const luaL_Reg system_list[] = {
  {"columns", system_columns},
  {"process", system_process},
  {"terminal", system_terminal},
  {"number", system_number},
  {"claim", system_claim},
  {"special", system_special},
  {"islive", system_islive},
  {"makefolder", system_makefolder},
  {"recorded", system_recorded},
  {"readfile", system_readfile},
  {"exiting", system_exiting},
  {"saying", system_saying},
  {"cwd", system_cwd},
  {"executable", system_executable},
  {"rename", system_rename},
  {"filelimit", system_filelimit},
  {"sleep", system_sleep},
  {"seconds", system_seconds},
  {NULL, NULL}
};

void system_open (lua_State *L) {
  luaL_setfuncs(L, system_list, 0);
}

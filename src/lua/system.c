/*
** See system.h
*/

#define _DEFAULT_SOURCE		/* winsize */
#define _FILE_OFFSET_BITS 64

#include "lua/system.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/attach.h"


/* {======================================================
** Ctrl-C: an error in the program, as in the standalone interpreter, but
** in whichever coroutine runs; recording goes on when it is caught
** ======================================================= */

/* Runs in the place of our hook, at the next instruction. */
static void interrupt_raise (lua_State *L, lua_Debug *ar) {
  (void)ar;
  attach_restore(recorder_get(L), L);
  luaL_error(L, "interrupted!");
}


/* Setting a hook is all that Lua allows here. */
static void interrupt_signal (int number) {
  const Recorder *r = hot_current->recorder;
  lua_State *L = hot_current->L;
  if (r == NULL) {  /* a thread that records nothing */
    raise(number);
    return;
  }
  if (L == NULL)
    L = r->state == STATE_RUNNING ? r->current->L : r->main;
  lua_sethook(L, interrupt_raise, LUA_MASKCALL | LUA_MASKRET |
              LUA_MASKLINE | LUA_MASKCOUNT, 1);
}


/* boolean -> : is SIGINT an error in the program? The next one kills. */
static int system_interruptible (lua_State *L) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = lua_toboolean(L, 1) ? interrupt_signal : SIG_DFL;
  action.sa_flags = (int)SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  return 0;
}

/* }====================================================== */


/* open file, default 1, as a terminal; 0: it is none */
static int system_terminal (lua_State *L, struct winsize *w) {
  int fd = (int)luaL_optinteger(L, 1, 1);
  if (!isatty(fd)) return 0;
  memset(w, 0, sizeof *w);
  ioctl(fd, TIOCGWINSZ, w);
  return 1;
}


/* open file, default 1 -> columns of the terminal that it is; nil: none */
static int system_columns (lua_State *L) {
  struct winsize w;
  if (!system_terminal(L, &w)) return 0;
  lua_pushinteger(L, w.ws_col ? w.ws_col : 80);
  return 1;
}


/* open file, default 1 -> rows of the terminal that it is; nil: none */
static int system_rows (lua_State *L) {
  struct winsize w;
  if (!system_terminal(L, &w)) return 0;
  lua_pushinteger(L, w.ws_row ? w.ws_row : 24);
  return 1;
}


/* path -> is there something that a file must not replace? */
static int system_special (lua_State *L) {
  struct stat s;
  const char *path = luaL_checkstring(L, 1);
  lua_pushboolean(L, stat(path, &s) == 0 && !S_ISREG(s.st_mode));
  return 1;
}


/* -> id of this process */
static int system_process (lua_State *L) {
  lua_pushinteger(L, platform_process());
  return 1;
}


static int system_fail (lua_State *L, const char *path, int error) {
  lua_pushnil(L);
  lua_pushfstring(L, "%s: %s", path, error == EINVAL ? "not a regular file"
                                                     : strerror(error));
  return 2;
}


/*
** path -> its text; or nil and a message. Only regular files are read, for
** a chunk may have the name of a pipe, or of the program's input.
*/
static int system_readfile (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  size_t room = 0, size;
  luaL_Buffer b;
  do {  /* the file is closed whenever Lua may raise an error */
    char *to;
    int fd;
    lua_settop(L, 1);
    room = room * 4 + 32768;
    to = luaL_buffinitsize(L, &b, room);
    fd = platform_openfile(path);
    if (fd < 0) return system_fail(L, path, errno);
    size = platform_read(fd, to, room);
    close(fd);
  } while (size == room);
  luaL_pushresultsize(&b, size);
  return 1;
}


/*
** os.exit, but calls a function before. It must be a C function: errors in
** its arguments are those of the line that calls it. The library's own
** ends the program, for closing the state unloads this code. The program's
** finalizers run there, after the function, as they would without it.
*/
static int system_exit (lua_State *L) {
  int running = lua_gc(L, LUA_GCISRUNNING);
  if (!lua_isboolean(L, 1)) (void)luaL_optinteger(L, 1, 0);
  lua_settop(L, 2);
  lua_gc(L, LUA_GCSTOP);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_pcall(L, 0, 0, 0);
  if (running) lua_gc(L, LUA_GCRESTART);
  lua_settop(L, 2);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, 2, 0);
  return 0;
}


/* function, os.exit -> an os.exit that calls the function first */
static int system_exiting (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_pushcclosure(L, system_exit, 2);
  return 1;
}


static const luaL_Reg system_list[] = {
  {"interruptible", system_interruptible},
  {"columns", system_columns},
  {"rows", system_rows},
  {"process", system_process},
  {"special", system_special},
  {"readfile", system_readfile},
  {"exiting", system_exiting},
  {NULL, NULL}
};

const luaL_Reg *system_functions (void) {
  return system_list;
}

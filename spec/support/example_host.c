/*
** cprof-host: a program that embeds Lua and cprof, as an example to copy
** from, and as the host of specs. src/host/README.md explains its calls.
**
**   cprof-host [--profile[=LOG]] [--profile-file=FILE]
**              [--profile-mode=call|line|trace|sample] [--frames=N]
**              script.lua [args...]
**
** It runs a script. With --frames=N it then calls the script's function
** update(dt) N times, as a game would. --profile shows a report at the end,
** or writes a full report to LOG. --profile-file records into FILE, which
** the command can read even while the program runs: cprof report FILE.
** Without both options, the program can be recorded with cprof attach.
*/

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "cprof.h"


#define NAME	"cprof-host"

#define USAGE	"usage: " NAME " [--profile[=LOG]] " \
		"[--profile-file=FILE]\n" \
		"                  [--profile-mode=call|line|trace|sample] " \
		"[--frames=N]\n" \
		"                  script.lua [args...]\n"


typedef struct Arguments {
  int report;		/* is a report wanted? */
  const char *log;	/* file for a full report; NULL: stderr, a short one */
  const char *file;	/* file to record into; NULL: memory */
  const char *mode;
  long frames;		/* number of frames; -1: the script is not a game */
  const char *script;
  char **rest;		/* the script's name and its arguments */
} Arguments;


/* {======================================================
** Profiling
** ======================================================= */

static int profile_write (lua_State *L, const void *text, size_t size,
                          void *file) {
  (void)L;
  return fwrite(text, 1, size, (FILE *)file) != size;
}


/* Shows an error of the profiler. The program goes on without it. */
static void profile_check (lua_State *L, int status) {
  if (status == LUA_OK) return;
  fprintf(stderr, NAME ": %s\n", lua_tostring(L, -1));
  lua_pop(L, 1);
}


static void profile_show (lua_State *L, const char *mode, int limit,
                          FILE *to) {
  cprof_ReportOptions o = {0};
  o.mode = mode;
  o.limit = limit;
  if (to != stderr) o.color = "never";
  profile_check(L, cprof_report(L, &o, profile_write, to));
  fputc('\n', to);
}


/* Shows an annotated source; NULL: the hottest ones. */
static void profile_source (lua_State *L, const char *source, int limit,
                            FILE *to) {
  cprof_ReportOptions o = {0};
  o.limit = limit;
  if (to != stderr) o.color = "never";
  profile_check(L, cprof_annotate(L, source, &o, profile_write, to));
}


static void profile_print (lua_State *L, const Arguments *a, FILE *to) {
  int all = a->log != NULL ? CPROF_ALL : 0;
  profile_show(L, "total", all, to);
  profile_show(L, "tree", all, to);
  if (all) profile_show(L, "callgraph", all, to);
  if (a->frames >= 0) profile_show(L, "frames", all, to);
  if (strcmp(a->mode, "line") != 0) return;
  profile_source(L, a->script, 0, to);
  if (all) profile_source(L, NULL, all, to);
}


/*
** Stops and reports. It is called wherever the program may end; only the
** first call does anything.
*/
static void profile_end (lua_State *L, const Arguments *a) {
  FILE *to = stderr;
  if (!cprof_stop(L) || !a->report) return;
  fflush(stdout);
  if (a->log != NULL) {  /* append if the trace is in the same file */
    to = fopen(a->log, strcmp(a->mode, "trace") == 0 ? "a" : "w");
    if (to == NULL) {
      fprintf(stderr, NAME ": cannot write '%s': %s\n", a->log,
              strerror(errno));
      return;
    }
  }
  profile_print(L, a, to);
  if (to != stderr && fclose(to) != 0)
    fprintf(stderr, NAME ": cannot write '%s': %s\n", a->log,
            strerror(errno));
}


static int profile_begin (lua_State *L, const Arguments *a) {
  cprof_Options o = {0};
  o.mode = a->mode;
  o.file = a->file;
  if (strcmp(a->mode, "trace") == 0) o.trace = a->log;
  if (a->frames >= 0) o.slow_frames.budget_ms = 1000.0 / 60;
  return cprof_start(L, &o);
}


/*
** Replaces os.exit, which does not return, so this ends the profile first.
** Upvalues: Arguments, the real os.exit.
*/
static int profile_exit (lua_State *L) {
  const Arguments *a =
    (const Arguments *)lua_touserdata(L, lua_upvalueindex(1));
  int n = lua_gettop(L);
  if (!lua_isboolean(L, 1)) luaL_optinteger(L, 1, EXIT_SUCCESS);
  profile_end(L, a);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, n, 0);
  return 0;
}


static void profile_catchexit (lua_State *L, const Arguments *a) {
  lua_getglobal(L, "os");
  lua_pushlightuserdata(L, (void *)a);
  lua_getfield(L, -2, "exit");
  lua_pushcclosure(L, profile_exit, 2);
  lua_setfield(L, -2, "exit");
  lua_pop(L, 1);
}

/* }====================================================== */


/* {======================================================
** Ctrl-C raises an error in what runs, as in lua.c, but also in coroutines:
** cprof_current finds the one that runs, once cprof_interruptible was called.
** The hook that was set before is restored.
** ======================================================= */

typedef struct Interrupted {
  lua_Hook hook;
  int mask, count;
} Interrupted;

static lua_State *main_state;
static Interrupted interrupted;
static volatile sig_atomic_t was_interrupted;


static void interrupt (lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, interrupted.hook, interrupted.mask, interrupted.count);
  was_interrupted = 1;
  luaL_traceback(L, L, NAME ": interrupted here", 0);
  fprintf(stderr, "%s\n", lua_tostring(L, -1));
  luaL_error(L, "interrupted!");
}


static void on_signal (int number) {
  int all = LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT;
  lua_State *L = cprof_current();
  signal(number, SIG_DFL);  /* a second signal ends the program */
  if (L == NULL) L = main_state;
  interrupted.hook = lua_gethook(L);
  interrupted.mask = lua_gethookmask(L);
  interrupted.count = lua_gethookcount(L);
  lua_sethook(L, interrupt, all, 1);
}

/* }====================================================== */


/* {======================================================
** Running the program
** ======================================================= */

static int run_traceback (lua_State *L) {
  const char *message = lua_tostring(L, 1);
  if (message == NULL) {
    if (luaL_callmeta(L, 1, "__tostring") && lua_isstring(L, -1)) return 1;
    message = lua_pushfstring(L, "(error object is a %s value)",
                              luaL_typename(L, 1));
  }
  if (!was_interrupted) luaL_traceback(L, L, message, 1);
  return 1;
}


/*
** Calls the function below its 'n' arguments. Returns 0 if it fails, after
** showing the message.
*/
static int run_call (lua_State *L, int n) {
  int base = lua_gettop(L) - n, status;
  lua_pushcfunction(L, run_traceback);
  lua_insert(L, base);
  status = lua_pcall(L, n, 0, base);
  lua_remove(L, base);
  if (status == LUA_OK) return 1;
  fflush(stdout);
  fprintf(stderr, NAME ": %s\n", lua_tostring(L, -1));
  lua_pop(L, 1);
  return 0;
}


/* Sets the global 'arg'. Reports take the program's name from it. */
static void run_arguments (lua_State *L, const Arguments *a) {
  int i;
  lua_newtable(L);
  for (i = 0; a->rest[i] != NULL; i++) {
    lua_pushstring(L, a->rest[i]);
    lua_rawseti(L, -2, i);
  }
  lua_setglobal(L, "arg");
}


/* Pushes the script as a function. Returns 0 if it cannot be loaded. */
static int run_load (lua_State *L, const Arguments *a) {
  int status;
  CPROF_BEGIN(L, load) {
    status = luaL_loadfile(L, a->script);
  } CPROF_END(L)
  if (status == LUA_OK) return 1;
  fprintf(stderr, NAME ": %s\n", lua_tostring(L, -1));
  return 0;
}


static int run_script (lua_State *L, const Arguments *a) {
  int n;
  for (n = 1; a->rest[n] != NULL; n++) lua_pushstring(L, a->rest[n]);
  return run_call(L, n - 1);
}


static int run_frame (lua_State *L, double dt) {
  int ok;
  CPROF_BEGIN(L, update) {
    lua_getglobal(L, "update");
    lua_pushnumber(L, dt);
    ok = run_call(L, 1);
  } CPROF_END(L)
  CPROF_BEGIN(L, collect) {
    lua_gc(L, LUA_GCSTEP, 0);
  } CPROF_END(L)
  cprof_frame(L, 1);
  return ok && !was_interrupted;
}


static int run_frames (lua_State *L, long frames) {
  int found = lua_getglobal(L, "update") == LUA_TFUNCTION;
  lua_pop(L, 1);
  if (!found) {
    fprintf(stderr, NAME ": the script has no global function 'update', "
                    "which --frames needs\n");
    return 0;
  }
  cprof_frame(L, 1);  /* the game's first frame begins here */
  while (frames-- > 0)
    if (!run_frame(L, 1.0 / 60)) return 0;
  return 1;
}


static int run (lua_State *L, const Arguments *a) {
  int profile = a->report || a->file != NULL, loaded, ok;
  luaL_openlibs(L);
  run_arguments(L, a);
  if (cprof_open(L) != LUA_OK ||
      (profile && profile_begin(L, a) != LUA_OK)) {
    fprintf(stderr, NAME ": %s\n", lua_tostring(L, -1));
    return 0;
  }
  if (profile) profile_catchexit(L, a);
  if (!profile) profile_check(L, cprof_listen(L));
  profile_check(L, cprof_interruptible(L));
  main_state = L;
  signal(SIGINT, on_signal);
  loaded = run_load(L, a);
  ok = loaded && run_script(L, a) &&
       (a->frames < 0 || run_frames(L, a->frames));
  signal(SIGINT, SIG_DFL);
  if (loaded) profile_end(L, a);
  return ok;
}

/* }====================================================== */


static int arguments_wrong (const char *what, const char *value) {
  fprintf(stderr, NAME ": %s '%s'\n" USAGE, what, value);
  return 0;
}


/* The value in 'word' if that is "name=value"; else NULL. */
static const char *arguments_value (const char *word, const char *name) {
  size_t n = strlen(name);
  return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}


static int arguments_frames (Arguments *a, const char *value) {
  char *end;
  a->frames = strtol(value, &end, 10);
  if (*value != '\0' && *end == '\0' && a->frames >= 0) return 1;
  return arguments_wrong("--frames needs a number from 0, got", value);
}


static int arguments_mode (Arguments *a, const char *value) {
  static const char *const modes[] = {"call", "line", "trace", "sample"};
  size_t i;
  a->mode = value;
  for (i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(value, modes[i]) == 0) return 1;
  return arguments_wrong("--profile-mode must be call, line, trace or "
                         "sample, not", value);
}


static int arguments_option (Arguments *a, const char *word) {
  const char *value;
  if (strcmp(word, "--profile") == 0) return a->report = 1;
  if ((value = arguments_value(word, "--profile")) != NULL) {
    a->log = value;
    return a->report = 1;
  }
  if ((value = arguments_value(word, "--profile-file")) != NULL) {
    a->file = value;
    return 1;
  }
  if ((value = arguments_value(word, "--profile-mode")) != NULL)
    return arguments_mode(a, value);
  if ((value = arguments_value(word, "--frames")) != NULL)
    return arguments_frames(a, value);
  return arguments_wrong("unknown option", word);
}


static int arguments_read (Arguments *a, char **argv) {
  memset(a, 0, sizeof *a);
  a->mode = "line";
  a->frames = -1;
  for (argv++; *argv != NULL && (*argv)[0] == '-'; argv++)
    if (!arguments_option(a, *argv)) return 0;
  a->script = *argv;
  a->rest = argv;
  if (a->script != NULL) return 1;
  fprintf(stderr, NAME ": no script\n" USAGE);
  return 0;
}


int main (int argc, char **argv) {
  Arguments a;
  lua_State *L;
  int ok;
  (void)argc;
  if (!arguments_read(&a, argv)) return EXIT_FAILURE;
  L = luaL_newstate();
  if (L == NULL) {
    fprintf(stderr, NAME ": out of memory\n");
    return EXIT_FAILURE;
  }
  ok = run(L, &a);
  lua_close(L);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

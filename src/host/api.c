/*
** The C API: see cprof.h. Functions that the Lua part has are called there,
** in protected mode.
*/

#include "cprof.h"

#include <string.h>

#include <lauxlib.h>

#include "follow/attach.h"
#include "lua/entry.h"
#include "lua/parts.h"
#include "lua/lstate.h"
#include "lua/ltable.h"
#include "record/begin.h"
#include "record/control.h"
#include "record/current.h"
#include "record/life.h"
#include "system/listen.h"


/* {======================================================
** Calling the Lua part
** ======================================================= */

/* Pushes a function of the module 'cprof', which is required if need be. */
static void api_function (lua_State *L, const char *name) {
  if (!lstate_pushmodule(L)) {
    if (lua_getglobal(L, "require") != LUA_TFUNCTION)
      luaL_error(L, "cprof is not open: call cprof_open first");
    lua_pushliteral(L, "cprof");
    lua_call(L, 1, 1);
  }
  lua_getfield(L, -1, name);
  lua_remove(L, -2);
}


/*
** Calls 'f' with 'ud' in protected mode. Returns the status; if that is not
** LUA_OK, the error message is on the stack.
*/
static int api_call (lua_State *L, lua_CFunction f, const void *ud) {
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, (void *)ud);
  return lua_pcall(L, 1, 0, 0);
}


/* Like 'api_call', but not recorded, and without the program's hook. */
static int api_callunseen (lua_State *L, lua_CFunction f, const void *ud) {
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, (void *)ud);
  return entry_pcall(L, 1, 0);
}


typedef enum ApiKind {
  API_STRING, API_LIST, API_SWITCH, API_INT, API_INTEGER, API_NUMBER
} ApiKind;

/* a field of a struct of options; 0 and NULL leave the default */
typedef struct ApiField {
  const char *name;
  ApiKind kind;
  size_t at;
  const char *word;	/* if not NULL, it stands for the value 'special' */
  int special;
} ApiField;

#define OPTION(kind, field, name)	\
	{name, kind, offsetof(cprof_Options, field), NULL, 0}

static const ApiField api_start_fields[] = {
  OPTION(API_STRING, mode, "mode"),
  OPTION(API_LIST, lines, "lines"),
  OPTION(API_LIST, include, "include"),
  OPTION(API_LIST, exclude, "exclude"),
  OPTION(API_STRING, clock, "clock"),
  OPTION(API_STRING, timer, "timer"),
  OPTION(API_STRING, recursion, "recursion"),
  OPTION(API_STRING, trace, "trace"),
  OPTION(API_STRING, file, "file"),
  OPTION(API_SWITCH, c_functions, "c_functions"),
  OPTION(API_SWITCH, callsites, "callsites"),
  OPTION(API_SWITCH, compensate, "compensate"),
  OPTION(API_SWITCH, gc, "gc"),
  OPTION(API_SWITCH, distribution, "distribution"),
  OPTION(API_SWITCH, tasks, "tasks"),
  {"memory", API_SWITCH, offsetof(cprof_Options, memory), "live", CPROF_LIVE},
  OPTION(API_INT, memory_interval, "memory_interval"),
  OPTION(API_INT, rate, "rate"),
  OPTION(API_INTEGER, max_nodes, "max_nodes"),
  OPTION(API_NUMBER, every, "every"),
  OPTION(API_INT, keep, "keep"),
  OPTION(API_NUMBER, keep_last, "keep_last"),
  OPTION(API_NUMBER, dump_every, "dump_every"),
  {"history", API_INT, offsetof(cprof_Options, history), "full", CPROF_FULL},
  {NULL, API_INT, 0, NULL, 0}
};

static const ApiField api_slow_fields[] = {
  OPTION(API_NUMBER, slow_frames.budget_ms, "budget_ms"),
  OPTION(API_INT, slow_frames.keep, "keep"),
  {NULL, API_INT, 0, NULL, 0}
};

#define REPORT(kind, field)	\
	{#field, kind, offsetof(cprof_ReportOptions, field), NULL, 0}

#define API_OFREPORTS	3	/* the first fields are for reports only, not
				   for annotated sources */

static const ApiField api_report_fields[] = {
  REPORT(API_STRING, mode),
  REPORT(API_STRING, sort),
  REPORT(API_STRING, filter),
  REPORT(API_STRING, color),
  REPORT(API_INT, width),
  REPORT(API_NUMBER, min_percent),
  {NULL, API_INT, 0, NULL, 0}
};


/* Pushes a list of strings, or nil if there is none. */
static void api_pushlist (lua_State *L, cprof_List list) {
  int i;
  if (list == NULL) {
    lua_pushnil(L);
    return;
  }
  lua_newtable(L);
  for (i = 0; list[i] != NULL; i++) {
    lua_pushstring(L, list[i]);
    lua_rawseti(L, -2, i + 1);
  }
}


/* Pushes an integer, or what it stands for. The Lua part refuses others. */
static void api_pushint (lua_State *L, const ApiField *f, lua_Integer n) {
  if (n == 0) lua_pushnil(L);
  else if (f->word != NULL && n == f->special) lua_pushstring(L, f->word);
  else if (f->kind == API_SWITCH && (n == CPROF_ON || n == CPROF_OFF))
    lua_pushboolean(L, n == CPROF_ON);
  else lua_pushinteger(L, n);
}


/* Sets fields of the table on top, by the options in the struct 'o'. */
static void api_setfields (lua_State *L, const void *o, const ApiField *f) {
  for (; o != NULL && f->name != NULL; f++) {
    const void *at = cast(const char *, o) + f->at;
    double n;
    switch (f->kind) {
      case API_STRING: lua_pushstring(L, *cast(const char *const *, at)); break;
      case API_LIST: api_pushlist(L, *cast(const cprof_List *, at)); break;
      case API_INTEGER:
        api_pushint(L, f, *cast(const lua_Integer *, at));
        break;
      case API_NUMBER:
        n = *cast(const double *, at);
        if (n == 0) lua_pushnil(L);
        else lua_pushnumber(L, (lua_Number)n);
        break;
      default: api_pushint(L, f, *cast(const int *, at));
    }
    lua_setfield(L, -2, f->name);
  }
}

/* }====================================================== */


/* {======================================================
** Recording
** ======================================================= */

/* Stopping allocates in the state. On an error, recording has ended anyway. */
static int api_stop (lua_State *L) {
  int *stopped = cast(int *, lua_touserdata(L, 1));
  *stopped = lcore_stop(L);
  return 0;
}


/*
** Starts a recording. It runs while recording begins, but is no part of the
** program, so it is made internal.
*/
static int api_start (lua_State *L) {
  const cprof_Options *o =
    cast(const cprof_Options *, lua_touserdata(L, 1));
  api_function(L, "start");
  lstate_internal(L, api_start);
  lstate_internal(L, api_stop);
  lua_newtable(L);
  api_setfields(L, o, api_start_fields);
  if (o != NULL && (o->slow_frames.budget_ms != 0 ||
                    o->slow_frames.keep != 0)) {
    lua_newtable(L);
    api_setfields(L, o, api_slow_fields);
    lua_setfield(L, -2, "slow_frames");
  }
  lua_call(L, 1, 0);
  return 0;
}


int cprof_start (lua_State *L, const cprof_Options *options) {
  return api_call(L, api_start, options);
}


int cprof_stop (lua_State *L) {
  Recorder *r = recorder_get(L);
  int stopped = 0;
  if (r == NULL || !control_active(r, L)) return 0;
  if (api_call(L, api_stop, &stopped) != LUA_OK) lua_pop(L, 1);
  return stopped;
}


int cprof_pause (lua_State *L) {
  Recorder *r = recorder_get(L);
  return r != NULL && control_pause(r, L, 0);
}


int cprof_resume (lua_State *L) {
  Recorder *r = recorder_get(L);
  return r != NULL && control_resume(r, L);
}


int cprof_reset (lua_State *L) {
  Recorder *r = recorder_get(L);
  return r != NULL && control_reset(r, L);
}


int cprof_running (lua_State *L) {
  Recorder *r = recorder_get(L);
  return r != NULL && control_active(r, L) && r->state == STATE_RUNNING;
}


int cprof_frame (lua_State *L, int record) {
  return lcore_frame(L, "", record);
}


int cprof_framenamed (lua_State *L, const char *name, int record) {
  return name != NULL && *name != '\0' && lcore_frame(L, name, record);
}


int cprof_attach (lua_State *L1) {
  Recorder *r = recorder_get(L1);
  return r != NULL && !r->callback && control_active(r, r->main) &&
         r->state == STATE_RUNNING && attach_host(r, L1);
}


static int api_listen (lua_State *L) {
  api_function(L, "listen");
  lua_call(L, 0, 2);
  return lua_isnil(L, -2) ? lua_error(L) : 0;
}


int cprof_listen (lua_State *L) {
  return api_callunseen(L, api_listen, NULL);
}


static int api_interruptible (lua_State *L) {
  if (!current_begin(life_recorder(L))) luaL_error(L, "cprof: out of memory");
  return 0;
}


int cprof_interruptible (lua_State *L) {
  return api_callunseen(L, api_interruptible, NULL);
}


void cprof_thread (lua_State *L) {
  Recorder *r = recorder_get(L);
#if PLATFORM_SIGNALS && CPROF_WHOLE
  listen_enter(L);
#endif
  if (r != NULL) control_enter(r, L);
}


lua_State *cprof_current (void) {
  Recorder *r = hot_own()->recorder;
  return r != NULL ? current_find(r) : NULL;
}

/* }====================================================== */


/* {======================================================
** Allocator and clock
** ======================================================= */

static int api_make (lua_State *L) {
  life_recorder(L);
  return 0;
}


/* The recorder of L's state, new or not; NULL: it is in use, or no memory. */
static Recorder *api_idle (lua_State *L) {
  Recorder *r;
  if (recorder_get(L) == NULL && api_call(L, api_make, NULL) != LUA_OK)
    lua_pop(L, 1);
  r = recorder_get(L);
  return r != NULL && !r->callback && !control_active(r, L) ? r : NULL;
}


int cprof_setalloc (lua_State *L, lua_Alloc alloc, void *ud) {
  Recorder *r = api_idle(L);
  if (r == NULL) return 0;
  begin_setalloc(r, alloc, ud);
  return 1;
}


int cprof_setclock (lua_State *L, cprof_Clock now, void *ud) {
  Recorder *r = api_idle(L);
  if (r == NULL) return 0;
  r->recording.clock.host = now;
  r->recording.clock.ud = ud;
  return 1;
}

/* }====================================================== */


/* {======================================================
** Reports
** ======================================================= */

typedef struct ApiReport {
  const char *function;	/* name in the Lua part: "report", "annotate" */
  const char *source;	/* argument of 'annotate'; NULL: the hottest ones */
  int sourced;		/* is it an annotated source? */
  const cprof_ReportOptions *options;
  lua_Writer writer;
  void *ud;
} ApiReport;


/*
** ApiReport, text -> : writes the text. It is not called by entry_pcall, as the
** writer is the host's own code.
*/
static int api_write (lua_State *L) {
  const ApiReport *a = cast(const ApiReport *, lua_touserdata(L, 1));
  size_t length;
  const char *text = lua_tolstring(L, 2, &length);
  if (a->writer(L, text, length, a->ud) != 0)
    luaL_error(L, "cprof: the writer failed");
  return 0;
}


/*
** ApiReport -> text of a report, or of an annotated source. CPROF_ALL: no limit
** of rows, and no least share of the time.
*/
static int api_report (lua_State *L) {
  const ApiReport *a = cast(const ApiReport *, lua_touserdata(L, 1));
  const cprof_ReportOptions *o = a->options;
  int all = o != NULL && o->limit == CPROF_ALL;
  lstate_internal(L, api_write);
  api_function(L, a->function);
  if (a->sourced) lua_pushstring(L, a->source);
  lua_newtable(L);
  api_setfields(L, o, api_report_fields + (a->sourced ? API_OFREPORTS : 0));
  if (o != NULL && o->limit != 0)
    ltable_setinteger(L, "limit", all ? LUA_MAXINTEGER : o->limit);
  if (all && o->min_percent == 0) ltable_setinteger(L, "min_percent", 0);
  lua_call(L, a->sourced ? 2 : 1, 1);
  return 1;
}


static int api_text (lua_State *L, ApiReport *a) {
  int status;
  lua_pushcfunction(L, api_write);
  lua_pushlightuserdata(L, a);
  lua_pushcfunction(L, api_report);
  lua_pushlightuserdata(L, a);
  status = entry_pcall(L, 1, 1);
  if (status == LUA_OK) return lua_pcall(L, 2, 0, 0);
  lua_replace(L, -3);  /* leave the message alone on the stack */
  lua_pop(L, 1);
  return status;
}


int cprof_report (lua_State *L, const cprof_ReportOptions *options,
                  lua_Writer writer, void *ud) {
  ApiReport a = {"report", NULL, 0, options, writer, ud};
  return api_text(L, &a);
}


int cprof_annotate (lua_State *L, const char *source,
                    const cprof_ReportOptions *options, lua_Writer writer,
                    void *ud) {
  ApiReport a = {"annotate", source, 1, options, writer, ud};
  return api_text(L, &a);
}

/* }====================================================== */


/* {======================================================
** Files
** ======================================================= */

typedef struct ApiFile {
  const char *function;	/* of the module or, if 'saves', of a profile */
  int saves;
  const char *argument[2];	/* its arguments; NULL: nil */
} ApiFile;


static int api_file (lua_State *L) {
  const ApiFile *a = cast(const ApiFile *, lua_touserdata(L, 1));
  lua_settop(L, 0);
  if (CPROF_WHOLE && a->saves) {
    api_function(L, "snapshot");
    lua_call(L, 0, 1);
    lua_getfield(L, -1, a->function);
    lua_insert(L, -2);
  }
  else api_function(L, a->function);
  lua_pushstring(L, a->argument[0]);
  lua_pushstring(L, a->argument[1]);
  lua_call(L, lua_gettop(L) - 1, 2);
  return lua_toboolean(L, -2) ? 0 : lua_error(L);
}


int cprof_save (lua_State *L, const char *path) {
  ApiFile a = {"save", 1, {path, NULL}};
  return api_callunseen(L, api_file, &a);
}


int cprof_export (lua_State *L, const char *format, const char *path) {
  ApiFile a = {"export", 1, {format, path}};
  return api_callunseen(L, api_file, &a);
}


int cprof_dumprecent (lua_State *L, const char *path, const char *reason) {
  ApiFile a = {"dump_recent", 0, {path, reason}};
  return api_callunseen(L, api_file, &a);
}


/* error -> */
static int api_failed (lua_State *L) {
  lua_settop(L, 1);
  api_function(L, "dump_on_error");
  lua_call(L, 0, 1);
  lua_insert(L, 1);
  lua_call(L, 1, 0);
  return 0;
}


int cprof_dumponerror (lua_State *L) {
  lua_settop(L, 1);
  if (!lua_checkstack(L, LUA_MINSTACK)) return 1;
  lua_pushcfunction(L, api_failed);
  lua_pushvalue(L, 1);
  entry_pcall(L, 1, 0);
  lua_settop(L, 1);
  return 1;
}

/* }====================================================== */


/* {======================================================
** The view
** ======================================================= */

typedef struct ApiView {
  int view;
  const char *method;
  const char *value;	/* its argument: a string or NULL */
  const lua_Integer *n;	/* if not NULL, its argument is this integer */
  void (*line) (void *ud, const cprof_Record *line);
  void (*point) (void *ud, const cprof_Point *point);
  void *ud;
} ApiView;


static int api_view (lua_State *L) {
  int *view = cast(int *, lua_touserdata(L, 1));
  api_function(L, "view");
  lua_call(L, 0, 1);
  *view = luaL_ref(L, LUA_REGISTRYINDEX);
  return 0;
}


int cprof_view (lua_State *L, int *view) {
  *view = LUA_NOREF;
  return api_callunseen(L, api_view, view);
}


void cprof_freeview (lua_State *L, int view) {
  luaL_unref(L, LUA_REGISTRYINDEX, view);
}


/* Calls the method of the view with its argument, for 'results'. */
static void api_method (lua_State *L, const ApiView *a, int results) {
  if (lua_rawgeti(L, LUA_REGISTRYINDEX, a->view) != LUA_TTABLE)
    luaL_error(L, "cprof: %d is not a view", a->view);
  if (lua_getfield(L, -1, a->method) != LUA_TFUNCTION)
    luaL_error(L, "cprof: a view has no method '%s'", a->method);
  lua_insert(L, -2);
  if (a->n != NULL) lua_pushinteger(L, *a->n);
  else lua_pushstring(L, a->value);
  lua_call(L, 2, results);
}


static int api_control (lua_State *L) {
  api_method(L, cast(const ApiView *, lua_touserdata(L, 1)), 0);
  return 0;
}


int cprof_viewmove (lua_State *L, int view, const char *method,
                    lua_Integer n) {
  ApiView a = {view, method, NULL, &n, NULL, NULL, NULL};
  return api_callunseen(L, api_control, &a);
}


int cprof_viewset (lua_State *L, int view, const char *method,
                   const char *value) {
  ApiView a = {view, method, value, NULL, NULL, NULL, NULL};
  return api_callunseen(L, api_control, &a);
}


/* Pushes item 'i' of the list that the table on top has as 'name'; or nil. */
static void api_pushitem (lua_State *L, const char *name, lua_Integer i) {
  if (lua_getfield(L, -1, name) == LUA_TTABLE) {
    lua_rawgeti(L, -1, i);
    lua_remove(L, -2);
  }
}


static double api_number (lua_State *L, const char *name, lua_Integer i) {
  double n;
  api_pushitem(L, name, i);
  n = (double)lua_tonumber(L, -1);
  lua_pop(L, 1);
  return n;
}


static lua_Integer api_integer (lua_State *L, const char *name,
                                lua_Integer i) {
  lua_Integer n;
  api_pushitem(L, name, i);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}


/* The string in field 'name' of the table on top, which keeps it; or NULL. */
static const char *api_text_of (lua_State *L, const char *name) {
  const char *s;
  lua_getfield(L, -1, name);
  s = lua_tostring(L, -1);
  lua_pop(L, 1);
  return s;
}


/* Calls the host's function with the record on top. */
static void api_line (lua_State *L, const ApiView *a) {
  cprof_Record line;
  line.name = api_text_of(L, "name");
  line.title = api_text_of(L, "title");
  line.marks = api_text_of(L, "marks");
  line.indent = (int)ltable_integer(L, -1, "indent");
  line.highlighted = ltable_flag(L, -1, "highlighted");
  lua_getfield(L, -1, "heat");
  line.heat = (double)lua_tonumber(L, -1);
  lua_pop(L, 1);
  line.self_ms = api_number(L, "values", 1);
  line.total_ms = api_number(L, "values", 2);
  line.calls = api_number(L, "values", 3);
  line.self_most_ms = api_number(L, "most", 1);
  line.total_most_ms = api_number(L, "most", 2);
  a->line(a->ud, &line);
}


static int api_lines (lua_State *L) {
  const ApiView *a = cast(const ApiView *, lua_touserdata(L, 1));
  lua_Integer n, i;
  api_method(L, a, 1);
  n = luaL_len(L, -1);
  for (i = 1; i <= n; i++) {
    lua_rawgeti(L, -1, i);
    api_line(L, a);
    lua_pop(L, 1);
  }
  return 0;
}


int cprof_viewlines (lua_State *L, int view, int height,
                     void (*draw) (void *ud, const cprof_Record *line),
                     void *ud) {
  lua_Integer n = height;
  ApiView a = {view, "lines", NULL, height != 0 ? &n : NULL, draw, NULL, ud};
  return api_callunseen(L, api_lines, &a);
}


static int api_graph (lua_State *L) {
  const ApiView *a = cast(const ApiView *, lua_touserdata(L, 1));
  cprof_Point p;
  lua_Integer n, i;
  api_method(L, a, 1);
  lua_getfield(L, -1, "numbers");
  n = luaL_len(L, -1);
  lua_pop(L, 1);
  for (i = 1; i <= n; i++) {
    p.frame = api_integer(L, "numbers", i);
    p.ns = api_integer(L, "ns", i);
    p.self_ns = api_integer(L, "self", i);
    p.total_ns = api_integer(L, "total", i);
    p.calls = api_integer(L, "calls", i);
    a->point(a->ud, &p);
  }
  return 0;
}


int cprof_viewgraph (lua_State *L, int view, const char *zone,
                     void (*draw) (void *ud, const cprof_Point *point),
                     void *ud) {
  ApiView a = {view, "series", zone, NULL, NULL, draw, ud};
  return api_callunseen(L, api_graph, &a);
}

/* }====================================================== */

/*
** The C API: see cprof.h. Functions that the Lua part has are called there,
** in protected mode.
*/

#include "cprof.h"

#include <string.h>

#include <lauxlib.h>

#include "follow/attach.h"
#include "lua/entry.h"
#include "lua/lcore.h"
#include "lua/listen.h"
#include "lua/lstate.h"
#include "record/begin.h"
#include "record/control.h"
#include "record/current.h"
#include "record/life.h"


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


static void api_string (lua_State *L, const char *name, const char *value) {
  if (value == NULL) return;
  lua_pushstring(L, value);
  lua_setfield(L, -2, name);
}


static void api_integer (lua_State *L, const char *name, lua_Integer value) {
  if (value == 0) return;
  lua_pushinteger(L, value);
  lua_setfield(L, -2, name);
}


/*
** Sets a field to true or false; 0: leaves the default. The Lua part refuses
** any other value.
*/
static void api_switch (lua_State *L, const char *name, int value) {
  if (value == 0) return;
  if (value == CPROF_ON || value == CPROF_OFF)
    lua_pushboolean(L, value == CPROF_ON);
  else lua_pushinteger(L, value);
  lua_setfield(L, -2, name);
}


static void api_number (lua_State *L, const char *name, double value) {
  if (value == 0) return;
  lua_pushnumber(L, (lua_Number)value);
  lua_setfield(L, -2, name);
}


static void api_list (lua_State *L, const char *name, cprof_List list) {
  int i;
  if (list == NULL) return;
  lua_newtable(L);
  for (i = 0; list[i] != NULL; i++) {
    lua_pushstring(L, list[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, name);
}

/* }====================================================== */


/* {======================================================
** Recording
** ======================================================= */

static void api_frames (lua_State *L, const cprof_Options *o) {
  if (o->history == CPROF_FULL) api_string(L, "history", "full");
  else api_integer(L, "history", o->history);
  if (o->slow_frames.budget_ms == 0 && o->slow_frames.keep == 0) return;
  lua_newtable(L);
  api_number(L, "budget_ms", o->slow_frames.budget_ms);
  api_integer(L, "keep", o->slow_frames.keep);
  lua_setfield(L, -2, "slow_frames");
}


static void api_memory (lua_State *L, const cprof_Options *o) {
  if (o->memory == CPROF_LIVE) api_string(L, "memory", "live");
  else api_switch(L, "memory", o->memory);
  api_integer(L, "memory_interval", o->memory_interval);
}


static void api_options (lua_State *L, const cprof_Options *o) {
  api_string(L, "mode", o->mode);
  api_list(L, "lines", o->lines);
  api_list(L, "include", o->include);
  api_list(L, "exclude", o->exclude);
  api_string(L, "clock", o->clock);
  api_string(L, "timer", o->timer);
  api_string(L, "recursion", o->recursion);
  api_string(L, "trace", o->trace);
  api_string(L, "file", o->file);
  api_switch(L, "c_functions", o->c_functions);
  api_switch(L, "callsites", o->callsites);
  api_switch(L, "compensate", o->compensate);
  api_switch(L, "gc", o->gc);
  api_memory(L, o);
  api_integer(L, "rate", o->rate);
  api_integer(L, "max_nodes", o->max_nodes);
  api_number(L, "every", o->every);
  api_integer(L, "keep", o->keep);
  api_frames(L, o);
}


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
  if (o != NULL) api_options(L, o);
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
  return r != NULL && control_pause(r, L);
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
  Recorder *r = recorder_get(L);
  return r != NULL && control_frame(r, L, record);
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
#if PLATFORM_SIGNALS
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
  const char *source;	/* argument of 'annotate' */
  const cprof_ReportOptions *options;
  lua_Writer writer;
  void *ud;
} ApiReport;


/*
** ApiReport, text ->
** Not called by entry_pcall: the writer is the host's own code.
*/
static int api_write (lua_State *L) {
  const ApiReport *a = cast(const ApiReport *, lua_touserdata(L, 1));
  size_t length;
  const char *text = lua_tolstring(L, 2, &length);
  if (a->writer(L, text, length, a->ud) != 0)
    luaL_error(L, "cprof: the writer failed");
  return 0;
}


/* CPROF_ALL: no limit of rows, and no least share of the time. */
static void api_limit (lua_State *L, const cprof_ReportOptions *o) {
  int all = o->limit == CPROF_ALL;
  api_integer(L, "limit", all ? LUA_MAXINTEGER : o->limit);
  if (all && o->min_percent == 0) {
    lua_pushinteger(L, 0);
    lua_setfield(L, -2, "min_percent");
  }
  else api_number(L, "min_percent", o->min_percent);
}


static int api_report (lua_State *L) {
  const ApiReport *a = cast(const ApiReport *, lua_touserdata(L, 1));
  const cprof_ReportOptions *o = a->options;
  lstate_internal(L, api_write);
  api_function(L, "report");
  lua_newtable(L);
  if (o != NULL) {
    api_string(L, "mode", o->mode);
    api_string(L, "sort", o->sort);
    api_string(L, "filter", o->filter);
    api_string(L, "color", o->color);
    api_integer(L, "width", o->width);
    api_limit(L, o);
  }
  lua_call(L, 1, 1);
  return 1;
}


static int api_annotate (lua_State *L) {
  const ApiReport *a = cast(const ApiReport *, lua_touserdata(L, 1));
  const cprof_ReportOptions *o = a->options;
  lstate_internal(L, api_write);
  api_function(L, "annotate");
  lua_pushstring(L, a->source);
  lua_newtable(L);
  if (o != NULL) {
    api_string(L, "color", o->color);
    api_integer(L, "width", o->width);
    api_limit(L, o);
  }
  lua_call(L, 2, 1);
  return 1;
}


static int api_text (lua_State *L, lua_CFunction f, const char *source,
                     const cprof_ReportOptions *options, lua_Writer writer,
                     void *ud) {
  ApiReport a;
  int status;
  a.source = source;
  a.options = options;
  a.writer = writer;
  a.ud = ud;
  lua_pushcfunction(L, api_write);
  lua_pushlightuserdata(L, &a);
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, &a);
  status = entry_pcall(L, 1, 1);
  if (status == LUA_OK) return lua_pcall(L, 2, 0, 0);
  lua_replace(L, -3);  /* leave the message alone on the stack */
  lua_pop(L, 1);
  return status;
}


int cprof_report (lua_State *L, const cprof_ReportOptions *options,
                  lua_Writer writer, void *ud) {
  return api_text(L, api_report, NULL, options, writer, ud);
}


int cprof_annotate (lua_State *L, const char *source,
                    const cprof_ReportOptions *options, lua_Writer writer,
                    void *ud) {
  return api_text(L, api_annotate, source, options, writer, ud);
}

/* }====================================================== */


/* {======================================================
** Files
** ======================================================= */

typedef struct ApiFile {
  const char *method;	/* method of a profile: "save" or "export" */
  const char *format;	/* of an export */
  const char *path;
} ApiFile;


static int api_file (lua_State *L) {
  const ApiFile *a = cast(const ApiFile *, lua_touserdata(L, 1));
  lua_settop(L, 0);
  api_function(L, "snapshot");
  lua_call(L, 0, 1);
  lua_getfield(L, -1, a->method);
  lua_insert(L, -2);
  if (strcmp(a->method, "export") == 0) lua_pushstring(L, a->format);
  lua_pushstring(L, a->path);
  lua_call(L, lua_gettop(L) - 1, 2);
  return lua_toboolean(L, -2) ? 0 : lua_error(L);
}


int cprof_save (lua_State *L, const char *path) {
  ApiFile a = ZEROS;
  a.method = "save";
  a.path = path;
  return api_callunseen(L, api_file, &a);
}


int cprof_export (lua_State *L, const char *format, const char *path) {
  ApiFile a;
  a.method = "export";
  a.format = format;
  a.path = path;
  return api_callunseen(L, api_file, &a);
}

/* }====================================================== */


/* {======================================================
** The view
** ======================================================= */

typedef struct ApiView {
  int view;
  const char *method;
  const char *value;	/* its argument: a string or NULL; or ... */
  const lua_Integer *n;	/* ... if this is not NULL, an integer */
  int height;
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


/* Pushes a method of the view, and the view as its argument. */
static void api_method (lua_State *L, int view, const char *method) {
  if (lua_rawgeti(L, LUA_REGISTRYINDEX, view) != LUA_TTABLE)
    luaL_error(L, "cprof: %d is not a view", view);
  if (lua_getfield(L, -1, method) != LUA_TFUNCTION)
    luaL_error(L, "cprof: a view has no method '%s'", method);
  lua_insert(L, -2);
}


static int api_control (lua_State *L) {
  const ApiView *a = cast(const ApiView *, lua_touserdata(L, 1));
  api_method(L, a->view, a->method);
  if (a->n != NULL) lua_pushinteger(L, *a->n);
  else lua_pushstring(L, a->value);
  lua_call(L, 2, 0);
  return 0;
}


int cprof_viewmove (lua_State *L, int view, const char *method,
                    lua_Integer n) {
  ApiView a = ZEROS;
  a.view = view;
  a.method = method;
  a.n = &n;
  return api_callunseen(L, api_control, &a);
}


int cprof_viewset (lua_State *L, int view, const char *method,
                   const char *value) {
  ApiView a = ZEROS;
  a.view = view;
  a.method = method;
  a.value = value;
  return api_callunseen(L, api_control, &a);
}


/* The number at index 'i' of the list on top. */
static double api_item (lua_State *L, int i) {
  double n;
  lua_rawgeti(L, -1, i);
  n = (double)lua_tonumber(L, -1);
  lua_pop(L, 1);
  return n;
}


/* Calls the host's function with the record on top. */
static void api_line (lua_State *L, const ApiView *a) {
  cprof_Record line;
  lua_getfield(L, -1, "name");
  line.name = lua_tostring(L, -1);
  lua_getfield(L, -2, "title");
  line.title = lua_tostring(L, -1);
  lua_getfield(L, -3, "marks");
  line.marks = lua_tostring(L, -1);
  lua_getfield(L, -4, "indent");
  line.indent = (int)lua_tointeger(L, -1);
  lua_getfield(L, -5, "highlighted");
  line.highlighted = lua_toboolean(L, -1);
  lua_getfield(L, -6, "heat");
  line.heat = (double)lua_tonumber(L, -1);
  lua_getfield(L, -7, "values");
  line.self_ms = api_item(L, 1);
  line.total_ms = api_item(L, 2);
  line.calls = api_item(L, 3);
  lua_getfield(L, -8, "most");
  line.self_most_ms = api_item(L, 1);
  line.total_most_ms = api_item(L, 2);
  a->line(a->ud, &line);
  lua_pop(L, 8);
}


static int api_lines (lua_State *L) {
  const ApiView *a = cast(const ApiView *, lua_touserdata(L, 1));
  lua_Integer n, i;
  api_method(L, a->view, "lines");
  if (a->height != 0) lua_pushinteger(L, a->height);
  else lua_pushnil(L);
  lua_call(L, 2, 1);
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
  ApiView a = ZEROS;
  a.view = view;
  a.height = height;
  a.line = draw;
  a.ud = ud;
  return api_callunseen(L, api_lines, &a);
}


/* Item 'i' of the list 'name' in the table on top; 0: no such list. */
static lua_Integer api_figure (lua_State *L, const char *name,
                               lua_Integer i) {
  lua_Integer n = 0;
  if (lua_getfield(L, -1, name) == LUA_TTABLE) {
    lua_rawgeti(L, -1, i);
    n = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return n;
}


static int api_graph (lua_State *L) {
  const ApiView *a = cast(const ApiView *, lua_touserdata(L, 1));
  cprof_Point p;
  lua_Integer n, i;
  api_method(L, a->view, "series");
  lua_pushstring(L, a->value);
  lua_call(L, 2, 1);
  lua_getfield(L, -1, "numbers");
  n = luaL_len(L, -1);
  lua_pop(L, 1);
  for (i = 1; i <= n; i++) {
    p.frame = api_figure(L, "numbers", i);
    p.ns = api_figure(L, "ns", i);
    p.self_ns = api_figure(L, "self", i);
    p.total_ns = api_figure(L, "total", i);
    p.calls = api_figure(L, "calls", i);
    a->point(a->ud, &p);
  }
  return 0;
}


int cprof_viewgraph (lua_State *L, int view, const char *zone,
                     void (*draw) (void *ud, const cprof_Point *point),
                     void *ud) {
  ApiView a = ZEROS;
  a.view = view;
  a.value = zone;
  a.point = draw;
  a.ud = ud;
  return api_callunseen(L, api_graph, &a);
}

/* }====================================================== */

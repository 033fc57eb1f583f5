/*
** The C API: see cprof.h. What the Lua part does is asked of the Lua part,
** in protected mode.
*/

#include "cprof.h"

#include <lauxlib.h>

#include "lua/lcore.h"
#include "lua/lstate.h"
#include "record/attach.h"
#include "record/control.h"


/* {======================================================
** Calling the Lua part
** ======================================================= */

/* pushes a function of the module, or of the package that provides it */
static void api_function (lua_State *L, const char *name) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "cprof") != LUA_TTABLE) {
    lua_pop(L, 1);
    if (lua_getglobal(L, "require") != LUA_TFUNCTION)
      luaL_error(L, "cprof is not open: call cprof_open first");
    lua_pushliteral(L, "cprof");
    lua_call(L, 1, 1);
  }
  lua_getfield(L, -1, name);
  lua_replace(L, -3);
  lua_pop(L, 1);
}


/* calls 'f' with 'ud'; the status, with the message if it is an error */
static int api_call (lua_State *L, lua_CFunction f, const void *ud) {
  lua_pushcfunction(L, f);
  lua_pushlightuserdata(L, (void *)ud);
  return lua_pcall(L, 1, 0, 0);
}


/* the same without being recorded */
static int api_callunseen (lua_State *L, lua_CFunction f, const void *ud) {
  int paused = cprof_pause(L);
  int status = api_call(L, f, ud);
  if (paused) cprof_resume(L);
  return status;
}


static void api_string (lua_State *L, const char *name, const char *value) {
  if (value == NULL) return;
  lua_pushstring(L, value);
  lua_setfield(L, -2, name);
}


static void api_integer (lua_State *L, const char *name, lua_Integer value) {
  lua_pushinteger(L, value);
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
  if (o->history < 0) api_string(L, "history", "full");
  else if (o->history > 0) api_integer(L, "history", o->history);
  if (o->slow_ms <= 0 && o->slow_keep == 0) return;
  lua_newtable(L);
  lua_pushnumber(L, o->slow_ms);
  lua_setfield(L, -2, "budget_ms");
  if (o->slow_keep != 0) api_integer(L, "keep", o->slow_keep);
  lua_setfield(L, -2, "slow_frames");
}


/* Stopping needs memory of the state; an error is a recording that ended. */
static int api_stop (lua_State *L) {
  int *stopped = cast(int *, lua_touserdata(L, 1));
  *stopped = lcore_stop(L);
  return 0;
}


/* It runs while recording begins, but is no part of the program. */
static int api_start (lua_State *L) {
  const cprof_Options *o =
    cast(const cprof_Options *, lua_touserdata(L, 1));
  api_function(L, "start");
  lstate_internal(lstate_get(L), api_start);
  lstate_internal(lstate_get(L), api_stop);
  lua_newtable(L);
  if (o != NULL) {
    api_string(L, "mode", o->mode);
    api_list(L, "lines", o->lines);
    api_list(L, "include", o->include);
    api_list(L, "exclude", o->exclude);
    api_string(L, "clock", o->clock);
    api_string(L, "recursion", o->recursion);
    api_string(L, "trace", o->trace);
    lua_pushboolean(L, !o->fold_c);
    lua_setfield(L, -2, "c_functions");
    lua_pushboolean(L, o->callsites);
    lua_setfield(L, -2, "callsites");
    lua_pushboolean(L, !o->raw);
    lua_setfield(L, -2, "compensate");
    if (o->max_nodes != 0) api_integer(L, "max_nodes", o->max_nodes);
    api_frames(L, o);
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
  return r != NULL && control_active(r, r->main) &&
         r->state == STATE_RUNNING && attach_host(r, L1);
}


lua_State *cprof_current (void) {
  return hot_current->L;
}

/* }====================================================== */


/* {======================================================
** Allocator and clock
** ======================================================= */

static int api_make (lua_State *L) {
  recorder_make(L);
  return 0;
}


/* The recorder of L's state, new or not, if it may be changed; or NULL. */
static Recorder *api_idle (lua_State *L) {
  Recorder *r;
  if (recorder_get(L) == NULL && api_call(L, api_make, NULL) != LUA_OK)
    lua_pop(L, 1);
  r = recorder_get(L);
  return r != NULL && !r->telling && !control_active(r, L) ? r : NULL;
}


int cprof_setalloc (lua_State *L, lua_Alloc alloc, void *ud) {
  Recorder *r = api_idle(L);
  if (r == NULL) return 0;
  recorder_setalloc(r, alloc, ud);
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
  const char *source;	/* of annotate */
  const cprof_ReportOptions *options;
  lua_Writer writer;
  void *ud;
} ApiReport;


static void api_write (lua_State *L, const ApiReport *a) {
  size_t length;
  const char *text = lua_tolstring(L, -1, &length);
  if (a->writer(L, text, length, a->ud) != 0)
    luaL_error(L, "cprof: the writer failed");
}


static int api_report (lua_State *L) {
  const ApiReport *a = cast(const ApiReport *, lua_touserdata(L, 1));
  const cprof_ReportOptions *o = a->options;
  api_function(L, "report");
  lua_newtable(L);
  if (o != NULL) {
    api_string(L, "mode", o->mode);
    api_string(L, "sort", o->sort);
    api_string(L, "filter", o->filter);
    api_string(L, "color", o->color);
    if (o->width != 0) api_integer(L, "width", o->width);
    if (o->limit < 0) {
      api_integer(L, "limit", LUA_MAXINTEGER);
      api_integer(L, "min_percent", 0);
    }
    else if (o->limit > 0) api_integer(L, "limit", o->limit);
  }
  lua_call(L, 1, 1);
  api_write(L, a);
  return 0;
}


static int api_annotate (lua_State *L) {
  const ApiReport *a = cast(const ApiReport *, lua_touserdata(L, 1));
  const cprof_ReportOptions *o = a->options;
  api_function(L, "annotate");
  lua_pushstring(L, a->source);
  lua_newtable(L);
  if (o != NULL) {
    api_string(L, "color", o->color);
    if (o->width != 0) api_integer(L, "width", o->width);
  }
  lua_call(L, 2, 1);
  api_write(L, a);
  return 0;
}


static int api_text (lua_State *L, lua_CFunction f, const char *source,
                     const cprof_ReportOptions *options, lua_Writer writer,
                     void *ud) {
  ApiReport a;
  a.source = source;
  a.options = options;
  a.writer = writer;
  a.ud = ud;
  return api_callunseen(L, f, &a);
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
** The view
** ======================================================= */

typedef struct ApiView {
  int view;
  const char *method;
  const char *value;	/* or, if it is NULL, 'n' */
  lua_Integer n;
  int height;
  void (*line) (void *ud, const cprof_Record *line);
  void (*frame) (void *ud, lua_Integer frame, lua_Integer ns);
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


/* pushes a method of the view, and the view */
static void api_method (lua_State *L, int view, const char *method) {
  if (lua_rawgeti(L, LUA_REGISTRYINDEX, view) != LUA_TTABLE)
    luaL_error(L, "cprof: %d is no view", view);
  if (lua_getfield(L, -1, method) != LUA_TFUNCTION)
    luaL_error(L, "cprof: a view has no method '%s'", method);
  lua_insert(L, -2);
}


static int api_control (lua_State *L) {
  const ApiView *a = cast(const ApiView *, lua_touserdata(L, 1));
  api_method(L, a->view, a->method);
  if (a->value != NULL) lua_pushstring(L, a->value);
  else lua_pushinteger(L, a->n);
  lua_call(L, 2, 0);
  return 0;
}


int cprof_viewmove (lua_State *L, int view, const char *method,
                    lua_Integer n) {
  ApiView a = ZEROS;
  a.view = view;
  a.method = method;
  a.n = n;
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


static double api_number (lua_State *L, int i) {
  double n;
  lua_rawgeti(L, -1, i);
  n = (double)lua_tonumber(L, -1);
  lua_pop(L, 1);
  return n;
}


/* the record on top */
static void api_line (lua_State *L, const ApiView *a) {
  cprof_Record line;
  lua_getfield(L, -1, "name");
  line.name = lua_tostring(L, -1);
  lua_getfield(L, -2, "marks");
  line.marks = lua_tostring(L, -1);
  lua_getfield(L, -3, "indent");
  line.indent = (int)lua_tointeger(L, -1);
  lua_getfield(L, -4, "highlighted");
  line.highlighted = lua_toboolean(L, -1);
  lua_getfield(L, -5, "heat");
  line.heat = (double)lua_tonumber(L, -1);
  lua_getfield(L, -6, "values");
  line.self_ms = api_number(L, 1);
  line.total_ms = api_number(L, 2);
  line.calls = api_number(L, 3);
  a->line(a->ud, &line);
  lua_pop(L, 6);
}


static int api_lines (lua_State *L) {
  const ApiView *a = cast(const ApiView *, lua_touserdata(L, 1));
  lua_Integer n, i;
  api_method(L, a->view, "lines");
  if (a->height > 0) lua_pushinteger(L, a->height);
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


static int api_graph (lua_State *L) {
  const ApiView *a = cast(const ApiView *, lua_touserdata(L, 1));
  lua_Integer n, i;
  api_method(L, a->view, "graph");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "numbers");
  lua_getfield(L, -2, "ns");
  n = luaL_len(L, -1);
  for (i = 1; i <= n; i++) {
    lua_rawgeti(L, -2, i);
    lua_rawgeti(L, -2, i);
    a->frame(a->ud, lua_tointeger(L, -2), lua_tointeger(L, -1));
    lua_pop(L, 2);
  }
  return 0;
}


int cprof_viewgraph (lua_State *L, int view,
                     void (*draw) (void *ud, lua_Integer frame,
                                   lua_Integer ns),
                     void *ud) {
  ApiView a = ZEROS;
  a.view = view;
  a.frame = draw;
  a.ud = ud;
  return api_callunseen(L, api_graph, &a);
}

/* }====================================================== */

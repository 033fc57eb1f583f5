/*
** Uses every public name of cprof.h, in C and in C++, with cprof and
** without it. Prints what is returned. Takes a path to write files to.
*/

#include "cprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#include <lua.hpp>
#define NOTHING	{}
#else
#include <lauxlib.h>
#include <lualib.h>
#define NOTHING	{0}
#endif

#if !defined(CPROF_API) || !defined(CPROF_THREAD) || defined(CPROF_LUA_CPP)
#error "cprof.h has lost a macro"
#endif


CPROF_DECLARE(elsewhere);  /* declared in a header ... */
CPROF_DEFINE(elsewhere);   /* ... and defined here */
CPROF_STATIC(here);
CPROF_STATIC(disabled);    /* used in code that is compiled out */

static CPROF_THREAD int count;


static void say (const char *what, long value) {
  printf("%s %ld\n", what, value);
}


static void check (lua_State *L, const char *what, int status) {
  if (status == LUA_OK) say(what, status);
  else {
    printf("%s: %s\n", what, lua_tostring(L, -1));
    lua_pop(L, 1);
  }
}


/* {======================================================
** Zones
** ======================================================= */

static void leave_early (lua_State *L) {
  CPROF_REGION(L, elsewhere) {
    CPROF_REGION(L, here) {
      CPROF_LEAVE(L);
      return;
    } CPROF_END(L)
  } CPROF_END(L)
}


static void named (lua_State *L, const char *name) {
  CPROF_NAMED(L, name) {
    CPROF_SCOPE(L, scope);
    CPROF_SCOPE(L, other);
    count++;
  } CPROF_END(L)
}


/* Uses 'L' and 'name' for zones alone: without cprof, no warning may come. */
static void only_zones (lua_State *L, const char *name) {
  CPROF_NAMED(L, name) { } CPROF_END(L)
  CPROF_BEGIN(L, begin) { } CPROF_END(L)
#define macro 1  /* not part of the name */
  CPROF_BEGIN(L, macro) { } CPROF_END(L)
  {
    CPROF_SCOPE(L, elsewhere);
  }
#if 0
  CPROF_REGION(L, disabled) { } CPROF_END(L)
#endif
}


static void marks (lua_State *L) {
  static CPROF_THREAD cprof_Zone zone;
  uint32_t mark;
  int turn;
  zone.name = "marked";
  mark = cprof_enter(L, &zone);
  cprof_leave(L, mark);
  say("entered", mark != 0);
  mark = cprof_entername(L, "entername");
  /* so that it has time, whatever is subtracted for recording it */
  for (turn = 0; turn < 3000; turn++) lua_gettop(L);
  cprof_leave(L, mark);
  say("entered", mark != 0);
  say("node", zone.name != NULL && zone.parent != NULL &&
              zone.node != NULL && zone.epoch != 0 && zone.func != 0);
}


static void zones (lua_State *L) {
  leave_early(L);
  named(L, "name");
  only_zones(L, "only");
  marks(L);
}

/* }====================================================== */


/* {======================================================
** Recording
** ======================================================= */

static void *allocate (void *ud, void *p, size_t from, size_t to) {
  (void)from;
  *(int *)ud = 1;
  if (to != 0) return realloc(p, to);
  free(p);
  return NULL;
}


static uint64_t now (void *ud) {
  uint64_t *time = (uint64_t *)ud;
  return *time += 1000;
}


static void opening (lua_State *L) {
  static uint64_t time;
  static int allocated;
  cprof_Clock clock = now;
  check(L, "open", cprof_open(L));
  luaL_requiref(L, "cprof", luaopen_cprof, 0);
  say("module", lua_istable(L, -1));
  lua_pop(L, 1);
  lua_pushcfunction(L, luaopen_cprof_core);
  lua_call(L, 0, 1);
  say("core", lua_istable(L, -1));
  lua_pop(L, 1);
  say("setalloc", cprof_setalloc(L, allocate, &allocated));
  say("setclock", cprof_setclock(L, clock, &time));
  check(L, "start", cprof_start(L, NULL));
  say("stop", cprof_stop(L));
  say("time", time != 0);
  say("allocated", allocated);
  cprof_setclock(L, NULL, NULL);
  say("reset without its clock", cprof_reset(L));
}


static void start (lua_State *L, const char *path) {
  static const char *const none[] = {"^nothing$", NULL};
  static const char *const all[] = {".", NULL};
  cprof_List list = all;
  cprof_Options o = NOTHING;
  o.mode = "line";
  o.lines = list;
  o.include = list;
  o.exclude = none;
  o.clock = "wall";
  o.recursion = "fold";
  o.file = path;
  o.c_functions = CPROF_OFF;
  o.callsites = CPROF_ON;
  o.compensate = CPROF_OFF;
  o.memory = CPROF_LIVE;
  o.memory_interval = o.rate = o.gc = o.distribution = o.tasks = 0;
  o.max_nodes = 1000;
  o.every = o.keep = 0;
  o.keep_last = o.dump_every = 0;
  o.history = CPROF_FULL;
  o.slow_frames.budget_ms = 0.000001;
  o.slow_frames.keep = 3;
  check(L, "start", cprof_start(L, &o));
  o.trace = "trace";
  o.timer = "thread";
  o.mode = "call";
  say("start again", cprof_start(L, &o) != LUA_OK);
  lua_settop(L, 0);
}


static void recording (lua_State *L) {
  lua_State *co = lua_newthread(L);
  say("running", cprof_running(L));
  check(L, "interruptible", cprof_interruptible(L));
  say("current", cprof_current() == L);
  say("attach", cprof_attach(co));
  check(L, "listen", cprof_listen(L));
  cprof_thread(L);
  say("pause", cprof_pause(L));
  say("resume", cprof_resume(L));
  say("reset", cprof_reset(L));
  zones(L);
  if (luaL_dostring(L, "local function f() return 1 end return f() + f()"))
    printf("%s\n", lua_tostring(L, -1));
  lua_settop(L, 0);
  say("frame", cprof_frame(L, 1));
  say("framenamed", cprof_framenamed(L, "loop", 1));
}

/* }====================================================== */


/* {======================================================
** Looking at it
** ======================================================= */

static int add (lua_State *L, const void *text, size_t size, void *ud) {
  (void)L; (void)text;
  *(size_t *)ud += size;
  return 0;
}


static void report (lua_State *L, const char *path) {
  size_t size = 0;
  cprof_ReportOptions o = NOTHING;
  o.mode = "self";
  o.sort = "calls";
  o.filter = ".";
  o.color = "never";
  o.limit = CPROF_ALL;
  o.min_percent = 0.5;
  o.width = 80;
  check(L, "report", cprof_report(L, &o, add, &size));
  say("written", size > 100);
  size = 0;
  check(L, "annotate", cprof_annotate(L, NULL, &o, add, &size));
  say("written", size > 100);
  check(L, "save", cprof_save(L, path));
  check(L, "export", cprof_export(L, "folded", "folded"));
  lua_pushliteral(L, "an error");
  say("dumponerror", cprof_dumponerror(L) - 1);
  lua_pop(L, 1);
  say("dumprecent", cprof_dumprecent(L, path, "no option") == LUA_ERRRUN);
  lua_settop(L, 0);
}


static void draw_line (void *ud, const cprof_Record *r) {
  int *known = (int *)ud;
  *known += strcmp(r->name, "entername") == 0 && r->title[0] == 'e' &&
            r->marks[0] == '+' && r->indent == 0 && !r->highlighted &&
            r->self_ms > 0 && r->total_ms > 0 && r->calls == 1 &&
            r->self_most_ms >= r->self_ms &&
            r->total_most_ms >= r->total_ms &&
            r->heat == 0;
}


static void draw_point (void *ud, const cprof_Point *p) {
  int *known = (int *)ud;
  *known += p->frame == 1 && p->ns > 0 && p->self_ns > 0 &&
            p->total_ns > 0 && p->calls == 1;
}


static void view (lua_State *L) {
  int lines = 0, points = 0, v;
  check(L, "view", cprof_view(L, &v));
  check(L, "viewset", cprof_viewset(L, v, "mode", "self"));
  check(L, "viewmove", cprof_viewmove(L, v, "average", 0));
  check(L, "viewlines", cprof_viewlines(L, v, 0, draw_line, &lines));
  say("lines", lines);
  check(L, "viewgraph", cprof_viewgraph(L, v, "entername", draw_point,
                                        &points));
  say("points", points);
  cprof_freeview(L, v);
}

/* }====================================================== */


int main (int argc, char **argv) {
  lua_State *L = luaL_newstate();
  char path[1000];
  if (argc < 2 || L == NULL) return 2;
  luaL_openlibs(L);
  printf("%s %d\n", CPROF_VERSION, CPROF_ENABLED);
  opening(L);
  snprintf(path, sizeof path, "%s.live", argv[1]);
  start(L, path);
  recording(L);
  view(L);
  say("stop", cprof_stop(L));
  report(L, argv[1]);
  lua_close(L);
  return 0;
}

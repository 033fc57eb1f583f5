/*
** Zones in C, and the C API, for the specs: functions that a state gets
** as the module spec_zones, and hosts that use it from outside.
*/

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "cprof.h"
#include "base/platform.h"
#include "zones.h"


CPROF_DEFINE(outer);
CPROF_DEFINE(inner);


static void zones_call (lua_State *L, int arg) {
  lua_pushvalue(L, arg);
  lua_call(L, 0, 0);
}


/* f: f() in a zone of its own */
static int zones_within (lua_State *L) {
  CPROF_BEGIN(L, within) {
    zones_call(L, 1);
  } CPROF_END(L)
  return 0;
}


/* f, g: calls f in the zones outer and inner, then g in outer */
static int zones_nested (lua_State *L) {
  CPROF_REGION(L, outer) {
    CPROF_REGION(L, inner) {
      zones_call(L, 1);
    } CPROF_END(L)
    zones_call(L, 2);
  } CPROF_END(L)
  return 0;
}


/* f: raises an error after f, and never leaves its zones */
static int zones_raise (lua_State *L) {
  CPROF_REGION(L, outer) {
    CPROF_BEGIN(L, lost) {
      zones_call(L, 1);
      return luaL_error(L, "out of the zone");
    } CPROF_END(L)
  } CPROF_END(L)
}


/* f, g: calls 'zones_raise' with f in a pcall, then has a zone with g */
static int zones_catch (lua_State *L) {
  CPROF_BEGIN(L, catching) {
    lua_pushcfunction(L, zones_raise);
    lua_pushvalue(L, 1);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
    CPROF_BEGIN(L, after) {
      zones_call(L, 2);
    } CPROF_END(L)
  } CPROF_END(L)
  return 0;
}


/* f, how: leaves two zones by a return, a break or a goto */
static int zones_early (lua_State *L) {
  static const char *const ways[] = {"return", "break", "goto", "leave", NULL};
  int way = luaL_checkoption(L, 2, NULL, ways);
  CPROF_REGION(L, outer) {
    for (;;) {
      CPROF_BEGIN(L, early) {
        zones_call(L, 1);
        if (way == 0) return 0;
        if (way == 1) break;
        if (way == 2) goto out;
        CPROF_LEAVE(L);
        zones_call(L, 1);
        CPROF_LEAVE(L);
        return 0;
      } CPROF_END(L)
    }
    zones_call(L, 1);
  } CPROF_END(L)
 out:
  zones_call(L, 1);
  return 0;
}


/* f: f() in a part of the function that has a scope */
static int zones_scoped (lua_State *L) {
  {
    CPROF_SCOPE(L, scope);
    zones_call(L, 1);
    if (lua_toboolean(L, 2)) return 0;
  }
  zones_call(L, 1);
  return 0;
}


/* f, name ...: f() in zones of these names, one after the other */
static int zones_named (lua_State *L) {
  int i;
  for (i = 2; i <= lua_gettop(L); i++) {
    char name[100];
    snprintf(name, sizeof name, "%s", luaL_checkstring(L, i));
    CPROF_NAMED(L, name) {
      memset(name, '?', sizeof name);
      zones_call(L, 1);
    } CPROF_END(L)
  }
  return 0;
}


static jmp_buf zones_buffer;


static void zones_jump (lua_State *L) {
  CPROF_REGION(L, inner) {
    CPROF_BEGIN(L, innermost) {
      longjmp(zones_buffer, 1);
    } CPROF_END(L)
  } CPROF_END(L)
}


/* f: jumps over the ends of two zones of this very function */
static int zones_longjmp (lua_State *L) {
  CPROF_REGION(L, outer) {
    if (setjmp(zones_buffer) == 0) zones_jump(L);
  } CPROF_END(L)
  zones_call(L, 1);
  return 0;
}


/* n: that many zones, one after the other */
static int zones_many (lua_State *L) {
  volatile lua_Integer n = luaL_checkinteger(L, 1);
  while (n-- > 0) {
    CPROF_REGION(L, outer) {
    } CPROF_END(L)
  }
  return 0;
}


/* n: nothing, that many times */
static int zones_empty (lua_State *L) {
  volatile lua_Integer n = luaL_checkinteger(L, 1);
  while (n-- > 0) { }
  return 0;
}


static CPROF_THREAD volatile uint64_t zones_last;


/* n: the clock is read twice, that many times */
static int zones_clocks (lua_State *L) {
  volatile lua_Integer n = luaL_checkinteger(L, 1);
  while (n-- > 0) {
    zones_last = platform_ticks();
    zones_last = platform_ticks();
  }
  return 0;
}


/* n: that many zones, of which one is in another by turns */
static int zones_changing (lua_State *L) {
  volatile lua_Integer n = luaL_checkinteger(L, 1) / 2;
  while (n-- > 0) {
    CPROF_REGION(L, outer) {
      CPROF_REGION(L, inner) {
      } CPROF_END(L)
    } CPROF_END(L)
  }
  return 0;
}


/* n: zones in each other */
static int zones_deep (lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  CPROF_REGION(L, inner) {
    if (n > 1) {
      lua_pushcfunction(L, zones_deep);
      lua_pushinteger(L, n - 1);
      lua_call(L, 1, 0);
    }
  } CPROF_END(L)
  return 0;
}


/* thread: resumes it once, from C, in a zone */
static int zones_resume (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  int results;
  CPROF_BEGIN(L, scheduler) {
    if (lua_resume(co, L, 0, &results) <= LUA_YIELD) lua_pop(co, results);
  } CPROF_END(L)
  lua_pushinteger(L, lua_status(co));
  return 1;
}


/* thread, f: f() in a zone of the thread, in which nothing runs */
static int zones_other (lua_State *L) {
  lua_State *co = lua_tothread(L, 1);
  CPROF_REGION(co, outer) {
    zones_call(L, 2);
  } CPROF_END(co)
  return 0;
}


/* thread: it is to be recorded, too */
static int zones_attach (lua_State *L) {
  lua_pushboolean(L, cprof_attach(lua_tothread(L, 1)));
  return 1;
}


/* f, g: pauses in a zone, leaves it then, and resumes */
static int zones_pause (lua_State *L) {
  CPROF_BEGIN(L, before) {
    zones_call(L, 1);
    cprof_pause(L);
  } CPROF_END(L)
  CPROF_BEGIN(L, paused) {
    cprof_resume(L);
    zones_call(L, 2);
  } CPROF_END(L)
  return 0;
}


/* record: ends a frame, from C */
static int zones_frame (lua_State *L) {
  lua_pushboolean(L, cprof_frame(L, lua_toboolean(L, 1)));
  return 1;
}


/* {======================================================
** A clock that stands unless it is told to go on
** ======================================================= */

static CPROF_THREAD uint64_t zones_time;


static uint64_t zones_now (void *ud) {
  return *(uint64_t *)ud;
}


/* on: takes the clock, or gives it back */
static int zones_clock (lua_State *L) {
  int on = lua_toboolean(L, 1);
  lua_pushboolean(L, cprof_setclock(L, on ? zones_now : NULL, &zones_time));
  return 1;
}


/* ns: lets this time pass */
static int zones_pass (lua_State *L) {
  zones_time += (uint64_t)luaL_checkinteger(L, 1);
  return 0;
}

/* }====================================================== */


/* {======================================================
** A host
** ======================================================= */

typedef struct ZonesText {
  luaL_Buffer buffer;
  int running;	/* was S recorded while this was written? */
} ZonesText;


static int zones_writer (lua_State *S, const void *p, size_t size, void *ud) {
  ZonesText *t = (ZonesText *)ud;
  luaL_addlstring(&t->buffer, (const char *)p, size);
  t->running = cprof_running(S);
  return 0;
}


static int zones_badwriter (lua_State *L, const void *p, size_t size,
                            void *ud) {
  (void)L; (void)p; (void)size; (void)ud;
  return 1;
}


/* a table at 'arg' with what C is to be given */
static const char *zones_string (lua_State *L, int arg, const char *name) {
  const char *s;
  lua_getfield(L, arg, name);
  s = lua_tostring(L, -1);
  lua_pop(L, 1);
  return s;
}


static lua_Integer zones_integer (lua_State *L, int arg, const char *name) {
  lua_Integer n;
  lua_getfield(L, arg, name);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}


static lua_State *zones_state (lua_State *L) {
  return *(lua_State **)luaL_checkudata(L, 1, ZONES_STATE);
}


/* Pushes a status of S; and the message, if it is that of a failure. */
static int zones_answer (lua_State *L, lua_State *S, int status) {
  lua_pushinteger(L, status);
  if (status == LUA_OK) return 1;
  lua_pushstring(L, lua_tostring(S, -1));
  lua_pop(S, 1);
  return 2;
}


/* options: starts S; status and message */
static int zones_start (lua_State *L) {
  lua_State *S = zones_state(L);
  cprof_Options o = {0};
  const char *include[2] = {NULL, NULL}, *exclude[2] = {NULL, NULL};
  const char *lines[2] = {NULL, NULL};
  int status;
  if (lua_isnoneornil(L, 2)) status = cprof_start(S, NULL);
  else {
    o.mode = zones_string(L, 2, "mode");
    o.clock = zones_string(L, 2, "clock");
    o.recursion = zones_string(L, 2, "recursion");
    o.trace = zones_string(L, 2, "trace");
    o.file = zones_string(L, 2, "file");
    o.history = (int)zones_integer(L, 2, "history");
    o.slow_frames.budget_ms = (double)zones_integer(L, 2, "budget_ms");
    o.slow_frames.keep = (int)zones_integer(L, 2, "keep");
    o.max_nodes = zones_integer(L, 2, "max_nodes");
    o.callsites = (int)zones_integer(L, 2, "callsites");
    o.c_functions = (int)zones_integer(L, 2, "c_functions");
    o.compensate = (int)zones_integer(L, 2, "compensate");
    o.rate = (int)zones_integer(L, 2, "rate");
    o.gc = (int)zones_integer(L, 2, "gc");
    o.distribution = (int)zones_integer(L, 2, "distribution");
    o.tasks = (int)zones_integer(L, 2, "tasks");
    o.memory = (int)zones_integer(L, 2, "memory");
    o.memory_interval = (int)zones_integer(L, 2, "memory_interval");
    include[0] = zones_string(L, 2, "include");
    exclude[0] = zones_string(L, 2, "exclude");
    lines[0] = zones_string(L, 2, "lines");
    if (include[0] != NULL) o.include = include;
    if (exclude[0] != NULL) o.exclude = exclude;
    if (lines[0] != NULL) o.lines = lines;
    status = cprof_start(S, &o);
  }
  return zones_answer(L, S, status);
}


/* which: calls the function of S with this name; returns its result */
static int zones_control (lua_State *L) {
  lua_State *S = zones_state(L);
  static const char *const names[] = {
    "stop", "pause", "resume", "reset", "running", "frame", NULL
  };
  int done = 0;
  switch (luaL_checkoption(L, 2, NULL, names)) {
    case 0: done = cprof_stop(S); break;
    case 1: done = cprof_pause(S); break;
    case 2: done = cprof_resume(S); break;
    case 3: done = cprof_reset(S); break;
    case 4: done = cprof_running(S); break;
    case 5: done = cprof_frame(S, lua_isnone(L, 3) || lua_toboolean(L, 3));
  }
  lua_pushinteger(L, done);
  return 1;
}


/*
** options, source, bad: the report of S, or its sources, and whether S was
** recorded meanwhile; or status, message
*/
static int zones_report (lua_State *L) {
  lua_State *S = zones_state(L);
  cprof_ReportOptions o = {0};
  int status, table = lua_istable(L, 2);
  const char *source = lua_tostring(L, 3);
  lua_Writer writer = lua_toboolean(L, 4) ? zones_badwriter : zones_writer;
  ZonesText t;
  if (table) {
    o.mode = zones_string(L, 2, "mode");
    o.sort = zones_string(L, 2, "sort");
    o.filter = zones_string(L, 2, "filter");
    o.color = zones_string(L, 2, "color");
    o.limit = (int)zones_integer(L, 2, "limit");
    o.min_percent = (double)zones_integer(L, 2, "min_percent");
    o.width = (int)zones_integer(L, 2, "width");
  }
  luaL_buffinit(L, &t.buffer);
  if (source != NULL)
    status = cprof_annotate(S, *source ? source : NULL, &o, writer, &t);
  else status = cprof_report(S, table ? &o : NULL, writer, &t);
  luaL_pushresult(&t.buffer);
  if (status == LUA_OK) {
    lua_pushboolean(L, t.running);
    return 2;
  }
  return zones_answer(L, S, status);
}


/* Runs code with a message handler of cprof's. */
static int zones_failed (lua_State *S, const char *code) {
  int status;
  lua_pushcfunction(S, cprof_dumponerror);
  status = luaL_loadstring(S, code);
  if (status == LUA_OK) status = lua_pcall(S, 0, 0, -2);
  lua_remove(S, status == LUA_OK ? -1 : -2);
  return status;
}


/*
** path, format: saves the profile of S, or exports it; code, "failed": runs it;
** status, message
*/
static int zones_file (lua_State *L) {
  lua_State *S = zones_state(L);
  const char *path = lua_tostring(L, 2), *format = lua_tostring(L, 3);
  int recent = format != NULL && strcmp(format, "recent") == 0;
  int failed = format != NULL && strcmp(format, "failed") == 0;
  int status = failed ? zones_failed(S, path)
             : recent ? cprof_dumprecent(S, path, "as the host says")
             : format != NULL ? cprof_export(S, format, path)
                              : cprof_save(S, path);
  return zones_answer(L, S, status);
}


/* code: runs it within zones of the host, where no function runs */
static int zones_host (lua_State *L) {
  lua_State *S = zones_state(L);
  const char *code = luaL_checkstring(L, 2);
  int status;
  CPROF_REGION(S, outer) {
    CPROF_BEGIN(S, load) {
      status = luaL_loadstring(S, code);
    } CPROF_END(S)
    CPROF_BEGIN(S, run) {
      if (status == LUA_OK) status = lua_pcall(S, 0, 1, 0);
    } CPROF_END(S)
  } CPROF_END(S)
  lua_pushstring(L, luaL_tolstring(S, -1, NULL));
  lua_settop(S, 0);
  lua_pushinteger(L, status);
  return 2;
}


/* of S: leaves two zones at once, where no function runs */
static int zones_hostearly (lua_State *L) {
  lua_State *S = zones_state(L);
  CPROF_REGION(S, outer) {
    CPROF_BEGIN(S, early) {
      return 0;
    } CPROF_END(S)
  } CPROF_END(S)
}


static void zones_draw (void *ud, const cprof_Record *r) {
  luaL_Buffer *b = (luaL_Buffer *)ud;
  char line[200];
  lua_Number calls = r->calls;
  int i;
  if (r->highlighted) luaL_addchar(b, '>');
  for (i = 0; i < r->indent; i++) luaL_addchar(b, ' ');
  luaL_addstring(b, r->marks);
  if (strncmp(r->title, r->name, strlen(r->name)) != 0)
    luaL_addstring(b, "another title: ");
  snprintf(line, sizeof line, "%.100s %.6g %.6g %.6g\n", r->name,
            r->self_ms, r->total_ms, calls);
  luaL_addstring(b, line);
}


static void zones_drawpoint (void *ud, const cprof_Point *p) {
  luaL_Buffer *b = (luaL_Buffer *)ud;
  char line[100];
  snprintf(line, sizeof line, "%d %.0f: %.0f %.0f %d\n", (int)p->frame,
           (double)p->ns, (double)p->self_ns, (double)p->total_ns,
           (int)p->calls);
  luaL_addstring(b, line);
}


/* mode, move, height, zone: what a view of S shows then, and its graph */
static int zones_view (lua_State *L) {
  lua_State *S = zones_state(L);
  luaL_Buffer b;
  int view, status;
  const char *mode = luaL_checkstring(L, 2);
  lua_Integer n = luaL_checkinteger(L, 3);
  int height = (int)luaL_checkinteger(L, 4);
  const char *zone = lua_tostring(L, 5);
  luaL_buffinit(L, &b);
  status = cprof_view(S, &view);
  if (status == LUA_OK) status = cprof_viewset(S, view, "mode", mode);
  if (status == LUA_OK) status = cprof_viewmove(S, view, "average", 0);
  if (status == LUA_OK) status = cprof_viewmove(S, view, "move", n);
  if (status == LUA_OK)
    status = cprof_viewlines(S, view, height, zones_draw, &b);
  luaL_addstring(&b, "graph\n");
  if (status == LUA_OK)
    status = cprof_viewgraph(S, view, zone, zones_drawpoint, &b);
  cprof_freeview(S, view);
  if (status != LUA_OK) {
    luaL_addstring(&b, lua_tostring(S, -1));
    lua_pop(S, 1);
  }
  luaL_pushresult(&b);
  lua_pushinteger(L, status);
  return 2;
}

const luaL_Reg zones_methods[] = {
  {"start", zones_start}, {"control", zones_control},
  {"report", zones_report}, {"file", zones_file}, {"host", zones_host},
  {"early", zones_hostearly}, {"view", zones_view}, {NULL, NULL}
};

/* }====================================================== */


int luaopen_spec_zones (lua_State *L) {
  static const luaL_Reg zones[] = {
    {"within", zones_within}, {"nested", zones_nested},
    {"raise", zones_raise}, {"catch", zones_catch},
    {"early", zones_early}, {"scoped", zones_scoped},
    {"named", zones_named},
    {"longjmp", zones_longjmp}, {"many", zones_many},
    {"empty", zones_empty}, {"clocks", zones_clocks},
    {"changing", zones_changing},
    {"deep", zones_deep}, {"resume", zones_resume},
    {"other", zones_other},
    {"attach", zones_attach}, {"pause", zones_pause},
    {"frame", zones_frame}, {"clock", zones_clock}, {"pass", zones_pass},
    {NULL, NULL}
  };
  luaL_newlib(L, zones);
  return 1;
}

/*
** See loptions.h
*/

#include "lua/loptions.h"

#include <lauxlib.h>

#include "lua/entry.h"
#include "lua/lfunction.h"
#include "lua/lslow.h"
#include "lua/ltable.h"
#include "record/calltrace.h"


/* addresses: keys in the registry */
static const char OPTIONS = 0;	/* those of the recording, with functions; nil:
				   none has begun, or it is complete */
static const char TITLES = 0;	/* results of the option 'title', by function
				   id */


/* {======================================================
** Functions of the program's, which are called within the hook
** ======================================================= */

/*
** Pushes an option of the recording. Its name exists as a string, so no memory
** is needed.
*/
static int options_push (lua_State *L, const char *name) {
  int type = LUA_TNIL;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &OPTIONS) == LUA_TTABLE) {
    type = lua_getfield(L, -1, name);
    lua_remove(L, -2);
  }
  return type;
}


typedef struct Question {
  const Functions *functions;
  const Function *function;
} Question;


/* function, Question -> is it recorded? */
static int ask_include (lua_State *L) {
  Question *q = cast(Question *, lua_touserdata(L, 2));
  options_push(L, "filter");
  lfunction_push(L, q->functions, q->function);
  lua_pushvalue(L, 1);
  lua_call(L, 2, 1);
  return 1;
}


/*
** Calls a filter with the 'arguments' above it. Returns its answer, or
** 'otherwise' if it raises an error.
*/
static int options_ask (lua_State *L, int arguments, int otherwise) {
  Recorder *r = recorder_get(L);
  lua_State *running = callback_filter(r, L);
  int yes = entry_ask(L, arguments, 1) == LUA_OK ? lua_toboolean(L, -1)
                                                 : otherwise;
  callback_end(r, running);
  lua_pop(L, 1);
  return yes;
}


/* Options.include: asks the filter. If that raises an error, it is yes. */
static int options_include (const void *functions, lua_State *L,
                         const Function *f) {
  Question q;
  if (!lua_checkstack(L, 5)) return 1;
  q.functions = cast(const Functions *, functions);
  q.function = f;
  lua_pushcfunction(L, ask_include);
  lua_pushvalue(L, -2);
  lua_pushlightuserdata(L, &q);
  return options_ask(L, 2, 1);
}


/* source -> are its lines recorded? */
static int ask_lines (lua_State *L) {
  options_push(L, "lines_of");
  lua_pushstring(L, cast(const char *, lua_touserdata(L, 1)));
  lua_call(L, 1, 1);
  return 1;
}


/* Options.include_lines: asks for lines. If that raises an error, it is no. */
static int options_includelines (lua_State *L, const char *source) {
  if (!lua_checkstack(L, 4)) return 0;
  lua_pushcfunction(L, ask_lines);
  lua_pushlightuserdata(L, (void *)source);
  return options_ask(L, 1, 0);
}


typedef struct Tracing {
  const Functions *functions;
  const TraceEvent *event;
} Tracing;


/*
** Pushes the title of a function. The option is asked once for each function;
** if that has just been called, it runs at level 1.
*/
static void trace_pushtitle (lua_State *L, const Tracing *t) {
  const Function *f = functions_at(t->functions, t->event->func);
  lua_Debug ar;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &TITLES);
  if (lua_rawgeti(L, -1, f->id) != LUA_TNIL) return;
  lua_pop(L, 1);
  if (f->kind == FUNCTION_ZONE)
    lfunction_pushtext(L, &t->functions->text, f->name);
  else {
    options_push(L, "title");
    lfunction_push(L, t->functions, f);
    if (lua_getstack(L, 1, &ar)) lua_getinfo(L, "f", &ar);
    else lua_pushnil(L);
    lua_call(L, 2, 1);
  }
  lua_pushvalue(L, -1);
  lua_rawseti(L, -3, f->id);
}


/* Tracing -> */
static int trace_report (lua_State *L) {
  const Tracing *t = cast(const Tracing *, lua_touserdata(L, 1));
  const TraceEvent *e = t->event;
  trace_pushtitle(L, t);
  options_push(L, "tell");
  lua_pushstring(L, e->enters ? "enter" : "leave");
  lua_pushinteger(L, e->depth);
  lua_pushvalue(L, -4);
  lua_pushinteger(L, (lua_Integer)e->since);
  if (e->enters) lua_pushnil(L);
  else lua_pushinteger(L, (lua_Integer)e->took);
  lua_pushinteger(L, e->coroutine);
  lua_call(L, 6, 0);
  return 0;
}


static const char *options_trace (lua_State *L, const Functions *fs,
                               const TraceEvent *e) {
  Tracing t;
  const char *why;
  t.functions = fs;
  t.event = e;
  lua_pushcfunction(L, trace_report);
  lua_pushlightuserdata(L, &t);
  if (entry_ask(L, 1, 0) == LUA_OK) return NULL;
  why = lua_tostring(L, -1);
  return why ? why : "it raised an error that is not a string";
}

/*
** Options.elapsed: calls the option, which reports errors itself. At the end of
** an interval, it begins another recording, which no entry may surround.
*/
static void options_elapsed (lua_State *L) {
  const Recorder *r = recorder_get(L);
  int (*call) (lua_State *L, int arguments, int results) =
    r != NULL && r->options.every != 0 ? entry_ask : entry_pcall;
  if (!lua_checkstack(L, LUA_MINSTACK)) return;
  options_push(L, "elapsed");
  if (call(L, 0, 0) != LUA_OK) lua_pop(L, 1);
}

/* }====================================================== */


static lua_Number options_number (lua_State *L, const char *name) {
  lua_Number n;
  lua_getfield(L, 1, name);
  n = luaL_optnumber(L, -1, 0);
  lua_pop(L, 1);
  return n;
}


static lua_Integer options_integer (lua_State *L, const char *name) {
  lua_Integer n;
  lua_getfield(L, 1, name);
  n = luaL_checkinteger(L, -1);
  lua_pop(L, 1);
  return n;
}


void loptions_mode (lua_State *L, Options *o) {
  static const char *const modes[] = {MODE_NAMES, NULL};
  o->mode = (Mode)ltable_choice(L, 1, "mode", modes);
  o->cpu = ltable_flag(L, 1, "cpu");
  o->watched = ltable_flag(L, 1, "watched");
  o->prompt = ltable_flag(L, 1, "prompt");
  o->counted = ltable_flag(L, 1, "counted");
  o->callsites = ltable_flag(L, 1, "callsites");
  o->distribution = ltable_flag(L, 1, "distribution");
  o->tasks = ltable_flag(L, 1, "tasks");
  o->keep_last = options_number(L, "keep_last") * 1e9;
  o->keep_bytes = (uint64_t)options_number(L, "keep_bytes");
  o->foldat = (uint32_t)options_integer(L, "fold_at");
  if (ltable_flag(L, 1, "lines_of")) o->include_lines = options_includelines;
}


void loptions_read (lua_State *L, Options *o) {
  loptions_mode(L, o);
  if (o->mode == MODE_SAMPLE) o->rate = (uint32_t)options_integer(L, "rate");
  o->budget_call = options_number(L, "slow_call") * 1e9;
  o->memory = ltable_flag(L, 1, "memory");
  o->live = (uint64_t)options_integer(L, "live");
  o->memory_interval = (uint64_t)options_integer(L, "memory_interval");
  o->adapts = ltable_flag(L, 1, "adapts");
  o->gc = ltable_flag(L, 1, "gc");
  o->creator = ltable_flag(L, 1, "creator");
  o->exclude_c = ltable_flag(L, 1, "exclude_c");
  o->max_nodes = (uint32_t)options_integer(L, "max_nodes");
  o->history = (uint32_t)options_integer(L, "history");
  o->full = ltable_flag(L, 1, "full");
  o->slow = (uint32_t)options_integer(L, "keep");
  o->budget = options_number(L, "budget_ms");
  o->every = (uint64_t)(options_number(L, "every") * 1e9);
  if (ltable_flag(L, 1, "filter")) o->include = options_include;
  if (ltable_flag(L, 1, "tell")) o->trace = options_trace;
  if (ltable_flag(L, 1, "elapsed")) o->elapsed = options_elapsed;
  if (o->mode == MODE_TRACE && o->trace == NULL) o->mode = MODE_CALL;
  lslow_options(L);
  lua_getfield(L, 1, "internal");
  o->internal = luaL_checkstring(L, -1);
  lua_pop(L, 1);
  lua_pushvalue(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &OPTIONS);
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &TITLES);
}


void loptions_close (lua_State *L) {
  if (options_push(L, "close") != LUA_TFUNCTION ||
      lua_pcall(L, 0, 0, 0) != LUA_OK)
    lua_pop(L, 1);
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &OPTIONS);
}

/*
** See onlyoptions.h
*/

#include "host/onlyoptions.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/files.h"
#include "base/release.h"
#include "heap/collector.h"
#include "lua/lpaths.h"
#include "lua/lstate.h"
#include "lua/ltable.h"
#include "record/control.h"

#if !CPROF_WHOLE


/* {======================================================
** Options: what is valid
** ======================================================= */

typedef enum OnlyKind {
  ONLY_FLAG, ONLY_WORD, ONLY_INTEGER, ONLY_TEXTS, ONLY_MEMORY, ONLY_PATH,
  ONLY_SLOW, ONLY_ABSENT
} OnlyKind;

#define ONLY_MODE(mode)	(1u << (mode))
#define ONLY_CALLS	(ONLY_MODE(MODE_CALL) | ONLY_MODE(MODE_LINE))
#define ONLY_LINES	\
	(ONLY_MODE(MODE_LINE) | ONLY_MODE(MODE_COUNT) | ONLY_MODE(MODE_SAMPLE))

#define ONLY_WORDS	5	/* at most, and NULL */

typedef struct OnlyOption {
  const char *name;
  OnlyKind kind;
  unsigned modes;	/* those that it can be given in; 0: all */
  const char *shape;	/* the default, if figures depend on it; or NULL */
  lua_Integer least, most;	/* of an integer */
  const char *words[ONLY_WORDS + 1];	/* the first one is the default; 'timer'
				   has none */
} OnlyOption;

#define ONLY_NONE(name)	{name, ONLY_ABSENT, 0, NULL, 0, 0, {NULL}}

static const OnlyOption only_options[] = {
  {"mode", ONLY_WORD, 0, NULL, 0, 0, {MODE_NAMES, NULL}},
  {"rate", ONLY_INTEGER, ONLY_MODE(MODE_SAMPLE), NULL, 1, 10000, {NULL}},
  {"lines", ONLY_TEXTS, ONLY_LINES, "nil", 0, 0, {NULL}},
  {"c_functions", ONLY_FLAG, 0, "true", 0, 0, {NULL}},
  {"callsites", ONLY_FLAG, 0, "false", 0, 0, {NULL}},
  {"clock", ONLY_WORD, 0, NULL, 0, 0, {"wall", "cpu", NULL}},
  {"timer", ONLY_WORD, ONLY_MODE(MODE_SAMPLE), NULL, 0, 0,
   {"wall", "thread", "auto", NULL}},
  {"recursion", ONLY_WORD, 0, "auto", 0, 0, {"auto", "full", "fold", NULL}},
  {"max_nodes", ONLY_INTEGER, 0, NULL, 16, 0x7fffffff, {NULL}},
  {"file", ONLY_PATH, 0, NULL, 0, 0, {NULL}},
  {"compensate", ONLY_FLAG, 0, NULL, 0, 0, {NULL}},
  {"distribution", ONLY_FLAG, ONLY_CALLS, NULL, 0, 0, {NULL}},
  {"tasks", ONLY_FLAG, ONLY_CALLS, NULL, 0, 0, {NULL}},
  {"under", ONLY_WORD, ONLY_CALLS, "nil", 0, 0, {"resumer", "creator", NULL}},
  {"memory", ONLY_MEMORY, 0, NULL, 0, 0, {NULL}},
  {"memory_interval", ONLY_INTEGER, 0, NULL, 1, 1 << 30, {NULL}},
  {"gc", ONLY_FLAG, ONLY_CALLS, NULL, 0, 0, {NULL}},
  {"slow_frames", ONLY_SLOW, ONLY_CALLS, NULL, 0, 0, {NULL}},
  ONLY_NONE("trace"), ONLY_NONE("include"), ONLY_NONE("exclude"),
  ONLY_NONE("history"), ONLY_NONE("every"), ONLY_NONE("keep"),
  ONLY_NONE("keep_last"), ONLY_NONE("live_file"), ONLY_NONE("on_slow"),
  ONLY_NONE("dump_every"),
  ONLY_NONE(NULL)
};


static const OnlyOption *only_find (const char *name) {
  const OnlyOption *o = only_options;
  while (o->name != NULL && strcmp(o->name, name) != 0) o++;
  return o->name != NULL ? o : NULL;
}


/* The index of the string on top among the words of an option; -1: none. */
static int only_word (lua_State *L, const OnlyOption *o) {
  int i;
  if (lua_type(L, -1) != LUA_TSTRING) return -1;
  for (i = 0; o->words[i] != NULL; i++)
    if (strcmp(lua_tostring(L, -1), o->words[i]) == 0) return i;
  return -1;
}


static int only_isinteger (lua_State *L, const OnlyOption *o) {
  int is;
  lua_Integer n = lua_tointegerx(L, -1, &is);
  return is && lua_type(L, -1) == LUA_TNUMBER && n >= o->least &&
         n <= o->most;
}


/*
** Is the value on top a list of strings, without holes? A Lua pattern, which
** stands between slashes, would need Lua's library.
*/
static int only_istexts (lua_State *L) {
  int list = lua_gettop(L), ok = lua_istable(L, -1);
  lua_Integer n, i;
  if (!ok) return 0;
  n = (lua_Integer)lua_rawlen(L, list);
  for (i = 1; i <= n; i++) {
    size_t size;
    const char *s = lua_rawgeti(L, list, i) == LUA_TSTRING
                  ? lua_tolstring(L, -1, &size) : NULL;
    ok = ok && s != NULL &&
         !(size > 2 && s[0] == '/' && s[size - 1] == '/');
    lua_pop(L, 1);
  }
  for (lua_pushnil(L); lua_next(L, list); lua_pop(L, 1)) n--;
  return ok && n == 0;
}


/* Is the value on top a table { budget_ms =, keep = }? */
static int only_isslow (lua_State *L) {
  int ok = lua_istable(L, -1);
  if (!ok) return 0;
  lua_getfield(L, -1, "budget_ms");
  ok = lua_type(L, -1) == LUA_TNUMBER && lua_tonumber(L, -1) > 0;
  lua_getfield(L, -2, "keep");
  ok = ok && (lua_isnil(L, -1) ||
              (lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1));
  lua_pop(L, 2);
  return ok;
}


static int only_isvalid (lua_State *L, const OnlyOption *o) {
  switch (o->kind) {
    case ONLY_FLAG: return lua_isboolean(L, -1);
    case ONLY_WORD: return only_word(L, o) >= 0;
    case ONLY_INTEGER: return only_isinteger(L, o);
    case ONLY_TEXTS: return only_istexts(L);
    case ONLY_MEMORY:
      return lua_isboolean(L, -1) ||
             (lua_type(L, -1) == LUA_TSTRING &&
              strcmp(lua_tostring(L, -1), "live") == 0);
    case ONLY_PATH:
      return lua_type(L, -1) == LUA_TSTRING && *lua_tostring(L, -1) != '\0';
    case ONLY_SLOW: return only_isslow(L);
    default: return 0;
  }
}


/* Pushes what the value of an option must be. */
static const char *only_pushmust (lua_State *L, const OnlyOption *o) {
  int i;
  switch (o->kind) {
    case ONLY_FLAG: return lua_pushliteral(L, "true or false");
    case ONLY_INTEGER:
      return lua_pushfstring(L, "an integer from %I to %I",
                             (LUAI_UACINT)o->least, (LUAI_UACINT)o->most);
    case ONLY_TEXTS:
      return lua_pushliteral(L, "a list of strings (Lua patterns, between "
                                "slashes, are not in this build)");
    case ONLY_MEMORY: return lua_pushliteral(L, "true, false or \"live\"");
    case ONLY_PATH: return lua_pushliteral(L, "a path");
    case ONLY_SLOW:
      return lua_pushliteral(L, "a table { budget_ms = a number above 0, "
                                "keep = an integer of at least 1 }");
    default:
      lua_pushfstring(L, "one of \"%s\"", o->words[0]);
      for (i = 1; o->words[i] != NULL; i++)
        lua_pushfstring(L, "%s, \"%s\"", lua_tostring(L, -1), o->words[i]);
      return lua_tostring(L, -1);
  }
}


/* Raises an error unless the option, whose value is on top, is valid. */
static void only_check (lua_State *L, const OnlyOption *o) {
  const char *got;
  if (o->kind == ONLY_ABSENT)
    luaL_error(L, "start: option '%s' " ONLY_HINT, o->name);
  if (only_isvalid(L, o)) return;
  if (lua_type(L, -1) == LUA_TSTRING)
    lua_pushfstring(L, "\"%s\"", lua_tostring(L, -1));
  else if (lua_type(L, -1) == LUA_TNUMBER)
    lua_pushfstring(L, "%s (a number)", lua_tostring(L, -1));
  else lua_pushfstring(L, "a %s", luaL_typename(L, -1));
  got = lua_tostring(L, -1);
  luaL_error(L, "start: option '%s' must be %s, got %s", o->name,
             only_pushmust(L, o), got);
}


/* Raises an error for an option that the mode cannot have. */
static void only_checkmode (lua_State *L, const OnlyOption *o, int mode) {
  const char *const *modes = only_options[0].words;
  int i, n = 0;
  if (o->modes == 0 || (o->modes & ONLY_MODE(mode)) != 0) return;
  lua_pushliteral(L, "");
  for (i = 0; i < ONLY_WORDS; i++)
    if ((o->modes & ONLY_MODE(i)) != 0)
      lua_pushfstring(L, "%s%s\"%s\"", lua_tostring(L, -1),
                      n++ > 0 ? " or " : "", modes[i]);
  luaL_error(L, "start: option '%s' needs mode = %s", o->name,
             lua_tostring(L, -1));
}

/* }====================================================== */


/* {======================================================
** Options, as the core wants them
** ======================================================= */

/* the first interval of samples of allocations, as in start.lua */
#define ONLY_FINEST(mode)	((mode) == MODE_SAMPLE ? 4096 : 1)

#define ONLY_GIVEN	1	/* stack index: the options of 'start' */
#define ONLY_CORE	2	/* stack index: those for the core */

/* Pushes an option; 0: it is not given, or false. */
static int only_push (lua_State *L, const char *name) {
  lua_getfield(L, ONLY_GIVEN, name);
  return lua_toboolean(L, -1);
}


static int only_flag (lua_State *L, const char *name, int otherwise) {
  int yes;
  lua_getfield(L, ONLY_GIVEN, name);
  yes = lua_isnil(L, -1) ? otherwise : lua_toboolean(L, -1);
  lua_pop(L, 1);
  return yes;
}


static lua_Integer only_integer (lua_State *L, const char *name,
                                 lua_Integer otherwise) {
  lua_Integer n;
  lua_getfield(L, ONLY_GIVEN, name);
  n = lua_isnil(L, -1) ? otherwise : lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}


/* The number of the word that was given, among those of its option. */
static int only_choice (lua_State *L, const char *name) {
  return (int)ltable_choice(L, ONLY_GIVEN, name, only_find(name)->words);
}


/* Is it the option memory = "live"? */
static int only_islive (lua_State *L) {
  int live;
  only_push(L, "memory");
  live = lua_type(L, -1) == LUA_TSTRING;
  lua_pop(L, 1);
  return live;
}


/*
** Replaces the table at an index by a copy without a metatable, if 'inner' with
** copies of the tables in it: so what was checked is what is used, also later.
*/
static void only_own (lua_State *L, int index, int inner) {
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, index); ) {
    if (inner && lua_istable(L, -1)) only_own(L, lua_gettop(L), 0);
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  lua_replace(L, index);
}


/* Checks what the options must be, each one alone and together. */
static int only_checkall (lua_State *L) {
  int mode;
  for (lua_pushnil(L); lua_next(L, ONLY_GIVEN); lua_pop(L, 1)) {
    const OnlyOption *o = lua_type(L, -2) == LUA_TSTRING
                        ? only_find(lua_tostring(L, -2)) : NULL;
    if (o == NULL)
      luaL_error(L, "start: unknown option %s", luaL_tolstring(L, -2, NULL));
    only_check(L, o);
  }
  mode = only_choice(L, "mode");
  if (mode == MODE_TRACE) luaL_error(L, "start: mode \"trace\" " ONLY_HINT);
  for (lua_pushnil(L); lua_next(L, ONLY_GIVEN); lua_pop(L, 1))
    if (lua_toboolean(L, -1))
      only_checkmode(L, only_find(lua_tostring(L, -2)), mode);
  return mode;
}


/* Checks what some options need. */
static void only_checkneeds (lua_State *L, int mode) {
  int direct = internals_usable();
  if (mode == MODE_COUNT && !direct)
    luaL_error(L, "start: mode \"count\" needs to read Lua's own structures, "
                  "which is not possible here or is switched off by "
                  "CPROF_INTERNALS=0");
  if (mode == MODE_COUNT && only_choice(L, "clock") != 0)
    luaL_error(L, "start: mode \"count\" has no clock; leave out option "
                  "'clock'");
  if (only_choice(L, "clock") != 0 && only_flag(L, "timer", 0))
    luaL_error(L, "start: option 'timer' cannot be combined with "
                  "clock = \"cpu\", which has its own timer");
  if (only_flag(L, "gc", 0) && !collector_usable(L))
    luaL_error(L, "start: option 'gc' cannot be given here: cprof cannot "
                  "control the collector");
  if (only_choice(L, "under") != 0 && !only_flag(L, "tasks", 0))
    luaL_error(L, "start: under = \"creator\" needs tasks = true, which "
                  "records where coroutines are made");
  if (only_integer(L, "memory_interval", 0) != 0 && !only_islive(L) &&
      !(only_flag(L, "memory", 0) && mode == MODE_SAMPLE))
    luaL_error(L, "start: option 'memory_interval' needs memory = \"live\", "
                  "or memory and mode = \"sample\"");
}


/* Pushes the source as people write it, see 'name.place' of the Lua part. */
static void only_pushplace (lua_State *L, const char *source) {
  size_t line = strcspn(source, "\r\n");
  if (*source == '@' || *source == '=') lua_pushstring(L, source + 1);
  else {
    lua_pushlstring(L, source, line);
    lua_pushfstring(L, "[string \"%s\"]", lua_tostring(L, -1));
  }
}


/* source -> does one of the texts in the upvalue match it? */
static int only_lines (lua_State *L) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, lua_upvalueindex(1)), i;
  const char *place;
  int found = 0;
  only_pushplace(L, luaL_checkstring(L, 1));
  place = lua_tostring(L, -1);
  for (i = 1; i <= n && !found; i++) {
    lua_rawgeti(L, lua_upvalueindex(1), i);
    found = strstr(place, lua_tostring(L, -1)) != NULL;
    lua_pop(L, 1);
  }
  lua_pushboolean(L, found);
  return 1;
}


/* Sets the options that the cost of an event depends on. */
static void only_setvariant (lua_State *L, int mode) {
  static const uint32_t foldat[] = {100000, 0xffffffffu, 0};
  int timer = only_choice(L, "timer"), chosen = only_push(L, "timer");
  lua_pop(L, 1);
  ltable_setstring(L, "mode", only_options[0].words[mode]);
  if (only_push(L, "lines")) {
    lua_pushcclosure(L, only_lines, 1);
    lua_setfield(L, ONLY_CORE, "lines_of");
  }
  else lua_pop(L, 1);
  ltable_setflag(L, "cpu", only_choice(L, "clock") == 1);
  ltable_setflag(L, "watched", !chosen || timer != 0);
  ltable_setflag(L, "prompt", !chosen);
  ltable_setflag(L, "counted", timer == 2);
  ltable_setflag(L, "callsites", only_flag(L, "callsites", 0));
  ltable_setflag(L, "distribution", only_flag(L, "distribution", 0));
  ltable_setflag(L, "tasks", only_flag(L, "tasks", 0));
  ltable_setinteger(L, "fold_at", foldat[only_choice(L, "recursion")]);
  ltable_setflag(L, "compensate", only_flag(L, "compensate", 1));
}


/* Sets which host frames are slow. */
static void only_setslow (lua_State *L) {
  lua_Integer keep = 0;
  if (only_push(L, "slow_frames")) {
    lua_getfield(L, -1, "budget_ms");
    lua_setfield(L, ONLY_CORE, "budget_ms");
    keep = ltable_integer(L, -1, "keep");
  }
  lua_pop(L, 1);
  ltable_setinteger(L, "keep", keep > 0 ? keep : 32);
}


/* The sum of the texts of a list, quoted, replaces the list on top. */
static void only_quote (lua_State *L) {
  int list = lua_gettop(L);
  lua_Integer n = (lua_Integer)lua_rawlen(L, list), i;
  lua_pushliteral(L, "");
  for (i = 1; i <= n; i++) {
    lua_rawgeti(L, list, i);
    lua_pushfstring(L, "%s%s\"%s\"", lua_tostring(L, -2), i > 1 ? ", " : "",
                    lua_tostring(L, -1));
    lua_replace(L, list + 1);
    lua_settop(L, list + 1);
  }
  lua_replace(L, list);
}


/* Adds the options that figures depend on to the table on top. */
static void only_setshapes (lua_State *L) {
  const OnlyOption *o;
  for (o = only_options; o->name != NULL; o++) {
    const char *text;
    if (o->shape == NULL) continue;
    lua_getfield(L, ONLY_GIVEN, o->name);
    if (lua_istable(L, -1)) only_quote(L);
    text = luaL_tolstring(L, -1, NULL);
    if (!lua_isnil(L, -2) && strcmp(text, o->shape) != 0) {
      lua_pushfstring(L, "option.%s", o->name);
      lua_insert(L, -2);
      lua_settable(L, -4);
      lua_pop(L, 1);
    }
    else lua_pop(L, 2);
  }
}


/* Pushes the command line, which Lua's own interpreter has in 'arg'; or nil. */
static void only_pushprogram (lua_State *L) {
  lua_Integer n, i;
  int arg;
  lua_pushglobaltable(L);
  lua_pushliteral(L, "arg");
  lua_rawget(L, -2);
  lua_replace(L, -2);
  arg = lua_gettop(L);
  if (!lua_istable(L, arg) || lua_rawgeti(L, arg, 0) != LUA_TSTRING) {
    lua_settop(L, arg - 1);
    lua_pushnil(L);
    return;
  }
  n = (lua_Integer)lua_rawlen(L, arg);
  for (i = 1; i <= n; i++) {
    lua_rawgeti(L, arg, i);
    lua_pushfstring(L, "%s %s", lua_tostring(L, -2),
                    lua_isstring(L, -1) ? lua_tostring(L, -1)
                                        : luaL_typename(L, -1));
    lua_replace(L, arg + 1);
    lua_settop(L, arg + 1);
  }
  lua_replace(L, arg);
}


/* Pushes the strings that describe the recording. */
static COLD void only_pushmeta (lua_State *L, lua_Integer rate) {
  char folder[4096];
  size_t length;
  const char *release = release_text(&length);
  lua_newtable(L);
  only_pushprogram(L);
  lua_setfield(L, -2, "program");
  if (platform_cwd(folder, sizeof folder))
    ltable_setstring(L, "folder", folder);
  ltable_setstring(L, "lua_version", LUA_VERSION);
  ltable_setbytes(L, "lua_release", release, length);
  if (rate > 0) {
    lua_pushfstring(L, "%I", (LUAI_UACINT)rate);
    lua_setfield(L, -2, "rate");
  }
  only_setshapes(L);
}


/* Replaces 'what' in the string on top by the one that replaces it. */
static void only_replace (lua_State *L, const char *what, const char *by) {
  luaL_gsub(L, lua_tostring(L, -1), what, by);
  lua_remove(L, -2);
}


/*
** Replaces "%n" in the path on top by a number that no other file has, and
** creates an empty file of this name: other processes may use the same path.
*/
static void only_number (lua_State *L) {
  static unsigned last;
  int at = lua_gettop(L), taken;
  do {
    const char *by, *path;
    lua_settop(L, at);
    by = lua_pushfstring(L, "%d", (int)platform_increment(&last));
    luaL_gsub(L, lua_tostring(L, at), "%n", by);
    by = lua_pushfstring(L, "%d", (int)platform_process());
    path = luaL_gsub(L, lua_tostring(L, at + 2), "%p", by);
    taken = files_claim(path) == EEXIST;
  } while (taken);
  lua_settop(L, at + 2);
  lua_replace(L, at);
  lua_settop(L, at);
}


/*
** Pushes the path of the file, with "%t" and "%n" replaced: by the time in UTC,
** and by a number. "%p" stays.
*/
static void only_pushfile (lua_State *L, const char *path) {
  char text[32];
  time_t now = time(NULL);
  const struct tm *utc = gmtime(&now);
  lua_pushstring(L, path);
  if (utc != NULL && strstr(path, "%t") != NULL &&
      strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", utc) > 0)
    only_replace(L, "%t", text);
  if (strstr(path, "%n") != NULL) only_number(L);
}


static int only_isabsolute (const char *path) {
  return path[0] == '/' || (!PLATFORM_SIGNALS && (path[0] == '\\' ||
         (isalpha((unsigned char)path[0]) && path[1] == ':')));
}


/* Sets the file, and what is written to it first. */
static void only_setfile (lua_State *L) {
  char folder[4096];
  const char *path;
  if (!only_push(L, "file")) {
    lua_pop(L, 1);
    return;
  }
  if (control_active(lstate_recorder(L), L))  /* before a file is created */
    luaL_error(L, "start: already running");
  only_pushfile(L, lua_tostring(L, -1));
  path = lua_tostring(L, -1);
  if (!only_isabsolute(path) && platform_cwd(folder, sizeof folder))
    lua_pushfstring(L, "%s/%s", folder, path);
  else lua_pushvalue(L, -1);
  lua_setfield(L, ONLY_CORE, "whole");
  lua_setfield(L, ONLY_CORE, "file");
  lua_pop(L, 1);
  lpaths_push(L, NULL, 0);
  lua_setfield(L, ONLY_CORE, "paths");
}


/* options or nil -> those for the core; raises an error if one is wrong */
COLD int onlyoptions_read (lua_State *L) {
  lua_Integer rate, interval;
  int mode;
  lua_settop(L, 1);
  if (lua_isnil(L, 1)) {
    lua_newtable(L);
    lua_replace(L, 1);
  }
  if (!lua_istable(L, 1))
    luaL_error(L, "start: options must be a table, got a %s",
               luaL_typename(L, 1));
  only_own(L, 1, 1);
  mode = only_checkall(L);
  only_checkneeds(L, mode);
  rate = mode == MODE_SAMPLE ? only_integer(L, "rate", 1000) : 0;
  interval = only_integer(L, "memory_interval", ONLY_FINEST(mode));
  lua_newtable(L);
  only_setvariant(L, mode);
  only_setslow(L);
  ltable_setinteger(L, "history", 128);
  ltable_setstring(L, "internal", "");
  ltable_setflag(L, "exclude_c", !only_flag(L, "c_functions", 1));
  ltable_setflag(L, "memory", only_flag(L, "memory", 0));
  ltable_setinteger(L, "live", only_islive(L) ? interval : 0);
  ltable_setinteger(L, "memory_interval", interval);
  ltable_setflag(L, "adapts", only_integer(L, "memory_interval", 0) == 0);
  ltable_setflag(L, "gc", only_flag(L, "gc", 0));
  ltable_setflag(L, "creator", only_choice(L, "under") == 1);
  ltable_setinteger(L, "max_nodes", only_integer(L, "max_nodes", 1000000));
  ltable_setinteger(L, "rate", rate);
  only_pushmeta(L, rate);
  lua_setfield(L, ONLY_CORE, "meta");
  only_setfile(L);
  return 1;
}

/* }====================================================== */

#endif

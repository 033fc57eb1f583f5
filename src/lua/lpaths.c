/*
** See lpaths.h
*/

#include "lua/lpaths.h"

#include <ctype.h>
#include <string.h>

#if !CPROF_WHOLE


/* {======================================================
** The best path of each function
** ======================================================= */

static int path_isword (char c) {
  return isalnum((unsigned char)c) || c == '_';
}


static int path_hasmetamethod (const char *path) {
  const char *p = path;
  while ((p = strstr(p, "__")) != NULL) {
    if (p == path || !path_isword(p[-1])) return 1;
    while (*p == '_') p++;
  }
  return 0;
}


static int path_isstandard (const char *path, size_t module) {
  static const char *const libraries[] = {
    "coroutine", "debug", "io", "math", "os", "package", "string", "table",
    "utf8", NULL
  };
  int i;
  for (i = 0; libraries[i] != NULL; i++)
    if (strlen(libraries[i]) == module &&
        memcmp(libraries[i], path, module) == 0)
      return 1;
  return 0;
}


/* The lowest rank is best, see source/paths.lua. */
static int path_rank (const char *path) {
  size_t module = strcspn(path, ".:");
  if (path_hasmetamethod(path)) return 3;
  if (path[module] == '\0') return 1;
  return path_isstandard(path, module) ? 0 : 2;
}


static int path_isbetter (const char *path, const char *old) {
  int a, b;
  if (old == NULL) return 1;
  a = path_rank(path);
  b = path_rank(old);
  if (a != b) return a < b;
  if (strlen(path) != strlen(old)) return strlen(path) < strlen(old);
  return strcmp(path, old) < 0;
}

/* }====================================================== */


/* {======================================================
** Tables in which functions are found
** ======================================================= */

#define PATHS_FOUND	1	/* stack index: { [function] = path } */
#define PATHS_LOADED	2	/* stack index: package.loaded */

/* Notes that the function on top is found at this path, if that is best. */
static void paths_add (lua_State *L, const char *path) {
  lua_pushvalue(L, -1);
  lua_rawget(L, PATHS_FOUND);
  if (path_isbetter(path, lua_tostring(L, -1))) {
    lua_pushvalue(L, -2);
    lua_pushstring(L, path);
    lua_rawset(L, PATHS_FOUND);
  }
  lua_pop(L, 1);
}


/* Adds the functions in the table on top, and in its tables, to this depth. */
static void paths_collect (lua_State *L, const char *prefix, int depth) {
  int t = lua_gettop(L);
  luaL_checkstack(L, 8, NULL);
  for (lua_pushnil(L); lua_next(L, t); lua_settop(L, t + 1)) {
    const char *key;
    if (lua_type(L, t + 1) != LUA_TSTRING) continue;
    key = lua_tostring(L, t + 1);
    if (lua_isfunction(L, t + 2)) {
      const char *path = lua_pushfstring(L, "%s%s", prefix, key);
      lua_pushvalue(L, t + 2);
      paths_add(L, path);
    }
    else if (lua_istable(L, t + 2) && depth > 1 &&
             !lua_rawequal(L, t + 2, PATHS_LOADED)) {
      const char *path = lua_pushfstring(L, "%s%s.", prefix, key);
      lua_pushvalue(L, t + 2);
      paths_collect(L, path, depth - 1);
    }
  }
}


/* Adds what modules have, and what takes the place of a module. */
static void paths_modules (lua_State *L) {
  lua_pushglobaltable(L);
  paths_collect(L, "", 2);
  lua_pop(L, 1);
  for (lua_pushnil(L); lua_next(L, PATHS_LOADED);
       lua_settop(L, PATHS_LOADED + 1)) {
    const char *name;
    if (lua_type(L, -2) != LUA_TSTRING) continue;
    name = lua_tostring(L, -2);
    if (lua_isfunction(L, -1)) paths_add(L, name);
    else if (lua_istable(L, -1) && strcmp(name, LUA_GNAME) != 0) {
      const char *prefix = lua_pushfstring(L, "%s.", name);
      lua_insert(L, -2);
      paths_collect(L, prefix, 2);
    }
  }
}


/*
** Pushes what users call the objects that have a metatable of this name, and a
** colon: "file:" for "FILE*".
*/
static const char *paths_pushreceiver (lua_State *L, const char *name) {
  static const char word[] = " metatable";
  size_t length = strcspn(name, "{*"), i;
  int lower = 0;
  char *to = cast(char *, lua_newuserdatauv(L, length + 1, 0));
  memcpy(to, name, length);
  while (length > 0 && to[length - 1] == ' ') length--;
  if (length >= sizeof word && memcmp(to + length - (sizeof word - 1), word,
                                      sizeof word - 1) == 0)
    length -= sizeof word - 1;
  for (i = 0; i < length; i++) lower |= islower((unsigned char)to[i]);
  for (i = 0; i < length && !lower; i++)
    to[i] = (char)tolower((unsigned char)to[i]);
  to[length] = '\0';
  lua_pushfstring(L, "%s:", to);
  lua_remove(L, -2);
  return lua_tostring(L, -1);
}


/* Adds methods and metamethods of the objects of C libraries. */
static void paths_methods (lua_State *L) {
  int top = lua_gettop(L);
  lua_pushvalue(L, LUA_REGISTRYINDEX);
  for (lua_pushnil(L); lua_next(L, top + 1); lua_settop(L, top + 2)) {
    const char *prefix;
    int isname;
    if (lua_type(L, top + 2) != LUA_TSTRING || !lua_istable(L, top + 3))
      continue;
    lua_pushliteral(L, "__name");
    lua_rawget(L, top + 3);
    isname = lua_rawequal(L, -1, top + 2);
    if (!isname) continue;
    prefix = paths_pushreceiver(L, lua_tostring(L, top + 2));
    lua_pushliteral(L, "__index");
    lua_rawget(L, top + 3);
    if (lua_istable(L, -1)) paths_collect(L, prefix, 1);
    lua_pushvalue(L, top + 3);
    paths_collect(L, prefix, 1);
  }
  lua_settop(L, top);
}

/* }====================================================== */


/* {======================================================
** All of them, in one string
** ======================================================= */

/* what comes before the two strings of a path, see 'lfile_paths' */
typedef struct PathHead {
  int64_t key;
  int32_t line, last;
} PathHead;


/* { [head and source] = true } of the paths in a string, or nothing */
static void paths_pushset (lua_State *L, const char *at, size_t size) {
  const char *end = at + size;
  lua_newtable(L);
  while (at != NULL && at < end) {
    size_t length = sizeof(PathHead) + strlen(at + sizeof(PathHead)) + 1;
    lua_pushlstring(L, at, length);
    lua_pushboolean(L, 1);
    lua_rawset(L, -3);
    at += length + strlen(at + length) + 1;
  }
}


/* Pushes head and source of the function on top. */
static void paths_pushhead (lua_State *L) {
  lua_CFunction f = lua_tocfunction(L, -1);
  lua_Debug ar;
  PathHead h;
  char *to;
  size_t length;
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &ar);
  h.key = (int64_t)(uintptr_t)f;
  h.line = ar.linedefined;
  h.last = ar.lastlinedefined;
  length = f != NULL ? 0 : strlen(ar.source);
  to = cast(char *, lua_newuserdatauv(L, sizeof h + length + 1, 0));
  memcpy(to, &h, sizeof h);
  memcpy(to + sizeof h, ar.source, length);
  to[sizeof h + length] = '\0';
  lua_pushlstring(L, to, sizeof h + length + 1);
  lua_remove(L, -2);
}


/*
** Makes a list of heads and paths, two items for each function that is not in
** the set on top. Returns the bytes that it takes.
*/
static size_t paths_list (lua_State *L) {
  int set = lua_gettop(L), list = set + 1;
  size_t size = 0;
  lua_Integer n = 0;
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, PATHS_FOUND); lua_settop(L, list + 1)) {
    lua_pushvalue(L, list + 1);
    paths_pushhead(L);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, set) != LUA_TNIL) continue;
    lua_pop(L, 1);
    size += lua_rawlen(L, -1) + strlen(lua_tostring(L, list + 2)) + 1;
    lua_rawseti(L, list, ++n);
    lua_pushvalue(L, list + 2);
    lua_rawseti(L, list, ++n);
  }
  return size;
}


/* Pushes the items of the list on top, in one string of this size. */
static void paths_join (lua_State *L, size_t size) {
  int list = lua_gettop(L);
  char *to = cast(char *, lua_newuserdatauv(L, size + 1, 0));
  lua_Integer n = (lua_Integer)lua_rawlen(L, list), i;
  size_t at = 0;
  for (i = 1; i <= n; i++) {
    size_t length;
    const char *s;
    lua_rawgeti(L, list, i);
    s = lua_tolstring(L, -1, &length);
    if (i % 2 == 0) length = strlen(s) + 1;
    memcpy(to + at, s, length);
    at += length;
    lua_pop(L, 1);
  }
  lua_pushlstring(L, to, size);
}


/* except or nil, as light userdata, its size -> paths */
static COLD int paths_all (lua_State *L) {
  const char *except = cast(const char *, lua_touserdata(L, 1));
  size_t size = (size_t)lua_tointeger(L, 2);
  lua_settop(L, 0);
  lua_newtable(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  paths_modules(L);
  lua_settop(L, PATHS_LOADED);
  paths_methods(L);
  paths_pushset(L, except, size);
  paths_join(L, paths_list(L));
  return 1;
}


void lpaths_push (lua_State *L, const char *except, size_t size) {
  lua_pushcfunction(L, paths_all);
  lua_pushlightuserdata(L, (void *)except);
  lua_pushinteger(L, (lua_Integer)size);
  lua_call(L, 2, 1);
}

/* }====================================================== */

#endif

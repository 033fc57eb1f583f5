/*
** See lfile.h
*/

#include "lfile.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "cprof.h"
#include "keep.h"
#include "lown.h"
#include "lprofile.h"
#include "reader.h"
#include "restore.h"


#define LOADED	"cprof.loaded"

/* address: in the registry, the function that names functions */
static const char NAMING = 0;


/* {======================================================
** Recording into a file
** ======================================================= */

/* "%p" is the number of the process, as in no other name */
static const char *file_path (lua_State *L, const char *path) {
  char pid[32];
  snprintf(pid, sizeof pid, "%ld", platform_process());
  return luaL_gsub(L, path, "%p", pid);
}


int lfile_create (lua_State *L, int arg, Recording *r, Options *o) {
  char why[FILE_MESSAGE];
  lua_getfield(L, arg, "file");
  if (!lua_isnil(L, -1)) {
    keep_finish(r, L);  /* it may be the same file */
    o->file = file_create(file_path(L, luaL_checkstring(L, -1)),
                          o->max_nodes, keep_tell, r->hot, why);
    if (o->file == NULL) {
      lua_pushstring(L, why);
      return 0;
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return 1;
}


int lfile_meta (lua_State *L, Journal *j) {
  int ok = 1;
  lua_pushnil(L);
  while (lua_next(L, -2)) {
    size_t length;
    if (lua_type(L, -2) == LUA_TSTRING && lua_type(L, -1) == LUA_TSTRING) {
      const char *value = lua_tolstring(L, -1, &length);
      ok = ok && journal_meta(j, lua_tostring(L, -2), value, length);
    }
    lua_pop(L, 1);
  }
  return ok;
}


/* the table on top: { key of a C function or 0, source, line, last, path } */
static int begin_paths (lua_State *L, Journal *j) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, -1), i;
  int ok = 1, k;
  for (i = 1; ok && i + 4 <= n; i += 5) {
    for (k = 0; k < 5; k++) lua_rawgeti(L, -1 - k, i + k);
    ok = journal_path(j, (uint64_t)lua_tointeger(L, -5),
                      lua_tostring(L, -4), (int)lua_tointeger(L, -3),
                      (int)lua_tointeger(L, -2), lua_tostring(L, -1));
    lua_pop(L, 5);
  }
  return ok;
}


void lfile_begin (lua_State *L, int arg, Recording *r) {
  int ok;
  if (r->file == NULL) return;
  lua_getfield(L, arg, "meta");
  lua_getfield(L, arg, "paths");
  ok = begin_paths(L, &r->journal);
  lua_pop(L, 1);
  ok = lfile_meta(L, &r->journal) && ok;
  lua_pop(L, 1);
  ok = journal_meta(&r->journal, "cprof_version", CPROF_VERSION,
                    sizeof CPROF_VERSION - 1) && ok;
  if (!ok) recording_end(r, "out of memory");
  else recording_owntime(r);
}


/* Recording: asks for { key, name, title, ... } and writes them down */
static int naming_ask (lua_State *L) {
  Recording *r = cast(Recording *, lua_touserdata(L, 1));
  lua_Integer n, i;
  int ok = 1, k;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &NAMING);
  lua_call(L, 0, 1);
  n = (lua_Integer)lua_rawlen(L, -1);
  for (i = 1; ok && i + 2 <= n; i += 3) {
    size_t length, titlelength;
    const char *name, *title;
    for (k = 0; k < 3; k++) lua_rawgeti(L, -1 - k, i + k);
    name = luaL_checklstring(L, -2, &length);
    title = luaL_checklstring(L, -1, &titlelength);
    ok = journal_name(&r->journal, (uint32_t)lua_tointeger(L, -3),
                      name, length, title, titlelength);
    lua_pop(L, 3);
  }
  return 0;
}


/* without names the file is still good */
static void lfile_naming (Recording *r, lua_State *L) {
  if (r->named == r->functions.list.count || !lua_checkstack(L, 4)) return;
  r->named = r->functions.list.count;
  lua_pushcfunction(L, naming_ask);
  lua_pushlightuserdata(L, r);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
}


/* function -> : it is asked for names before a file is closed */
static int file_naming (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &NAMING);
  recording_get(L)->naming = lfile_naming;
  return 0;
}


/* { key, name, title, ... }: names as they are at present */
static int file_names (lua_State *L) {
  Recording *r = recording_get(L);
  if (r->file != NULL && r->file->fd >= 0 && r->naming != NULL &&
      !recording_forked(r))
    lfile_naming(r, L);
  return 0;
}

/* }====================================================== */


/* {======================================================
** Loading
** ======================================================= */

static int loaded_gc (lua_State *L) {
  reader_free(cast(Loaded *, luaL_checkudata(L, 1, LOADED)));
  return 0;
}


static void load_pushtext (lua_State *L, const Loaded *l, uint32_t number) {
  size_t length;
  const char *s = reader_text(l, number, &length);
  lua_pushlstring(L, s, length);
}


/* what META records tell, into the table at 'meta' */
static void load_meta (lua_State *L, const Loaded *l, int meta) {
  RecordCursor at = {NULL, NULL};
  const FileRecord *r;
  while ((r = reader_next(l, &at, RECORD_META)) != NULL) {
    const char *s = (const char *)(r + 1);
    MetaRecord m;
    if (r->size < sizeof m) continue;
    memcpy(&m, s, sizeof m);
    if (m.key > r->size - sizeof m) continue;
    s += sizeof m;
    lua_pushlstring(L, s, m.key);
    lua_pushlstring(L, s + m.key, r->size - sizeof m - m.key);
    lua_rawset(L, meta);
  }
}


/* -> { [key] = { name, title } } */
static void load_names (lua_State *L, const Loaded *l) {
  RecordCursor at = {NULL, NULL};
  const FileRecord *r;
  lua_newtable(L);
  while ((r = reader_next(l, &at, RECORD_NAME)) != NULL) {
    NameRecord n;
    if (r->size != sizeof n) continue;
    memcpy(&n, r + 1, sizeof n);
    lua_createtable(L, 2, 0);
    load_pushtext(L, l, n.name);
    lua_rawseti(L, -2, 1);
    load_pushtext(L, l, n.title);
    lua_rawseti(L, -2, 2);
    lua_rawseti(L, -2, n.func);
  }
}


/* -> { key of a C function or 0, source, line, last, path, ... } */
static void load_paths (lua_State *L, const Loaded *l) {
  RecordCursor at = {NULL, NULL};
  const FileRecord *r;
  lua_Integer i = 0;
  lua_newtable(L);
  while ((r = reader_next(l, &at, RECORD_PATH)) != NULL) {
    PathRecord p;
    if (r->size != sizeof p) continue;
    memcpy(&p, r + 1, sizeof p);
    lua_pushinteger(L, (lua_Integer)p.key);
    lua_rawseti(L, -2, ++i);
    load_pushtext(L, l, p.source);
    lua_rawseti(L, -2, ++i);
    lua_pushinteger(L, p.line);
    lua_rawseti(L, -2, ++i);
    lua_pushinteger(L, p.last);
    lua_rawseti(L, -2, ++i);
    load_pushtext(L, l, p.path);
    lua_rawseti(L, -2, ++i);
  }
}


/* the key of the function on top */
static uint32_t load_key (lua_State *L) {
  lua_Integer key;
  lua_getfield(L, -1, "key");
  key = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return (uint32_t)key;
}


/* functions of C with the addresses that paths name them by */
static void load_keys (lua_State *L, const Loaded *l, int functions) {
  const Functions *fs = &l->recording.functions;
  lua_Integer n = (lua_Integer)lua_rawlen(L, functions), i;
  for (i = 1; i <= n; i++) {
    const Function *f;
    lua_rawgeti(L, functions, i);
    f = functions_at(fs, load_key(L));
    if (f->kind == FUNCTION_C) {
      lua_pushinteger(L, (lua_Integer)f->key);
      lua_setfield(L, -2, "address");
    }
    lua_pop(L, 1);
  }
}


/*
** path -> nodes, functions, meta, lines, sources, nil, names, paths; or
** nil and a message
*/
static int file_load (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  Loaded *l = cast(Loaded *, lua_newuserdatauv(L, sizeof *l, 0));
  int nodes;
  memset(l, 0, sizeof *l);
  luaL_setmetatable(L, LOADED);
  if (!reader_open(l, &recording_get(L)->memory, path) || !restore(l)) {
    lua_pushnil(L);
    lua_pushfstring(L, "%s: %s", path, l->why);
    return 2;
  }
  lprofile_push(L, &l->recording);
  nodes = lua_gettop(L) - 5;
  load_keys(L, l, nodes + 1);
  load_meta(L, l, nodes + 2);
  if (l->live) {
    lua_pushboolean(L, 1);
    lua_setfield(L, nodes + 2, "live");
  }
  load_names(L, l);
  load_paths(L, l);
  reader_free(l);
  return 8;
}

/* }====================================================== */


static const luaL_Reg file_functions[] = {
  {"naming", file_naming},
  {"names", file_names},
  {"load", file_load},
  {NULL, NULL}
};


void lfile_open (lua_State *L) {
  luaL_newmetatable(L, LOADED);
  lua_pushcfunction(L, loaded_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  luaL_setfuncs(L, file_functions, 0);
}


int lfile_own (lua_CFunction f) {
  return lown_has(file_functions, f);
}

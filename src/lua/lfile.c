/*
** See lfile.h
*/

#include "lua/lfile.h"

#include <string.h>

#include "base/savedhook.h"
#include "cprof.h"
#include "file/reader.h"
#include "file/format.h"
#include "lua/entry.h"
#include "lua/lmemory.h"
#include "lua/lprofile.h"
#include "lua/lstate.h"
#include "lua/ltable.h"
#include "lua/parts.h"
#include "lua/texts.h"
#include "record/control.h"
#include "system/system.h"


/* addresses: keys in the registry, of what the Lua part has set */
static const char NAMING = 0;	/* a function that returns names of functions */
static const char META = 0;	/* a table of strings about the program */


/* {======================================================
** Recording into a file
** ======================================================= */

typedef struct Asking {
  Journal *journal;
  int ok;
} Asking;


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


int lfile_paths (Journal *j, const char *at, size_t size) {
  const char *end = at + size;
  int ok = 1;
  while (ok && at < end) {
    int64_t key;
    int32_t line[2];
    const char *source = at + sizeof key + sizeof line, *path;
    memcpy(&key, at, sizeof key);
    memcpy(line, at + sizeof key, sizeof line);
    path = source + strlen(source) + 1;
    ok = journal_path(j, (uint64_t)key, source, line[0], line[1], path);
    at = path + strlen(path) + 1;
  }
  return ok;
}


/* Asking -> : writes what is known of the program at the start */
static int describe_all (lua_State *L) {
  Asking *a = cast(Asking *, lua_touserdata(L, 1));
  const char *paths;
  size_t size;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &META) == LUA_TTABLE)
    a->ok = lfile_meta(L, a->journal);
  paths = texts_get(L, TEXTS_PATHS, &size);
  if (paths != NULL)
    a->ok = lfile_paths(a->journal, paths, size) && a->ok;
  a->ok = journal_meta(a->journal, "cprof_version", CPROF_VERSION,
                       sizeof CPROF_VERSION - 1) && a->ok;
  return 0;
}


/*
** Asking -> : calls NAMING, and writes its results: { key, name, title, ... },
** a table of strings that are known only at the end, and paths as the option
** 'paths' has them, or nil
*/
static int name_all (lua_State *L) {
  Asking *a = cast(Asking *, lua_touserdata(L, 1));
  const char *paths;
  size_t size;
  lua_Integer n, i;
  int k;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &NAMING);
  lua_call(L, 0, 3);
  paths = lua_tolstring(L, -1, &size);
  if (paths != NULL) a->ok = lfile_paths(a->journal, paths, size);
  lua_pop(L, 1);
  if (lua_istable(L, -1)) a->ok = lfile_meta(L, a->journal) && a->ok;
  lua_pop(L, 1);
  luaL_checktype(L, -1, LUA_TTABLE);
  n = (lua_Integer)lua_rawlen(L, -1);
  for (i = 1; a->ok && i + 2 <= n; i += 3) {
    size_t length, titlelength;
    const char *name, *title;
    for (k = 0; k < 3; k++) lua_rawgeti(L, -1 - k, i + k);
    name = luaL_checklstring(L, -2, &length);
    title = luaL_checklstring(L, -1, &titlelength);
    a->ok = journal_name(a->journal, (uint32_t)lua_tointeger(L, -3),
                         name, length, title, titlelength);
    lua_pop(L, 3);
  }
  return 0;
}


/*
** See LiveFileAsk. Errors are ignored: the file is still good without the
** answer. A finalizer that runs meanwhile must not end the recording, so this
** counts as a callback: Lua 5.5 may collect for each long string that a library
** makes, even while collections are held off.
*/
static int file_ask (lua_State *L, Journal *j, Recorder *r) {
  Callback before = r != NULL ? r->callback : CALLBACK_NONE;
  SavedHook own;
  Asking a;
  if (!lua_checkstack(L, 4)) return 1;
  a.journal = j;
  a.ok = 1;
  lua_pushcfunction(L, r == NULL ? describe_all : name_all);
  lua_pushlightuserdata(L, &a);
  savedhook_take(&own, L);
  if (r != NULL) r->callback = CALLBACK_NAMES;
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) lua_pop(L, 1);
  if (r != NULL) r->callback = before;
  entry_puthook(&own, L);
  return a.ok;
}


static void file_keep (lua_State *L, int arg) {
  const char *paths;
  size_t size;
  lua_getfield(L, arg, "meta");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &META);
  lua_getfield(L, arg, "paths");
  paths = lua_tolstring(L, -1, &size);
  texts_set(L, TEXTS_PATHS, paths != NULL ? paths : "",
            paths != NULL ? size : 0);
  lua_pop(L, 1);
  lua_pushnil(L);  /* the options are kept, where this would cost memory */
  lua_setfield(L, arg, "paths");
}


Store *lfile_create (lua_State *L, int arg, Recorder *r,
                     uint32_t max_nodes, const Overhead *o) {
  const char *path;
  char why[MAPPED_MESSAGE];
  Store *s;
  lua_getfield(L, arg, "file");
  if (lua_isnil(L, -1)) return NULL;
  path = luaL_checkstring(L, -1);
  lua_getfield(L, arg, "whole");
  if (r->store != NULL)  /* it may be the same file */
    r->store->finish(r->store, r, L);
  file_keep(L, arg);
  s = livefile_create(r, path, luaL_optstring(L, -1, path), max_nodes, o,
                      file_ask, why);
  if (s == NULL) lua_pushstring(L, why);
  return s;
}


/* function -> : keeps it as NAMING, called before a file is closed */
static int lfile_naming (lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &NAMING);
  return 0;
}


static int lfile_writenames (lua_State *L) {
  Recorder *r = lstate_recorder(L);
  if (control_active(r, L)) livefile_names(r->store, r, L);
  return 0;
}


/* -> : writes the names that are known now, while recording */
static int lfile_names (lua_State *L) {
  return lstate_nogc(L, lfile_writenames, 0);
}

/* }====================================================== */


#if CPROF_WHOLE

/* {======================================================
** Loading
** ======================================================= */

#define LOADED	"cprof.loaded"

static int loaded_gc (lua_State *L) {
  reader_free(cast(Loaded *, luaL_checkudata(L, 1, LOADED)));
  return 0;
}


static void load_pushtext (lua_State *L, const Loaded *l, uint32_t number) {
  size_t length;
  const char *s = reader_text(l, number, &length);
  lua_pushlstring(L, s, length);
}


/* Pushes the META records as a table. */
static void load_strings (lua_State *L, const Loaded *l) {
  RecordCursor at = {NULL, NULL};
  const FileRecord *r;
  lua_newtable(L);
  while ((r = reader_next(l, &at, RECORD_META)) != NULL) {
    const char *s = record_data(r);
    MetaRecord m;
    if (r->size < sizeof m) continue;
    memcpy(&m, s, sizeof m);
    if (m.key > r->size - sizeof m) continue;
    s += sizeof m;
    lua_pushlstring(L, s, m.key);
    lua_pushlstring(L, s + m.key, r->size - sizeof m - m.key);
    lua_rawset(L, -3);
  }
}


static void load_meta (lua_State *L, const Loaded *l, int meta) {
  lua_pushvalue(L, meta);
  load_strings(L, l);  /* in a table of its own: the file chooses the keys */
  lua_setfield(L, -2, "strings");
  if (l->overhead.nodes != NULL) ltable_setinteger(L, "clamped_ns", l->clamped);
  if (!l->counted) {
    lua_pushnil(L);
    lua_setfield(L, -2, "events");
  }
  if (l->live) ltable_setflag(L, "live", 1);
  if (l->live || l->since > 0)
    ltable_setinteger(L, "since_last_event_ns", (lua_Integer)
      clock_ns(l->recording.clock.scale, l->since));
  if (l->divided)
    ltable_setinteger(L, "since_last_event_waiting_ns", (lua_Integer)
      clock_ns(l->recording.clock.scale, l->waited));
  lua_pop(L, 1);
}


/* -> { [key] = { name, title } } */
static void load_names (lua_State *L, const Loaded *l) {
  RecordCursor at = {NULL, NULL};
  const FileRecord *r;
  lua_newtable(L);
  while ((r = reader_next(l, &at, RECORD_NAME)) != NULL) {
    NameRecord n;
    if (r->size != sizeof n) continue;
    memcpy(&n, record_data(r), sizeof n);
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
    memcpy(&p, record_data(r), sizeof p);
    ltable_put(L, &i, (lua_Integer)p.key);
    load_pushtext(L, l, p.source);
    lua_rawseti(L, -2, ++i);
    ltable_put(L, &i, p.line);
    ltable_put(L, &i, p.last);
    load_pushtext(L, l, p.path);
    lua_rawseti(L, -2, ++i);
  }
}


/* Sets the addresses of C functions, which are their keys in 'paths'. */
static void load_addresses (lua_State *L, const Loaded *l, int functions) {
  const Functions *fs = &l->recording.functions;
  lua_Integer n = (lua_Integer)lua_rawlen(L, functions), i;
  for (i = 1; i <= n; i++) {
    const Function *f;
    lua_rawgeti(L, functions, i);
    lua_getfield(L, -1, "key");
    f = functions_at(fs, (uint32_t)lua_tointeger(L, -1));
    lua_pop(L, 1);
    if (f->kind == FUNCTION_C)
      ltable_setinteger(L, "address", (lua_Integer)f->key);
    lua_pop(L, 1);
  }
}


/* Loaded -> see lfile_load */
static int load_push (lua_State *L) {
  Loaded *l = cast(Loaded *, lua_touserdata(L, 1));
  int nodes;
  lprofile_push(L, &l->recording, &l->overhead, NULL);
  nodes = lua_gettop(L) - 8;
  load_addresses(L, l, nodes + 1);
  load_meta(L, l, nodes + 2);
  load_names(L, l);
  load_paths(L, l);
  reader_free(l);
  return 11;
}


/*
** path -> nodes, functions, meta, lines, sources, nil, axis, tasks,
** frames, names, paths; or nil and a message
*/
static int lfile_load (lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  const Recorder *r = recorder_get(L);
  Loaded *l = lmemory_new(L, Loaded);
  luaL_setmetatable(L, LOADED);
  if (r == NULL) return system_fail(L, RECORDER_CLOSED);
  if (!reader_open(l, &r->recording.memory, path) || !restore(l))
    return system_fail(L, lua_pushfstring(L, "%s: %s", path, l->why));
  return lstate_nogc(L, load_push, 1);
}

/* }====================================================== */


/* text, position or nil -> checksum of the text from there on */
static int lfile_checksum (lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  lua_Integer from = luaL_optinteger(L, 2, 1);
  luaL_argcheck(L, from >= 1 && from <= (lua_Integer)size + 1, 2,
                "no position");
  text += from - 1;
  lua_pushinteger(L, (lua_Integer)checksum_bytes(text,
                                                 size - (size_t)from + 1));
  return 1;
}


/* path, why -> boolean: was the end noted in the unfinished file? */
static int lfile_until (lua_State *L) {
  lua_pushboolean(L, until_now(luaL_checkstring(L, 1),
                               luaL_checkstring(L, 2)));
  return 1;
}


#endif


static const luaL_Reg lfile_list[] = {
  {"naming", lfile_naming},
  {"names", lfile_names},
#if CPROF_WHOLE
  {"load", lfile_load},
  {"checksum", lfile_checksum},
  {"until_now", lfile_until},
#endif
  {NULL, NULL}
};


void lfile_open (lua_State *L) {
#if CPROF_WHOLE
  system_class(L, LOADED, loaded_gc);
#endif
  luaL_setfuncs(L, lfile_list, 0);
}

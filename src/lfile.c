/*
** See lfile.h
*/

#include "lfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "cprof.h"
#include "keep.h"
#include "lprofile.h"
#include "reader.h"


#define LOADED	"cprof.loaded"
#define SAVED	"cprof.saved"

/* address: in the registry, the function that names functions */
static const char NAMING = 0;


/* nil and a message */
static int lfile_fail (lua_State *L, const char *message) {
  lua_pushnil(L);
  lua_pushstring(L, message);
  return 2;
}


static lua_Integer field_integer (lua_State *L, int arg, const char *name) {
  lua_Integer n;
  lua_getfield(L, arg, name);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}


static int field_flag (lua_State *L, int arg, const char *name) {
  int yes;
  lua_getfield(L, arg, name);
  yes = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return yes;
}


/* the text of a field; TEXT_FAILED: out of memory */
static uint32_t field_text (lua_State *L, int arg, const char *name,
                            Text *t) {
  size_t length;
  const char *s;
  uint32_t text;
  lua_getfield(L, arg, name);
  s = lua_tolstring(L, -1, &length);
  text = s ? text_add(t, s, length) : 0;
  lua_pop(L, 1);
  return text;
}


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


/* strings of the table on top; others are left out */
static int begin_meta (lua_State *L, Journal *j) {
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
  ok = begin_meta(L, &r->journal) && ok;
  lua_pop(L, 1);
  ok = journal_meta(&r->journal, "cprof_version", CPROF_VERSION,
                    sizeof CPROF_VERSION - 1) && ok;
  if (!ok) recording_end(r, "out of memory");
  else recording_owntime(r);
}


/* Recording: asks for { key, name, title, ... } and writes them down */
static int naming_ask (lua_State *L) {
  Recording *r = lua_touserdata(L, 1);
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
static void naming (Recording *r, lua_State *L) {
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
  recording_get(L)->naming = naming;
  return 0;
}


/* { key, name, title, ... }: names as they are at present */
static int file_names (lua_State *L) {
  Recording *r = recording_get(L);
  if (r->file != NULL && r->file->fd >= 0 && r->naming != NULL &&
      !recording_forked(r))
    naming(r, L);
  return 0;
}

/* }====================================================== */


/* {======================================================
** Loading
** ======================================================= */

static int loaded_gc (lua_State *L) {
  reader_free(luaL_checkudata(L, 1, LOADED));
  return 0;
}


static void load_pushtext (lua_State *L, const Loaded *l, uint32_t number) {
  size_t length;
  const char *s = reader_text(l, number, &length);
  lua_pushlstring(L, s, length);
}


/* what META records tell, into the table at 'meta' */
static void load_meta (lua_State *L, const Loaded *l, int meta) {
  const Record *r = NULL;
  while ((r = reader_next(l, r, RECORD_META)) != NULL) {
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
  const Record *r = NULL;
  lua_newtable(L);
  while ((r = reader_next(l, r, RECORD_NAME)) != NULL) {
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
  const Record *r = NULL;
  lua_Integer i = 0;
  lua_newtable(L);
  while ((r = reader_next(l, r, RECORD_PATH)) != NULL) {
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


/* functions of C with the addresses that paths name them by */
static void load_keys (lua_State *L, const Loaded *l, int functions) {
  const Functions *fs = &l->recording.functions;
  lua_Integer n = (lua_Integer)lua_rawlen(L, functions), i;
  for (i = 1; i <= n; i++) {
    const Function *f;
    lua_rawgeti(L, functions, i);
    f = functions_at(fs, (uint32_t)field_integer(L, -1, "key"));
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
  Loaded *l = lua_newuserdatauv(L, sizeof *l, 0);
  int nodes;
  memset(l, 0, sizeof *l);
  luaL_setmetatable(L, LOADED);
  if (!reader_open(l, &recording_get(L)->memory, path)) {
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


/* {======================================================
** Saving: the profile as a recording, that as a file
** ======================================================= */

static int saved_gc (lua_State *L) {
  Recording *r = luaL_checkudata(L, 1, SAVED);
  if (r->memory.alloc != NULL) recording_free(r);
  return 0;
}


static void save_tell (void *ud) {
  (void)ud;
}


static uint8_t save_kind (lua_State *L) {
  static const char *const names[] = {"root", "main", "Lua", "C", "zone"};
  static const uint8_t kinds[] = {
    FUNCTION_ROOT, FUNCTION_MAIN, FUNCTION_LUA, FUNCTION_C, FUNCTION_ZONE
  };
  const char *kind;
  int i = 0;
  lua_getfield(L, -1, "kind");
  kind = luaL_checkstring(L, -1);
  while (i < 4 && strcmp(kind, names[i]) != 0) i++;
  lua_pop(L, 1);
  return kinds[i];
}


/* the functions at 'arg'; 0: out of memory */
static int save_functions (lua_State *L, int arg, Recording *r) {
  Functions *fs = &r->functions;
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i;
  int ok = 1;
  for (i = 1; ok && i <= n; i++) {
    Function *f = chunks_add(&fs->list);
    if (f == NULL) return 0;
    lua_rawgeti(L, arg, i);
    f->id = (uint32_t)i - 1;
    f->kind = save_kind(L);
    f->source = f->kind == FUNCTION_C ? 0
              : field_text(L, -1, "source", &fs->text);
    f->name = field_text(L, -1, "name", &fs->text);
    f->line = (int)field_integer(L, -1, "line");
    f->last = (int)field_integer(L, -1, "last_line");
    ok = f->source != TEXT_FAILED && f->name != TEXT_FAILED;
    lua_pop(L, 1);
  }
  return ok && journal_functions(&r->journal);
}


static int save_names (lua_State *L, int arg, Recording *r) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i;
  int ok = 1;
  for (i = 1; ok && i <= n; i++) {
    size_t length, titlelength;
    const char *name, *title;
    lua_rawgeti(L, arg, i);
    lua_getfield(L, -1, "name");
    name = luaL_checklstring(L, -1, &length);
    lua_getfield(L, -2, "title");
    title = luaL_checklstring(L, -1, &titlelength);
    ok = journal_name(&r->journal, (uint32_t)i - 1, name, length, title,
                      titlelength);
    lua_pop(L, 3);
  }
  return ok;
}


static int save_nodes (const Nodes *nodes, Recording *r) {
  Chunks *to = &r->tree.nodes;
  uint32_t i;
  to->pages = &r->file->nodes;
  for (i = 0; i < nodes->count; i++) {
    const ProfileNode *p = &nodes->list[i];
    Node *n = chunks_add(to);
    if (n == NULL) return 0;
    n->calls = (uint64_t)p->calls;
    n->self = (uint64_t)p->self;
    n->id = i;
    n->parent = p->parent;
    n->func = p->func;
    n->call_line = p->call_line;
    n->depth = p->depth;
  }
  chunks_show(to);
  return 1;
}


static lua_Integer save_at (lua_State *L, int arg, lua_Integer i) {
  lua_Integer n;
  lua_rawgeti(L, arg, i);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}


/* { function, line, hits, ns, ... } at 'arg': those of a function together */
static int save_lines (lua_State *L, int arg, Recording *r) {
  const Pages *pages = &r->file->lines;
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i = 1;
  while (i + 3 <= n) {
    lua_Integer func = save_at(L, arg, i), end = i;
    Line *list;
    while (end + 3 <= n && save_at(L, arg, end) == func) end += 4;
    list = pages->get(pages->ud, (uint32_t)func - 1,
                      (size_t)(end - i) / 4 * sizeof *list);
    if (list == NULL) return 0;
    for (; i < end; i += 4, list++) {
      list->line = (int32_t)save_at(L, arg, i + 1);
      list->hits = (uint64_t)save_at(L, arg, i + 2);
      list->self = (uint64_t)save_at(L, arg, i + 3);
    }
  }
  return 1;
}


/* the source on top as one of a recording; 0: out of memory */
static int save_source (lua_State *L, Recording *r) {
  const Memory *m = &r->memory;
  Source *s = chunks_add(&r->functions.sources);
  const char *active, *content;
  size_t lines;
  if (s == NULL) return 0;
  s->text = field_text(L, -1, "source", &r->functions.text);
  s->lines = 1;
  s->changed = field_flag(L, -1, "changed");
  s->state = field_flag(L, -1, "mixed") ? SOURCE_MIXED : SOURCE_SEEN;
  lua_getfield(L, -1, "active");
  active = luaL_checklstring(L, -1, &lines);
  s->defines.active = memory_resize(m, NULL, 0, lines + 1);
  if (s->defines.active == NULL) return 0;
  s->defines.lines = s->defines.actives = (uint32_t)lines + 1;
  memcpy(s->defines.active + 1, active, lines);
  lua_getfield(L, -2, "text");
  content = lua_tolstring(L, -1, &s->size);
  if (content == NULL) s->size = 0;
  if (s->size > 0) s->content = memory_resize(m, NULL, 0, s->size);
  if (s->content != NULL) memcpy(s->content, content, s->size);
  lua_pop(L, 2);
  return s->text != TEXT_FAILED && (s->content != NULL || s->size == 0);
}


static int save_sources (lua_State *L, int arg, Recording *r) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i;
  int ok = 1;
  for (i = 1; ok && i <= n; i++) {
    lua_rawgeti(L, arg, i);
    ok = save_source(L, r) && journal_source(&r->journal, (uint32_t)i);
    lua_pop(L, 1);
  }
  return ok;
}


static int save_clock (lua_State *L, int arg) {
  const char *name;
  int kind;
  lua_getfield(L, arg, "clock");
  name = luaL_optstring(L, -1, "");
  kind = strcmp(name, "cpu") == 0 ? CLOCK_CPU
       : strcmp(name, "monotonic") == 0 ? CLOCK_MONO : CLOCK_TICKS;
  lua_pop(L, 1);
  return kind;
}


/* what the header tells; times are in ns already */
static int save_meta (lua_State *L, int arg, Recording *r) {
  FormatHeader *h = file_header(r->file);
  const char *text;
  lua_getfield(L, arg, "mode");
  text = luaL_optstring(L, -1, "");
  h->lines = strcmp(text, "line") == 0;
  lua_getfield(L, arg, "events");
  h->counted = !lua_isnil(L, -1);
  lua_getfield(L, arg, "ended");
  text = luaL_optstring(L, -1, "");
  strncpy(h->ended, text, sizeof h->ended - 1);
  lua_pop(L, 3);
  h->clock = (uint32_t)save_clock(L, arg);
  h->scale = (uint64_t)1 << 31 | (uint64_t)31 << 32;
  h->events = (uint64_t)field_integer(L, arg, "events");
  h->backwards = (uint64_t)field_integer(L, arg, "clock_backwards");
  h->pid = field_integer(L, arg, "pid");
  h->started_at = field_integer(L, arg, "started_at");
  h->figures.paused = (uint64_t)field_integer(L, arg, "paused_ns");
  h->figures.unmatched = (uint64_t)field_integer(L, arg, "unmatched");
  h->figures.truncated = (uint64_t)field_integer(L, arg, "truncated");
  h->figures.lost = (uint64_t)field_flag(L, arg, "hook_lost");
  return 1;
}


/* all but the path, as 'file_save' has it; 0: no room */
static int save_all (lua_State *L, Recording *r, const Nodes *nodes) {
  journal_init(&r->journal, r->file, &r->functions);
  lua_pushvalue(L, 5);
  return save_functions(L, 3, r) && save_meta(L, 4, r) &&
         begin_meta(L, &r->journal) && save_names(L, 3, r) &&
         save_lines(L, 6, r) && save_sources(L, 7, r) &&
         save_nodes(nodes, r) && file_close(r->file, 1);
}


/*
** path, nodes, functions, meta, strings of it, lines, sources -> true; or
** nil and a message. What is at 'path' stays there until all is written.
*/
static int file_save (lua_State *L) {
  const char *path = luaL_checkstring(L, 1), *aside, *failure;
  const Nodes *nodes = lprofile_checknodes(L, 2);
  Recording *r = lua_newuserdatauv(L, sizeof *r, 0);
  char why[FILE_MESSAGE];
  memset(r, 0, sizeof *r);
  luaL_setmetatable(L, SAVED);
  if (!recording_blank(r, &recording_get(L)->memory))
    return lfile_fail(L, "out of memory");
  aside = lua_pushfstring(L, "%s.%d.tmp", path, (int)platform_process());
  r->file = file_create(aside, nodes->count, save_tell, NULL, why);
  if (r->file == NULL) return lfile_fail(L, why);
  if (save_all(L, r, nodes)) {
    if (rename(aside, path) == 0) {
      lua_pushboolean(L, 1);
      return 1;
    }
    failure = strerror(errno);
  }
  else {
    failure = file_failure(r->file);
    if (failure == NULL) failure = "out of memory";
  }
  remove(aside);
  lua_pushfstring(L, "%s: %s", path, failure);
  return lfile_fail(L, lua_tostring(L, -1));
}

/* }====================================================== */


static const luaL_Reg file_functions[] = {
  {"naming", file_naming},
  {"names", file_names},
  {"load", file_load},
  {"save", file_save},
  {NULL, NULL}
};


void lfile_open (lua_State *L) {
  luaL_newmetatable(L, LOADED);
  lua_pushcfunction(L, loaded_gc);
  lua_setfield(L, -2, "__gc");
  luaL_newmetatable(L, SAVED);
  lua_pushcfunction(L, saved_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 2);
  luaL_setfuncs(L, file_functions, 0);
}


int lfile_own (lua_CFunction f) {
  const luaL_Reg *l;
  for (l = file_functions; l->name != NULL; l++)
    if (l->func == f) return 1;
  return 0;
}

/*
** See lsave.h
*/

#include "lsave.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <lauxlib.h>

#include "lfile.h"
#include "lnodes.h"
#include "lprofile.h"


#define SAVED	"cprof.saved"


/* nil and a message */
static int save_fail (lua_State *L, const char *message) {
  lua_pushnil(L);
  lua_pushstring(L, message);
  return 2;
}


static lua_Integer save_integer (lua_State *L, int arg, const char *name) {
  lua_Integer n;
  lua_getfield(L, arg, name);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}


static int save_flag (lua_State *L, int arg, const char *name) {
  int yes;
  lua_getfield(L, arg, name);
  yes = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return yes;
}


/* the text of a field; TEXT_FAILED: out of memory */
static uint32_t save_text (lua_State *L, int arg, const char *name,
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
** The profile as a recording
** ======================================================= */

static int saved_gc (lua_State *L) {
  Recording *r = cast(Recording *, luaL_checkudata(L, 1, SAVED));
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


static lua_Integer save_at (lua_State *L, int arg, lua_Integer i) {
  lua_Integer n;
  lua_rawgeti(L, arg, i);
  n = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return n;
}


/* the functions at 'arg', with their marks; 0: out of memory */
static int save_functions (lua_State *L, int arg, int marks, Recording *r) {
  Functions *fs = &r->functions;
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i;
  int ok = 1;
  for (i = 1; ok && i <= n; i++) {
    Function *f = cast(Function *, chunks_add(&fs->list));
    if (f == NULL) return 0;
    lua_rawgeti(L, arg, i);
    f->id = (uint32_t)i - 1;
    f->kind = save_kind(L);
    f->source = f->kind == FUNCTION_C ? 0
              : save_text(L, -1, "source", &fs->text);
    f->name = save_text(L, -1, "name", &fs->text);
    f->marks = (uint8_t)save_at(L, marks, i);
    f->cost = (uint32_t)(save_at(L, marks, i) >> 8);
    f->line = (int)save_integer(L, -1, "line");
    f->last = (int)save_integer(L, -1, "last_line");
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
    Node *n = cast(Node *, chunks_add(to));
    if (n == NULL) return 0;
    n->calls = (uint64_t)p->calls;
    n->self = (uint64_t)p->raw;
    n->active = nodes->fold ? 0 : p->tails;
    n->id = i;
    n->parent = p->parent;
    n->func = p->func;
    n->call_line = p->call_line;
    n->depth = nodes->fold ? p->depth : p->unreturned;
  }
  chunks_show(to);
  return 1;
}


/*
** { function, line, hits, ns, raw ns, counts, code, ... } at 'arg': those
** of a function together
*/
static int save_lines (lua_State *L, int arg, Recording *r) {
  const Pages *pages = &r->file->lines;
  lua_Integer n = (lua_Integer)lua_rawlen(L, arg), i = 1;
  while (i + 6 <= n) {
    lua_Integer func = save_at(L, arg, i), end = i;
    Line *list;
    while (end + 6 <= n && save_at(L, arg, end) == func) end += 7;
    list = cast(Line *, pages->get(pages->ud, (uint32_t)func - 1,
                      (size_t)(end - i) / 7 * sizeof *list));
    if (list == NULL) return 0;
    for (; i < end; i += 7, list++) {
      list->line = (int32_t)save_at(L, arg, i + 1);
      list->hits = (uint64_t)save_at(L, arg, i + 2);
      list->self = (uint64_t)save_at(L, arg, i + 4);
      list->counts = (uint32_t)save_at(L, arg, i + 5);
      list->steps = (unsigned)save_at(L, arg, i + 6) & UINT8_MAX;
      list->instructions = (unsigned)save_at(L, arg, i + 6) >> 8 & UINT8_MAX;
    }
  }
  return 1;
}


/* the source on top as one of a recording; 0: out of memory */
static int save_source (lua_State *L, Recording *r) {
  const Memory *m = &r->memory;
  Source *s = cast(Source *, chunks_add(&r->functions.sources));
  const char *active, *content;
  size_t lines;
  if (s == NULL) return 0;
  s->text = save_text(L, -1, "source", &r->functions.text);
  s->lines = 1;
  s->changed = save_flag(L, -1, "changed");
  s->state = save_flag(L, -1, "mixed") ? SOURCE_MIXED : SOURCE_SEEN;
  lua_getfield(L, -1, "active");
  active = luaL_checklstring(L, -1, &lines);
  s->defines.active = cast(uint8_t *, memory_resize(m, NULL, 0, lines + 1));
  if (s->defines.active == NULL) return 0;
  s->defines.lines = s->defines.actives = (uint32_t)lines + 1;
  memcpy(s->defines.active + 1, active, lines);
  lua_getfield(L, -2, "text");
  content = lua_tolstring(L, -1, &s->size);
  if (content == NULL) s->size = 0;
  if (s->size > 0) s->content = memory_new(m, char, s->size);
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
       : strcmp(name, "monotonic") == 0 ? CLOCK_MONO
       : strcmp(name, "host") == 0 ? CLOCK_HOST : CLOCK_TICKS;
  lua_pop(L, 1);
  return kind;
}


static void save_costs (lua_State *L, int arg, FormatHeader *h) {
  const char *why;
  lua_getfield(L, arg, "uncompensated");
  why = luaL_optstring(L, -1, "");
  strncpy(h->uncompensated, why, sizeof h->uncompensated - 1);
  lua_getfield(L, arg, "costs_ns");
  if (lua_istable(L, -1)) h->costs = lprofile_tocosts(L);
  lua_pop(L, 2);
}


/* what the header tells; times are in ns already */
static int save_meta (lua_State *L, int arg, Recording *r) {
  FormatHeader *h = file_header(r->file);
  const char *text;
  lua_getfield(L, arg, "mode");
  text = luaL_optstring(L, -1, "");
  h->mode = strcmp(text, "line") == 0 ? FORMAT_LINES
          : strcmp(text, "trace") == 0 ? FORMAT_TRACE : FORMAT_CALLS;
  lua_getfield(L, arg, "events");
  h->counted = !lua_isnil(L, -1);
  lua_getfield(L, arg, "ended");
  text = luaL_optstring(L, -1, "");
  strncpy(h->ended, text, sizeof h->ended - 1);
  lua_pop(L, 3);
  h->clock = (uint32_t)save_clock(L, arg);
  h->scale = (uint64_t)1 << 31 | (uint64_t)31 << 32;
  h->events = (uint64_t)save_integer(L, arg, "events");
  h->backwards = (uint64_t)save_integer(L, arg, "clock_backwards");
  h->pid = save_integer(L, arg, "pid");
  h->started_at = save_integer(L, arg, "started_at");
  save_costs(L, arg, h);
  h->figures.paused = (uint64_t)save_integer(L, arg, "paused_ns");
  h->figures.unmatched = (uint64_t)save_integer(L, arg, "unmatched");
  h->figures.truncated = (uint64_t)save_integer(L, arg, "truncated");
  h->figures.lost = (uint64_t)save_flag(L, arg, "hook_lost");
  return 1;
}


/* all but the path, as 'profile_save' has it; 0: no room */
static int save_all (lua_State *L, Recording *r, const Nodes *nodes) {
  journal_init(&r->journal, r->file, &r->functions);
  lua_pushvalue(L, 5);
  file_header(r->file)->own = nodes->own;
  file_header(r->file)->fold = nodes->fold;
  return save_functions(L, 3, 8, r) && save_meta(L, 4, r) &&
         lfile_meta(L, &r->journal) && save_names(L, 3, r) &&
         save_lines(L, 6, r) && save_sources(L, 7, r) &&
         save_nodes(nodes, r) && file_close(r->file, 1);
}


/*
** path, nodes, functions, meta, strings of it, lines, sources, marks ->
** true; or nil and a message. What is at 'path' stays there until all is
** written.
*/
static int profile_save (lua_State *L) {
  const char *path = luaL_checkstring(L, 1), *aside, *failure;
  const Nodes *nodes = lnodes_check(L, 2);
  Recording *r = cast(Recording *, lua_newuserdatauv(L, sizeof *r, 0));
  char why[FILE_MESSAGE];
  memset(r, 0, sizeof *r);
  luaL_setmetatable(L, SAVED);
  if (!recording_blank(r, &recording_get(L)->memory))
    return save_fail(L, "out of memory");
  if (!file_yields(path, why)) return save_fail(L, why);
  aside = lua_pushfstring(L, "%s.%d.tmp", path, (int)platform_process());
  r->file = file_create(aside, nodes->count, save_tell, NULL, why);
  if (r->file == NULL) return save_fail(L, why);
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
  return save_fail(L, lua_tostring(L, -1));
}

/* }====================================================== */


void lsave_open (lua_State *L) {
  luaL_newmetatable(L, SAVED);
  lua_pushcfunction(L, saved_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  lua_pushcfunction(L, profile_save);
  lua_setfield(L, -2, "save");
}


int lsave_own (lua_CFunction f) {
  return f == profile_save;
}

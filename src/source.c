/*
** See source.h
*/

#include "source.h"

#include <string.h>

#include <lauxlib.h>


void source_init (Source *s, uint32_t text, const char *source) {
  s->text = text;
  /* all stripped chunks have the same name */
  if (strcmp(source, "=?") == 0) s->state = SOURCE_MIXED;
}


void source_free (Source *s, const Memory *m) {
  definitions_free(&s->defines, m);
}


/* {======================================================
** Reading the text
** ======================================================= */

/* ar -> the main function, or nil */
static int source_load (lua_State *L) {
  const lua_Debug *ar = lua_touserdata(L, 1);
  int status = *ar->source == '@'
    ? luaL_loadfile(L, ar->source + 1)
    : luaL_loadbuffer(L, ar->source, ar->srclen, ar->source);
  if (status == LUA_ERRMEM) return lua_error(L);
  if (status != LUA_OK) lua_pushnil(L);
  return 1;
}


/* 0: out of memory. That there is no text is not an error. */
static int source_read (Source *s, const Memory *m, const lua_Debug *ar) {
  lua_State *L;
  uint32_t i;
  int ok;
  s->state = SOURCE_MIXED;
  if (*ar->source == '=') return 1;
  L = lua_newstate(m->alloc, m->ud);
  if (L == NULL) return 0;
  lua_pushcfunction(L, source_load);
  lua_pushlightuserdata(L, (void *)ar);
  ok = lua_pcall(L, 1, 1, 0) == LUA_OK;
  if (ok && lua_isfunction(L, -1)) {
    ok = definitions_read(&s->defines, m, L);
    if (ok && s->defines.list[0].line >= 0) s->state = SOURCE_READ;
  }
  lua_close(L);
  for (i = 0; i < s->defines.count; i++) s->defines.list[i].code = NULL;
  return ok;
}

/* }====================================================== */


void source_main (Source *s, Definitions *d) {
  Definitions old = s->defines;
  int known = s->state == SOURCE_READ || s->state == SOURCE_SEEN;
  int same = known && old.list[0].print == d->list[0].print;
  uint32_t i;
  if (same)
    for (i = 0; i < old.count; i++) d->list[i].func = old.list[i].func;
  if (s->state == SOURCE_MIXED || d->list[0].line < 0 || (known && !same))
    s->state = SOURCE_MIXED;
  else
    s->state = SOURCE_SEEN;
  s->mains = 1;
  s->defines = *d;
  *d = old;
}


/* {======================================================
** Looking definitions up
** ======================================================= */

/* those that start at one line */
typedef struct Range {
  Definition *list;
  uint32_t n;
} Range;


static Range source_range (const Source *s, int line) {
  uint32_t low = 0, high = s->defines.count;
  Range r;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (s->defines.list[mid].line < line) low = mid + 1;
    else high = mid;
  }
  r.list = s->defines.list + low;
  for (r.n = 0; low + r.n < s->defines.count; r.n++)
    if (r.list[r.n].line != line) break;
  return r;
}


static int source_knows (const Source *s) {
  return s->state == SOURCE_READ || s->state == SOURCE_SEEN;
}


uint32_t source_match (const Source *s, lua_State *L, const lua_Debug *ar) {
  const Definition *d;
  Range r;
  if (!source_knows(s)) return 0;
  r = source_range(s, ar->linedefined);
  d = definition_match(L, r.list, r.n);
  return d != NULL ? d->func : 0;
}


/* definitions of a text have no addresses until they are met */
static int source_fits (const Definition *x, const Definition *d) {
  return x->print == d->print && (x->code == NULL || x->code == d->code);
}


Telling source_telling (Source *s, const Memory *m, const lua_Debug *ar,
                        const Definition *d, Definition **own) {
  int lines = 0;
  uint32_t i;
  Range r;
  *own = NULL;
  if (s->state == SOURCE_NEW && !source_read(s, m, ar))
    return TELLING_NOMEMORY;
  if (s->state == SOURCE_MIXED) return TELLING_CLOSURE;
  r = source_range(s, d->line);
  for (i = 0; i < r.n; i++) {
    lines += r.list[i].last == d->last;
    if (*own == NULL && source_fits(&r.list[i], d)) *own = r.list + i;
    if (r.list[i].code == d->code) *own = r.list + i;
  }
  if (*own == NULL) {  /* another chunk, or the text has changed */
    for (i = 0; i < r.n; i++)
      if (r.list[i].print == d->print)  /* another one of the same text */
        return lines == 1 ? TELLING_LINES : TELLING_CLOSURE;
    s->state = SOURCE_MIXED;
    return TELLING_CLOSURE;
  }
  (*own)->code = d->code;
  return lines == 1 ? TELLING_LINES : TELLING_CODE;
}


uint32_t source_ordinal (const Source *s, const Definition *d) {
  Range r = source_range(s, d->line);
  uint32_t i, ordinal = 0;
  for (i = 0; i < r.n; i++) {
    if (r.list[i].print != d->print) continue;
    if (r.list[i].code == d->code) return ordinal;
    ordinal++;
  }
  return 0;
}

/* }====================================================== */

/*
** See source.h
*/

#include "source.h"

#include <stdio.h>
#include <string.h>

#include <lauxlib.h>


void source_init (Source *s, uint32_t text, const char *source) {
  s->text = text;
  s->lines = -1;
  /* all stripped chunks have the same name */
  if (strcmp(source, "=?") == 0) s->state = SOURCE_MIXED;
}


void source_free (Source *s, const Memory *m) {
  definitions_free(&s->defines, m);
  memory_free(m, s->content, s->size);
  s->content = NULL;
  s->size = 0;
}


/* {======================================================
** Reading the text
** ======================================================= */

typedef struct Reading {
  const Source *source;
  const lua_Debug *ar;
} Reading;


/* what 'luaL_loadfile' skips: a mark of the encoding, a first line with # */
static const char *source_code (const char *s, size_t *size) {
  if (*size >= 3 && memcmp(s, "\xEF\xBB\xBF", 3) == 0) {
    s += 3;
    *size -= 3;
  }
  if (*size > 0 && *s == '#')
    while (*size > 0 && *s != '\n') {
      s++;
      --*size;
    }
  return s;
}


static int source_compile (lua_State *L, const Reading *r) {
  const Source *s = r->source;
  const lua_Debug *ar = r->ar;
  size_t size = s->size;
  if (s->content != NULL && *ar->source == '@') {
    const char *code = source_code(s->content, &size);
    return luaL_loadbuffer(L, code, size, ar->source);
  }
  if (*ar->source == '@') return luaL_loadfile(L, ar->source + 1);
  return luaL_loadbuffer(L, ar->source, ar->srclen, ar->source);
}


/* Reading -> the main function, or nil */
static int source_load (lua_State *L) {
  int status = source_compile(L, cast(const Reading *, lua_touserdata(L, 1)));
  if (status == LUA_ERRMEM) return lua_error(L);
  if (status != LUA_OK) lua_pushnil(L);
  return 1;
}


/* 0: out of memory. That there is no text is not an error. */
static int source_read (Source *s, const Memory *m, const lua_Debug *ar) {
  Reading reading;
  lua_State *L;
  uint32_t i;
  int ok;
  s->state = SOURCE_MIXED;
  if (*ar->source == '=') return 1;
  reading.source = s;
  reading.ar = ar;
  L = lua_newstate(m->alloc, m->ud);
  if (L == NULL) return 0;
  lua_pushcfunction(L, source_load);
  lua_pushlightuserdata(L, &reading);
  ok = lua_pcall(L, 1, 1, 0) == LUA_OK;
  if (ok && lua_isfunction(L, -1)) {
    s->defines.marking = s->lines > 0;
    ok = definitions_read(&s->defines, m, L);
    if (ok && s->defines.list[0].line >= 0) s->state = SOURCE_READ;
  }
  lua_close(L);
  for (i = 0; i < s->defines.count; i++) s->defines.list[i].code = NULL;
  return ok;
}


/* reads all of 'f'; 0: out of memory */
static int source_slurp (Source *s, const Memory *m, FILE *f) {
  size_t capacity = 0;
  for (;;) {
    size_t wanted = capacity ? capacity * 2 : 8192, n;
    char *p = cast(char *, memory_resize(m, s->content, capacity, wanted));
    if (p == NULL) {
      memory_free(m, s->content, capacity);
      s->content = NULL;
      return 0;
    }
    s->content = p;
    n = fread(p + capacity, 1, wanted - capacity, f);
    s->size = capacity + n;
    if (n < wanted - capacity) {  /* give back what is left over */
      size_t size = s->size ? s->size : 1;
      p = cast(char *, memory_resize(m, s->content, wanted, size));
      if (p != NULL) s->content = p;
      else memory_free(m, s->content, wanted);
      s->content = p;
      s->size = size;
      return p != NULL;
    }
    capacity = wanted;
  }
}


int source_keep (Source *s, const Memory *m, const lua_Debug *ar) {
  int ok = 1;
  if (*ar->source == '@') {
    FILE *f = fopen(ar->source + 1, "rb");
    if (f != NULL) {
      ok = source_slurp(s, m, f);
      fclose(f);
    }
  }
  else if (*ar->source != '=') {
    s->content = cast(char *, memory_resize(m, NULL, 0, ar->srclen));
    s->size = s->content ? ar->srclen : 0;
    if (s->content) memcpy(s->content, ar->source, ar->srclen);
    ok = s->content != NULL || ar->srclen == 0;
  }
  if (ok && s->content != NULL && s->state == SOURCE_NEW) {
    ok = source_read(s, m, ar);
    /* that it can not be compiled is no reason not to believe others */
    if (s->state == SOURCE_MIXED) {
      s->state = SOURCE_NEW;
      s->changed = 1;
    }
  }
  return ok;
}

/* }====================================================== */


/*
** Is the main function's definition that of the text? A text that nobody
** was told by yet gives way to the function.
*/
static int source_agrees (Source *s, const Definition *main) {
  if (s->defines.count == 0 || s->state == SOURCE_NEW) return 1;
  if (s->defines.list[0].print == main->print) return 1;
  s->changed = 1;
  return !s->used && !s->mains;
}


int source_main (Source *s, const Memory *m, Definitions *d) {
  Definitions old = s->defines;
  int agrees = source_agrees(s, &d->list[0]);
  uint32_t i;
  if (s->state == SOURCE_MIXED || d->list[0].line < 0 || !agrees)
    s->state = SOURCE_MIXED;
  else {
    if (old.count == d->count)
      for (i = 0; i < old.count; i++) d->list[i].func = old.list[i].func;
    s->state = SOURCE_SEEN;
  }
  if (s->mains && !definitions_mark(d, m, &old)) return 0;
  s->mains = 1;
  s->defines = *d;
  *d = old;
  return 1;
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
      if (r.list[i].print == d->print) {  /* another one of this text */
        s->used = 1;
        return lines == 1 ? TELLING_LINES : TELLING_CLOSURE;
      }
    s->state = SOURCE_MIXED;
    s->changed = s->content != NULL;
    return TELLING_CLOSURE;
  }
  s->used = 1;
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

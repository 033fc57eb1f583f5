/*
** See source.h
*/

#include "identity/source.h"

#include <string.h>

#include <lauxlib.h>

#include "base/files.h"
#include "base/index.h"


void source_init (Source *s, uint32_t text, const char *source) {
  s->text = text;
  s->lines = -1;
  /* all stripped chunks have this name */
  if (strcmp(source, "=?") == 0) s->state = SOURCE_MIXED;
}


static void source_drop (Source *s, const Memory *m) {
  memory_free(m, s->content, s->size + 1);
  s->content = NULL;
  s->size = 0;
}


/* {======================================================
** Prototypes by the address of their code
** ======================================================= */

/* on fewer prototypes, looking at each costs no more than a hash table */
#define MET_LEAST	16


/* Forgets which prototypes were met: they are looked for one by one. */
static void met_forget (Source *s, const Memory *m) {
  memory_free(m, s->met, s->room * sizeof *s->met);
  s->met = NULL;
  s->room = s->filled = 0;
}


/* Where the prototype with index 'i' is in the table, or the place for it. */
static uint32_t *met_place (const Source *s, const void *code, uint32_t i) {
  uint32_t at = index_mix((uintptr_t)code) & (s->room - 1);
  while (s->met[at] != 0 && s->met[at] != i + 1)
    at = (at + 1) & (s->room - 1);
  return &s->met[at];
}


static void met_put (Source *s, const void *code, uint32_t i) {
  uint32_t *place = met_place(s, code, i);
  s->filled += *place == 0;
  *place = i + 1;
}


/*
** Adds a prototype with a new address to the table, which is made, and made
** anew when it is half full. Without memory, there is no table.
*/
static void met_add (Source *s, const Memory *m, const Prototype *p) {
  uint32_t i;
  if (s->code.count < MET_LEAST || s->code.count > UINT32_MAX / 8) return;
  if (s->met != NULL && s->filled + 1 <= s->room / 2) {
    met_put(s, p->code, (uint32_t)(p - s->code.list));
    return;
  }
  met_forget(s, m);
  for (s->room = 4 * MET_LEAST; s->room < 4 * s->code.count; ) s->room *= 2;
  s->met = memory_newzeroed(m, uint32_t, s->room);
  if (s->met == NULL) s->room = 0;
  for (i = 0; s->met != NULL && i < s->code.count; i++)
    if (s->code.list[i].code != NULL) met_put(s, s->code.list[i].code, i);
}

/* }====================================================== */


void source_free (Source *s, const Memory *m) {
  met_forget(s, m);
  bytecode_free(&s->code, m);
  source_drop(s, m);
}


/* {======================================================
** The text
** ======================================================= */

/*
** Reads a file if it is a regular one: a chunk may have any name, and
** reading a pipe or a terminal would take the program's input away. A file
** that cannot be read counts as no text. 0: out of memory.
*/
static int text_readfile (Source *s, const Memory *m, const char *path) {
  int fd = files_open(path);
  size_t room = 8192, size;
  char *p = NULL;
  if (fd < 0) return 1;
  do {  /* a file may grow while it is read */
    memory_free(m, p, room);
    room *= 4;
    p = memory_new(m, char, room);
    size = p ? files_read(fd, p, room) : 0;
  } while (size == room);
  files_close(fd);
  if (p == NULL) return 0;
  s->content = cast(char *, memory_resize(m, p, room, size + 1));
  if (s->content == NULL) memory_free(m, p, room);
  else s->size = size;
  return s->content != NULL;
}


/* Sets 'content' to the text of a chunk, if it has one. 0: out of memory. */
static int text_read (Source *s, const Memory *m, const lua_Debug *ar) {
  if (s->content != NULL || *ar->source == '=') return 1;
  if (*ar->source == '@') return text_readfile(s, m, ar->source + 1);
  s->content = memory_new(m, char, ar->srclen + 1);
  if (s->content == NULL) return 0;
  memcpy(s->content, ar->source, ar->srclen);
  s->size = ar->srclen;
  return 1;
}


/*
** The text without what 'luaL_loadfile' skips: a byte order mark, and a
** first line with #.
*/
static const char *text_code (const Source *s, int isfile, size_t *size) {
  const char *p = s->content;
  *size = s->size;
  if (!isfile) return p;
  if (*size >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0) {
    p += 3;
    *size -= 3;
  }
  if (*size > 0 && *p == '#')
    while (*size > 0 && *p != '\n') {
      p++;
      --*size;
    }
  return p;
}


typedef struct Reading {
  const Source *source;
  const lua_Debug *ar;
} Reading;


/* Reading -> the main function, or nil */
static int text_load (lua_State *L) {
  const Reading *r = cast(const Reading *, lua_touserdata(L, 1));
  const char *name = r->ar->source;
  size_t size;
  const char *code = text_code(r->source, *name == '@', &size);
  /* text only: Lua does not check bytecode, which may not be what runs */
  int status = luaL_loadbufferx(L, code, size, name, "t");
  if (status == LUA_ERRMEM) return lua_error(L);
  if (status != LUA_OK) lua_pushnil(L);
  return 1;
}


/* Compiles the text. 0: out of memory. One with errors counts as no text. */
static int source_compile (Source *s, const Memory *m, const lua_Debug *ar) {
  Reading reading;
  lua_State *L;
  uint32_t i;
  int ok;
  s->state = SOURCE_MIXED;
  met_forget(s, m);
  if (s->content == NULL) return 1;
  reading.source = s;
  reading.ar = ar;
  L = memory_state(m);
  if (L == NULL) return 0;
  lua_pushcfunction(L, text_load);
  lua_pushlightuserdata(L, &reading);
  ok = lua_pcall(L, 1, 1, 0) == LUA_OK;
  if (ok && lua_isfunction(L, -1)) {
    s->code.marking = s->lines > 0;
    ok = bytecode_read(&s->code, m, L) && bytecode_number(&s->code, m);
    if (ok && s->code.list[0].line >= 0) s->state = SOURCE_READ;
  }
  lua_close(L);
  for (i = 0; i < s->code.count; i++) s->code.list[i].code = NULL;
  return ok;
}


int source_keep (Source *s, const Memory *m, const lua_Debug *ar) {
  if (!text_read(s, m, ar)) return 0;
  if (s->content == NULL || s->state != SOURCE_NEW) return 1;
  if (!source_compile(s, m, ar)) return 0;
  /* the text does not compile: main functions may still be trusted */
  if (s->state == SOURCE_MIXED) {
    s->state = SOURCE_NEW;
    s->changed = 1;
  }
  return 1;
}


/*
** Compiles the text, which is dropped afterwards if it was read for this
** alone. 0: out of memory.
*/
static int source_read (Source *s, const Memory *m, const lua_Debug *ar) {
  int kept = s->content != NULL;
  int ok = text_read(s, m, ar) && source_compile(s, m, ar);
  if (!kept) source_drop(s, m);
  return ok;
}

/* }====================================================== */


/*
** Does the main function agree with the prototypes that are known? If they
** come from the text and have not identified a function yet, they give way
** to the main function.
*/
static int source_agrees (Source *s, const Prototype *main) {
  if (s->code.count == 0 || s->state == SOURCE_NEW) return 1;
  if (s->code.list[0].fingerprint == main->fingerprint) return 1;
  s->changed = 1;
  return !s->used && !s->mains;
}


int source_main (Source *s, const Memory *m, Bytecode *b) {
  Bytecode old = s->code;
  int agrees = source_agrees(s, &b->list[0]);
  uint32_t i;
  if (s->state == SOURCE_MIXED || b->list[0].line < 0 || !agrees)
    s->state = SOURCE_MIXED;
  else {
    /* where prototypes are equal, the text may have given another function */
    for (i = 0; old.count == b->count && i < old.count; i++)
      if (b->list[i].equals == 1) b->list[i].func = old.list[i].func;
    s->state = SOURCE_SEEN;
  }
  if (s->mains && !bytecode_mark(b, m, &old)) return 0;
  s->mains = 1;
  s->code = *b;
  met_forget(s, m);
  if (b->count > 0) met_add(s, m, &s->code.list[0]);
  *b = old;
  return 1;
}


/* {======================================================
** Looking up prototypes
** ======================================================= */

/* the prototypes that start on one line */
typedef struct Range {
  Prototype *list;
  uint32_t n;
} Range;


/* The index of the first prototype that starts on this line or later. */
static uint32_t source_first (const Source *s, int64_t line) {
  uint32_t low = 0, high = s->code.count;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (s->code.list[mid].line < line) low = mid + 1;
    else high = mid;
  }
  return low;
}


static Range source_range (const Source *s, int line) {
  uint32_t low = source_first(s, line);
  Range r;
  r.list = s->code.list + low;
  r.n = source_first(s, (int64_t)line + 1) - low;
  return r;
}


static int source_known (const Source *s) {
  return s->state == SOURCE_READ || s->state == SOURCE_SEEN;
}


static int met_is (const Prototype *p, const void *code, size_t size,
                   int line) {
  return p->code == code && p->size == size && p->line == line;
}


uint32_t source_match (const Source *s, lua_State *L, const lua_Debug *ar) {
  const Prototype *list = s->code.list;
  const void *code;
  size_t size;
  uint32_t i, at;
  if (!source_known(s)) return 0;
  code = bytecode_code(L, &size);
  if (code == NULL) return 0;
  if (s->met == NULL) {
    Range r = source_range(s, ar->linedefined);
    for (i = 0; i < r.n; i++)
      if (met_is(&r.list[i], code, size, ar->linedefined))
        return r.list[i].func;
    return 0;
  }
  /* a collected prototype may have had this address: compares size and line */
  at = index_mix((uintptr_t)code) & (s->room - 1);
  for (; s->met[at] != 0; at = (at + 1) & (s->room - 1))
    if (met_is(&list[s->met[at] - 1], code, size, ar->linedefined))
      return list[s->met[at] - 1].func;
  return 0;
}


/*
** Can 'p' be the prototype 'x' of the source? Those compiled from the text
** have no address until their functions run.
*/
static int source_fits (const Prototype *x, const Prototype *p) {
  return x->fingerprint == p->fingerprint &&
         (x->code == NULL || x->code == p->code);
}


SourceKey source_key (Source *s, const Memory *m, const lua_Debug *ar,
                      const Prototype *p, Prototype **own) {
  int lines = 0;
  uint32_t i;
  Range r;
  *own = NULL;
  if (s->state == SOURCE_NEW && !source_read(s, m, ar)) return KEY_NOMEMORY;
  if (s->state == SOURCE_MIXED) return KEY_CLOSURE;
  r = source_range(s, p->line);
  for (i = 0; i < r.n; i++) {
    lines += r.list[i].last == p->last;
    if (*own == NULL && source_fits(&r.list[i], p)) *own = r.list + i;
    if (r.list[i].code == p->code) *own = r.list + i;
  }
  if (*own == NULL) {  /* another chunk, a second load, or a changed text */
    for (i = 0; i < r.n; i++)
      if (r.list[i].fingerprint == p->fingerprint) {  /* a second load */
        s->used = 1;
        return lines == 1 ? KEY_LINES : KEY_CLOSURE;
      }
    s->state = SOURCE_MIXED;
    s->changed = s->content != NULL;
    return KEY_CLOSURE;
  }
  s->used = 1;
  if ((*own)->code != p->code) {
    (*own)->code = p->code;
    met_add(s, m, *own);
  }
  return lines == 1 ? KEY_LINES : KEY_CODE;
}


int source_single (const Source *s, const Prototype *p) {
  Range r = source_range(s, p->line);
  uint32_t i;
  if (s->state != SOURCE_READ) return 0;
  for (i = 0; i < r.n; i++)
    if (r.list[i].fingerprint == p->fingerprint) return r.list[i].equals == 1;
  return 0;
}


uint32_t source_nth (const Source *s, const Prototype *p) {
  uint32_t i, n = 0, own = 0, alike = 0;
  Range r;
  if (!source_known(s)) return 0;
  r = source_range(s, p->line);
  for (i = 0; i < r.n; i++) {
    if (r.list[i].last != p->last) continue;
    n++;
    if (r.list[i].code == p->code) return n;
    if (r.list[i].fingerprint != p->fingerprint) continue;
    alike++;
    own = n;
  }
  return alike == 1 ? own : 0;
}

/* }====================================================== */

/*
** See function.h
*/

#include "function.h"

#include <string.h>

#include <lauxlib.h>
#include <lualib.h>


#define LIST_SHIFT	8	/* items in a chunk, as a power of two */

/* address: in the registry, closures in doubt -> id of their function */
static const char CLOSURES = 0;


/* {======================================================
** The closures in doubt
** ======================================================= */

/* the function of the closure on top, or NULL */
static Function *closure_get (const Functions *fs, lua_State *L) {
  lua_Integer id = 0;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &CLOSURES) == LUA_TTABLE) {
    lua_pushvalue(L, -2);
    lua_rawget(L, -2);
    id = lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return id != 0 ? functions_at(fs, (uint32_t)id) : NULL;
}


static int closure_store (lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &CLOSURES);
  lua_insert(L, 1);
  lua_rawset(L, 1);
  return 0;
}


/* where that fails (memory, C stack) it will be asked for again */
static void closure_set (lua_State *L, const Function *f) {
  lua_pushcfunction(L, closure_store);
  lua_pushvalue(L, -2);
  lua_pushinteger(L, f->id);
  if (lua_pcall(L, 2, 0, 0) != LUA_OK) lua_pop(L, 1);
}


static void closure_init (lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &CLOSURES);
}

/* }====================================================== */


/* {======================================================
** The functions of the standard library that are special
** ======================================================= */

static lua_CFunction member (lua_State *L, const char *name) {
  lua_CFunction f;
  lua_getfield(L, -1, name);
  f = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  return f;
}


/* pristine copies: the program may have put others in their place */
static void special_init (Functions *fs, lua_State *L) {
  luaL_Buffer b;
  lua_pushcfunction(L, luaopen_coroutine);
  lua_call(L, 0, 1);
  fs->resume = member(L, "resume");
  fs->yield = member(L, "yield");
  lua_getfield(L, -1, "wrap");
  lua_pushcfunction(L, luaopen_coroutine);  /* any function will do */
  lua_call(L, 1, 1);
  fs->wrap = lua_tocfunction(L, -1);
  lua_pop(L, 2);
  luaL_buffinitsize(L, &b, 1 << 20);  /* too big for the stack: a box */
  luaL_pushresultsize(&b, 0);
  lua_pop(L, 1);
  if (luaL_getmetatable(L, "_UBOX*") == LUA_TTABLE)
    fs->box = member(L, "__close");
  lua_pop(L, 1);
}


static uint8_t special_marks (const Functions *fs, lua_CFunction f) {
  unsigned marks = fs->foldc ? FUNCTION_FOLDED : 0;
  if (f == fs->resume) marks |= FUNCTION_RESUME;
  else if (f == fs->wrap) marks |= FUNCTION_WRAP;
  else if (f == fs->yield) marks |= FUNCTION_YIELD;
  else if (f == fs->box || fs->own(f)) marks |= FUNCTION_FOLDED;
  return (uint8_t)marks;
}

/* }====================================================== */


/* {======================================================
** Hashes
** ======================================================= */

static uint32_t key_hash (const char *source, int line, int last) {
  return index_mix((uintptr_t)source ^ (uint64_t)(uint32_t)line << 40
                                     ^ (uint64_t)(uint32_t)last << 20);
}


static uint32_t key_hashof (const void *item) {
  const Key *k = cast(const Key *, item);
  return key_hash(k->source, k->line, k->last);
}


static uint32_t source_hashof (const void *item) {
  return index_mix(((const Source *)item)->text);
}


static uint32_t address_hash (const char *source) {
  return index_mix((uintptr_t)source);
}


static uint32_t address_hashof (const void *item) {
  return address_hash(((const Address *)item)->source);
}


static uint32_t function_hashof (const void *item) {
  const Function *f = cast(const Function *, item);
  switch (f->kind) {
    case FUNCTION_C: return index_mix(f->key);
    case FUNCTION_ZONE: return index_mix(f->name);
    default: return index_mix(f->print ^ f->source
                              ^ (uint64_t)(uint32_t)f->line << 32);
  }
}

/* }====================================================== */


/* {======================================================
** Sources and where they lie
** ======================================================= */

/* the index of the source with this text, made if need be; 0: no memory */
static uint32_t source_get (Functions *fs, const char *s, size_t length) {
  uint32_t text = text_add(&fs->text, s, length);
  uint32_t i = index_first(&fs->bysource, index_mix(text));
  Source *source;
  if (text == TEXT_FAILED) return 0;
  for (; i != 0; i = functions_source(fs, i)->next)
    if (functions_source(fs, i)->text == text) return i;
  source = cast(Source *, chunks_add(&fs->sources));
  if (source == NULL) return 0;
  source_init(source, text, s);
  return index_last(&fs->bysource) ? fs->sources.count - 1 : 0;
}


static Key *key_at (const Functions *fs, uint32_t i) {
  return cast(Key *, chunks_at(&fs->keys, i));
}


static Key *key_find (const Functions *fs, const lua_Debug *ar) {
  int line = ar->linedefined, last = ar->lastlinedefined;
  uint32_t i = index_first(&fs->bykey, key_hash(ar->source, line, last));
  for (; i != 0; i = key_at(fs, i)->next) {
    Key *k = key_at(fs, i);
    if (k->source == ar->source && k->line == line && k->last == last)
      return k;
  }
  return NULL;
}


static int key_add (Functions *fs, const lua_Debug *ar, uint32_t func) {
  Key *k = cast(Key *, chunks_add(&fs->keys));
  if (k == NULL) return 0;
  k->source = ar->source;
  k->line = ar->linedefined;
  k->last = ar->lastlinedefined;
  k->func = func;
  return index_last(&fs->bykey);
}


/* lines of what lies at 's' no longer mean what they meant */
static void keys_forget (Functions *fs, const char *s) {
  uint32_t i, kept = 1;
  for (i = 1; i < fs->keys.count; i++)
    if (key_at(fs, i)->source != s) *key_at(fs, kept++) = *key_at(fs, i);
  if (kept == fs->keys.count) return;
  fs->keys.count = kept;
  index_all(&fs->bykey);
  fs->moved = 1;
}


static Address *address_at (const Functions *fs, uint32_t i) {
  return cast(Address *, chunks_at(&fs->addresses, i));
}


static void keys_forgetsource (Functions *fs, uint32_t index) {
  uint32_t i;
  for (i = 1; i < fs->addresses.count; i++)
    if (address_at(fs, i)->index == index)
      keys_forget(fs, address_at(fs, i)->source);
}


static Address *address_find (const Functions *fs, const char *s) {
  uint32_t i = index_first(&fs->byaddress, address_hash(s));
  while (i != 0 && address_at(fs, i)->source != s)
    i = address_at(fs, i)->next;
  return i != 0 ? address_at(fs, i) : NULL;
}


static int address_add (Functions *fs, const char *s, uint32_t index) {
  Address *a = cast(Address *, chunks_add(&fs->addresses));
  if (a == NULL) return 0;
  a->source = s;
  a->index = index;
  return index_last(&fs->byaddress);
}


/*
** The index of the source that lies at 'ar->source'. The name of a chunk
** that was collected may have given its place to another: every chunk's
** main function ('full') is a reason to look closely, the others are
** not, for a chunk's main function runs first. 0: out of memory.
*/
static uint32_t source_locate (Functions *fs, const lua_Debug *ar, int full) {
  const char *s = ar->source;
  Address *a = address_find(fs, s);
  uint32_t index;
  if (a && !full && text_like(&fs->text, functions_source(fs, a->index)->text,
                              s, ar->srclen))
    return a->index;
  index = source_get(fs, s, ar->srclen);
  if (index == 0) return 0;
  if (a == NULL) return address_add(fs, s, index) ? index : 0;
  if (a->index != index) {
    keys_forget(fs, s);
    a->index = index;
  }
  return index;
}

/* }====================================================== */


/* {======================================================
** Identity
** ======================================================= */

static int function_same (const Function *a, const Function *b) {
  if (a->kind != b->kind) return 0;
  switch (a->kind) {
    case FUNCTION_C: return a->key == b->key;
    case FUNCTION_ZONE: return a->name == b->name;
    default:
      return a->print == b->print && a->source == b->source &&
             a->line == b->line && a->last == b->last &&
             a->ordinal == b->ordinal;
  }
}


static Function *function_find (const Functions *fs, const Function *like) {
  uint32_t id = index_first(&fs->byidentity, function_hashof(like));
  for (; id != 0; id = functions_at(fs, id)->next)
    if (function_same(functions_at(fs, id), like))
      return functions_at(fs, id);
  return NULL;
}


static int functions_tell (Functions *fs, uint32_t source) {
  return fs->told == NULL || fs->told(fs->listener, source);
}


static int function_label (Functions *fs, Function *f, lua_State *at,
                           lua_Debug *ar) {
  if (!lua_getinfo(at, "n", ar) || ar->name == NULL) return 1;
  f->name = text_add(&fs->text, ar->name, strlen(ar->name));
  f->how = text_add(&fs->text, ar->namewhat, strlen(ar->namewhat));
  return f->name != TEXT_FAILED && f->how != TEXT_FAILED;
}


/*
** The function that is like 'like', made if need be. With 'ar', it is on
** top of L, and the way it is called in 'ar' gives it a name.
*/
static Function *function_get (Functions *fs, const Function *like,
                               lua_State *L, lua_State *at,
                               lua_Debug *ar) {
  Function *f = function_find(fs, like);
  Function named = *like;
  if (f != NULL) return f;
  if (fs->list.count >= fs->limit) return functions_at(fs, FUNC_TRUNCATED);
  if (ar != NULL) {
    if (!function_label(fs, &named, at, ar)) return NULL;
    if (fs->wanted && !fs->wanted(fs->ud, L, &named))
      named.marks |= FUNCTION_FOLDED;
  }
  f = cast(Function *, chunks_add(&fs->list));
  if (f == NULL) return NULL;
  *f = named;
  f->id = fs->list.count - 1;
  return index_last(&fs->byidentity) && functions_tell(fs, 0) ? f : NULL;
}


/* its number among equals whose chunk was not seen: a code, a number */
static uint32_t function_ordinal (const Functions *fs, Function *like) {
  uint32_t n = 0;
  for (;;) {
    const Function *f;
    like->ordinal = n;
    f = function_find(fs, like);
    if (f == NULL || f->key == like->key) return n;
    n++;
  }
}


/*
** 'd' defines the function that is on top of L. Equals are told apart by
** what the chunk is known to define; where nothing is known, by where
** their code lies.
*/
static Function *function_define (Functions *fs, lua_State *L,
                                  lua_State *at, lua_Debug *ar,
                                  const Source *source,
                                  const Definition *d) {
  Function like = ZEROS;
  like.kind = *ar->what == 'm' ? FUNCTION_MAIN : FUNCTION_LUA;
  like.print = d->print;
  like.key = (uintptr_t)d->code;
  like.source = source->text;
  like.line = ar->linedefined;
  like.last = ar->lastlinedefined;
  like.marks = source->hidden ? FUNCTION_FOLDED : 0;
  if (source->defines.count > 0) like.ordinal = source_ordinal(source, d);
  else if (like.kind != FUNCTION_MAIN)
    like.ordinal = function_ordinal(fs, &like);
  return function_get(fs, &like, L, at, ar);
}


/*
** Are lines counted for this source? The first time, the user is asked,
** and if so the text is kept. -1: out of memory.
*/
static int function_haslines (Functions *fs, lua_State *L, Source *s,
                              const lua_Debug *ar) {
  if (!fs->lines || s->hidden) return 0;
  if (s->lines < 0) {
    s->lines = fs->wantlines == NULL || fs->wantlines(L, ar->source);
    if (s->lines && !source_keep(s, fs->memory, ar)) return -1;
  }
  return s->lines;
}


/* the closure on top of L is met for the first time, or told by lines */
static Function *function_meet (Functions *fs, lua_State *L,
                                lua_State *at, lua_Debug *ar,
                                uint32_t index, int *sure) {
  Source *source = functions_source(fs, index);
  SourceState before = source->state;
  Definition d, *own = NULL;
  const LineCode *code;
  Telling telling = TELLING_CLOSURE;
  int lines = function_haslines(fs, L, source, ar), ok = 1;
  Function *f;
  if (lines < 0) return NULL;
  fs->read.marking = lines;
  if (!definitions_read(&fs->read, fs->memory, L)) return NULL;
  d = fs->read.list[0];
  code = fs->read.code;  /* which the source may take with the rest */
  if (*ar->what == 'm') ok = source_main(source, fs->memory, &fs->read);
  else {
    telling = source_telling(source, fs->memory, ar, &d, &own);
    if (lines)
      ok = definitions_mark(&source->defines, fs->memory, &fs->read);
  }
  if (!ok || telling == TELLING_NOMEMORY) return NULL;
  f = function_define(fs, L, at, ar, source, &d);
  if (f == NULL) return NULL;
  if (lines && f->lines.list == NULL && f->kind != FUNCTION_OWN &&
      !(f->marks & FUNCTION_FOLDED) &&
      !lines_init(&f->lines, fs->memory, fs->pages, f->id, &d,
                  code))
    return NULL;
  if (lines && !functions_tell(fs, index)) return NULL;
  if (own != NULL) own->func = f->id;
  if (before != source->state && source->state == SOURCE_MIXED)
    keys_forgetsource(fs, index);
  *sure = telling == TELLING_LINES;
  if (*sure) return key_add(fs, ar, f->id) ? f : NULL;
  if (telling == TELLING_CLOSURE) closure_set(L, f);
  return f;
}

/* }====================================================== */


/* {======================================================
** Interface
** ======================================================= */

static int function_first (Functions *fs, FunctionKind kind,
                           const char *name) {
  Function *f = cast(Function *, chunks_add(&fs->list));
  if (f == NULL) return 0;
  f->kind = (uint8_t)kind;
  f->id = fs->list.count - 1;
  f->name = text_add(&fs->text, name, strlen(name));
  return f->name != TEXT_FAILED;
}


int functions_blank (Functions *fs, const Memory *m) {
  memset(fs, 0, sizeof *fs);
  fs->memory = m;
  fs->limit = UINT32_MAX;
  chunks_init(&fs->list, m, sizeof(Function), LIST_SHIFT);
  chunks_init(&fs->sources, m, sizeof(Source), LIST_SHIFT);
  chunks_init(&fs->keys, m, sizeof(Key), LIST_SHIFT);
  chunks_init(&fs->addresses, m, sizeof(Address), LIST_SHIFT);
  index_init(&fs->byidentity, &fs->list, offsetof(Function, next),
             function_hashof);
  index_init(&fs->bysource, &fs->sources, offsetof(Source, next),
             source_hashof);
  index_init(&fs->bykey, &fs->keys, offsetof(Key, next), key_hashof);
  index_init(&fs->byaddress, &fs->addresses, offsetof(Address, next),
             address_hashof);
  return text_init(&fs->text, m) && chunks_add(&fs->sources);
}


int functions_init (Functions *fs, const Memory *m, lua_State *L) {
  int ok = functions_blank(fs, m);
  special_init(fs, L);
  closure_init(L);
  return ok && chunks_add(&fs->keys) && chunks_add(&fs->addresses) &&
         function_first(fs, FUNCTION_ROOT, "(root)") &&
         function_first(fs, FUNCTION_OWN, "(cprof)") &&
         function_first(fs, FUNCTION_OWN, "(truncated)");
}


void functions_clear (Functions *fs) {
  uint32_t i;
  for (i = 0; i < fs->list.count; i++)
    lines_clear(&functions_at(fs, i)->lines);
}


void functions_free (Functions *fs) {
  uint32_t i;
  for (i = 0; fs->pages == NULL && i < fs->list.count; i++)
    lines_free(&functions_at(fs, i)->lines, fs->memory);
  for (i = 1; i < fs->sources.count; i++)
    source_free(functions_source(fs, i), fs->memory);
  index_free(&fs->byidentity);
  index_free(&fs->bysource);
  index_free(&fs->bykey);
  index_free(&fs->byaddress);
  chunks_free(&fs->list);
  chunks_free(&fs->sources);
  chunks_free(&fs->keys);
  chunks_free(&fs->addresses);
  text_free(&fs->text);
  definitions_free(&fs->read, fs->memory);
}


int functions_hide (Functions *fs, const char *sources) {
  while (*sources != '\0') {
    size_t length = strlen(sources);
    uint32_t index = source_get(fs, sources, length);
    if (index == 0) return 0;
    functions_source(fs, index)->hidden = 1;
    sources += length + 1;
  }
  return 1;
}


/* pushes the function that runs in 'ar' */
static void function_push (lua_State *L, lua_State *at, lua_Debug *ar) {
  lua_getinfo(at, "f", ar);
  if (at != L) lua_xmove(at, L, 1);
}


Function *functions_lua (Functions *fs, lua_State *L, lua_State *at,
                         lua_Debug *ar, int *sure) {
  int main = *ar->what == 'm';
  const Key *k = main ? NULL : key_find(fs, ar);
  Function *f = NULL;
  uint32_t index, id = 0;
  *sure = k != NULL;
  if (k != NULL) return functions_at(fs, k->func);
  index = source_locate(fs, ar, 0);
  function_push(L, at, ar);
  if (index != 0 && !main)
    id = source_match(functions_source(fs, index), L, ar);
  f = id != 0 ? functions_at(fs, id) : closure_get(fs, L);
  if (f == NULL && main) index = source_locate(fs, ar, 1);
  if (f == NULL && index != 0)
    f = function_meet(fs, L, at, ar, index, sure);
  lua_pop(L, 1);
  return f;
}


Function *functions_c (Functions *fs, lua_State *L, lua_State *at,
                       lua_Debug *ar, lua_CFunction f) {
  Function like = ZEROS;
  Function *found;
  like.kind = FUNCTION_C;
  like.key = (uintptr_t)f;
  like.line = like.last = -1;
  like.marks = special_marks(fs, f);
  found = function_find(fs, &like);
  if (found != NULL) return found;
  function_push(L, at, ar);
  found = function_get(fs, &like, L, at, ar);
  lua_pop(L, 1);
  return found;
}


Function *functions_running (Functions *fs, lua_State *L, lua_State *at,
                             lua_Debug *ar) {
  int sure;
  lua_CFunction f;
  if (at != L && !lua_checkstack(at, 1)) return NULL;
  lua_getinfo(at, "S", ar);
  if (*ar->what != 'C') return functions_lua(fs, L, at, ar, &sure);
  function_push(L, at, ar);
  f = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  return functions_c(fs, L, at, ar, f);
}


Function *functions_zone (Functions *fs, const char *name, size_t length,
                          size_t tag) {
  Function like = ZEROS;
  if (fs->list.count >= fs->limit &&  /* names may be without number */
      text_find(&fs->text, name, length) == TEXT_FAILED)
    return functions_at(fs, FUNC_TRUNCATED);
  like.kind = FUNCTION_ZONE;
  like.name = text_add(&fs->text, name, length);
  like.tag = text_add(&fs->text, name, tag);
  if (like.name == TEXT_FAILED || like.tag == TEXT_FAILED) return NULL;
  return function_get(fs, &like, NULL, NULL, NULL);
}


Function *functions_met (Functions *fs, lua_State *L) {
  lua_CFunction f = lua_tocfunction(L, -1);
  Function *known = closure_get(fs, L);
  const Address *where;
  const Key *k;
  lua_Debug ar;
  uint32_t id;
  if (known != NULL) return known;
  if (f != NULL) {
    Function like = ZEROS;
    like.kind = FUNCTION_C;
    like.key = (uintptr_t)f;
    return function_find(fs, &like);
  }
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &ar);
  k = key_find(fs, &ar);
  if (k != NULL) return functions_at(fs, k->func);
  where = address_find(fs, ar.source);
  if (where == NULL) return NULL;
  id = source_match(functions_source(fs, where->index), L, &ar);
  return id != 0 ? functions_at(fs, id) : NULL;
}

/* }====================================================== */

/*
** See function.h
*/

#include "identity/function.h"

#include <string.h>

#include "identity/codes.h"
#include "identity/collection.h"
#include "identity/label.h"


#define LIST_SHIFT	8	/* items in a chunk, as a power of two */


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


static uint32_t function_hashof (const void *item) {
  const Function *f = cast(const Function *, item);
  switch (f->kind) {
    case FUNCTION_C: return index_mix(f->key);
    case FUNCTION_ZONE: return index_mix(f->name);
    default: return index_mix(f->fingerprint ^ f->source
                              ^ (uint64_t)(uint32_t)f->line << 32);
  }
}

/* }====================================================== */


/* {======================================================
** Sources and the addresses of their names
** ======================================================= */

/* The index of the source with this text, new or not; 0: out of memory. */
static uint32_t source_get (Functions *fs, const char *s, size_t length) {
  uint32_t text = text_add(&fs->text, s, length);
  uint32_t i = index_find(&fs->bysource, &text);
  Source *source;
  if (text == TEXT_FAILED) return 0;
  if (i != 0) return i;
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


/* Removes the keys of the source whose name is at 's'. */
static void keys_forget (Functions *fs, const char *s) {
  uint32_t i, kept = 1;
  for (i = 1; i < fs->keys.count; i++)
    if (key_at(fs, i)->source != s) *key_at(fs, kept++) = *key_at(fs, i);
  if (kept == fs->keys.count) return;
  fs->keys.count = kept;
  index_all(&fs->bykey);
  fs->stale = 1;
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
  uint32_t i = index_find(&fs->byaddress, &s);
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
** The index of the source whose name is at 'ar->source'. A collected
** chunk's name may have had the same address. Only for a main function is
** the whole name compared ('full'), for it runs before the other functions
** of its chunk. 0: out of memory.
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
      return a->fingerprint == b->fingerprint && a->source == b->source &&
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


int functions_notify (Functions *fs, uint32_t source) {
  return fs->policy.notify == NULL ||
         fs->policy.notify(fs->policy.ud, source);
}


/* first ordinal of functions whose main function was not seen */
#define ORDINAL_UNSEEN	(1u << 31)

/* Sets the ordinal of 'like', whose prototype is 'p'. 0: out of memory. */
static int function_ordinal (Functions *fs, const Source *source,
                             const Prototype *p, Function *like) {
  if (p->code == NULL || codes_find(&fs->codes, source->text, p,
                                    &like->ordinal))
    return 1;
  if (!source_single(source, p)) {
    like->ordinal = ORDINAL_UNSEEN;
    while (function_find(fs, like) != NULL) like->ordinal++;
  }
  return codes_set(&fs->codes, source->text, p, like->ordinal);
}


/*
** Notes where the code of a C function is, while its library is loaded.
** Does so only where the call gives no lasting name.
*/
static int function_place (Functions *fs, Function *f, const Label *label) {
  char place[PLATFORM_PLACE];
  if (f->kind != FUNCTION_C || label->lasting) return 1;
  if (!platform_place(f->key, place)) return 1;
  f->source = text_addz(&fs->text, place);
  return f->source != TEXT_FAILED;
}


static int function_label (Functions *fs, Function *f, lua_State *L,
                           lua_State *at, lua_Debug *ar) {
  Label label;
  if (!label_get(&label, &fs->library, L, at, ar) ||
      !function_place(fs, f, &label))
    return 0;
  if (label.name == NULL) return 1;
  f->name = text_addz(&fs->text, label.name);
  f->how = text_addz(&fs->text, label.how);
  return f->name != TEXT_FAILED && f->how != TEXT_FAILED;
}


/*
** The function that equals 'like', new or not. If 'ar' is given, the
** function is on top of L, and the call in 'ar' names it.
*/
static Function *function_get (Functions *fs, const Function *like,
                               lua_State *L, lua_State *at,
                               lua_Debug *ar) {
  const Policy *p = &fs->policy;
  Function *f = function_find(fs, like);
  Function named = *like;
  if (f != NULL) return f;
  if (fs->list.count >= p->limit) return functions_at(fs, FUNC_TRUNCATED);
  if (ar != NULL) {
    if (!function_label(fs, &named, L, at, ar)) return NULL;
    if (p->include && !p->include(fs, L, &named))
      named.marks |= FUNCTION_EXCLUDED;
  }
  f = cast(Function *, chunks_add(&fs->list));
  if (f == NULL) return NULL;
  *f = named;
  f->id = fs->list.count - 1;
  return index_last(&fs->byidentity) && functions_notify(fs, 0) ? f : NULL;
}


/* Finds or adds the function on top of L, whose prototype is 'p'. */
static Function *function_define (Functions *fs, lua_State *L,
                                  lua_State *at, lua_Debug *ar,
                                  const Source *source,
                                  const Prototype *p) {
  Function like = ZEROS;
  like.kind = *ar->what == 'm' ? FUNCTION_MAIN : FUNCTION_LUA;
  like.fingerprint = p->fingerprint;
  like.shape = p->shape;
  like.layout = p->layout;
  like.source = source->text;
  like.line = ar->linedefined;
  like.last = ar->lastlinedefined;
  like.marks = source->internal ? FUNCTION_EXCLUDED : 0;
  if (like.kind != FUNCTION_MAIN &&
      !function_ordinal(fs, source, p, &like))
    return NULL;
  like.nth = source_nth(source, p);
  return function_get(fs, &like, L, at, ar);
}


/*
** Does this source get counters of lines or instructions? Decided when first
** asked; if so, the source keeps its text. -1: out of memory.
*/
static int function_haslines (Functions *fs, lua_State *L, Source *s,
                              const lua_Debug *ar) {
  const Policy *p = &fs->policy;
  if (!p->lines || s->internal) return 0;
  if (s->lines < 0) {
    s->lines = p->include_lines == NULL || p->include_lines(L, ar->source);
    if (s->lines && !source_keep(s, fs->memory, ar)) return -1;
  }
  return s->lines;
}


/* Makes counters of lines or instructions, once. 0: out of memory. */
static int function_counters (Functions *fs, Function *f, const Prototype *p,
                              const LineCode *code, const int *places) {
  const Policy *by = &fs->policy;
  if (f->kind == FUNCTION_INTERNAL || f->marks & FUNCTION_EXCLUDED ||
      f->lines.list != NULL || f->instructions.list != NULL)
    return 1;
  if (!by->instructions)
    return lines_init(&f->lines, fs->memory, by->pages, f->id, p, code,
                      by->memory);
  if (p->code == NULL) return 1;
  return instructions_init(&f->instructions, fs->memory, by->pages, f->id,
                           p->code, places, p->size / BYTECODE_INSTRUCTION,
                           by->memory);
}


/*
** Identifies the closure on top of L, which is seen for the first time.
** '*key' tells what will identify it from now on. NULL: out of memory.
*/
static Function *function_identify (Functions *fs, lua_State *L,
                                    lua_State *at, lua_Debug *ar,
                                    uint32_t index, SourceKey *key) {
  Source *source = functions_source(fs, index);
  SourceState before = source->state;
  Prototype p, *own = NULL;
  const LineCode *code;
  const int *places;
  int lines = function_haslines(fs, L, source, ar), ok = 1;
  Function *f;
  *key = KEY_CLOSURE;
  if (lines < 0) return NULL;
  fs->read.marking = lines;
  if (!bytecode_read(&fs->read, fs->memory, L)) return NULL;
  p = fs->read.list[0];
  code = fs->read.code;  /* 'source_main' may exchange 'fs->read' */
  places = fs->read.places;
  if (*ar->what == 'm') {
    ok = bytecode_number(&fs->read, fs->memory) &&
         codes_setall(&fs->codes, source->text, &fs->read) &&
         source_main(source, fs->memory, &fs->read);
    fs->reloaded = 1;
  }
  else if (source->internal)  /* the caller is charged, whichever this is */
    *key = KEY_LINES;
  else {
    *key = source_key(source, fs->memory, ar, &p, &own);
    if (lines) ok = bytecode_mark(&source->code, fs->memory, &fs->read);
  }
  if (!ok || *key == KEY_NOMEMORY) return NULL;
  f = function_define(fs, L, at, ar, source, &p);
  if (f == NULL) return NULL;
  if (lines && !function_counters(fs, f, &p, code, places)) return NULL;
  if (lines && !functions_notify(fs, index)) return NULL;
  if (own != NULL) own->func = f->id;
  if (before != source->state && source->state == SOURCE_MIXED) {
    keys_forgetsource(fs, index);
    fs->reloaded = 1;
  }
  if (*key == KEY_LINES) return key_add(fs, ar, f->id) ? f : NULL;
  if (*key == KEY_CLOSURE) closure_set(L, f->id);
  return f;
}


static uint8_t function_marks (const Functions *fs, lua_CFunction f) {
  const Library *l = &fs->library;
  const Policy *p = &fs->policy;
  unsigned marks = p->exclude_c ? FUNCTION_EXCLUDED : 0;
  uint32_t i;
  if (f == l->resume) marks |= FUNCTION_RESUME;
  else if (f == l->wrap) marks |= FUNCTION_WRAP;
  else if (f == l->yield) marks |= FUNCTION_YIELD;
  else if (f == l->create) marks |= FUNCTION_CREATE;
  else if (f == l->makewrap) marks |= FUNCTION_MAKEWRAP;
  else if (f == l->close) marks |= FUNCTION_CLOSE;
  else if (f == l->collect) marks |= FUNCTION_COLLECT;
  else if (f == l->box) marks |= FUNCTION_EXCLUDED;
  for (i = 0; i < p->internals; i++)
    if (p->internal[i] == f) marks |= FUNCTION_EXCLUDED;
  return (uint8_t)marks;
}

/* }====================================================== */


/* {======================================================
** Interface
** ======================================================= */

static const char function_truncated[] = "(beyond max_nodes)";
static const char function_waiting[] = "(waiting, or in a C function)";


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
  ChunkSet *s = &fs->set;
  memset(fs, 0, sizeof *fs);
  fs->memory = m;
  fs->policy.limit = UINT32_MAX;
  chunkset_init(s, m, NULL);
  chunkset_add(s, &fs->list, sizeof(Function), LIST_SHIFT, 0);
  chunkset_add(s, &fs->sources, sizeof(Source), LIST_SHIFT, 0);
  chunkset_add(s, &fs->keys, sizeof(Key), LIST_SHIFT, 0);
  chunkset_add(s, &fs->addresses, sizeof(Address), LIST_SHIFT, 0);
  index_init(&fs->byidentity, &fs->list, offsetof(Function, next),
             function_hashof);
  index_init(&fs->bykey, &fs->keys, offsetof(Key, next), key_hashof);
  index_by(&fs->bysource, &fs->sources, Source, text);
  index_by(&fs->byaddress, &fs->addresses, Address, source);
  chunkset_index(s, &fs->byidentity);
  chunkset_index(s, &fs->bykey);
  chunkset_index(s, &fs->bysource);
  chunkset_index(s, &fs->byaddress);
  return text_init(&fs->text, s) && codes_init(&fs->codes, s) &&
         chunks_add(&fs->sources);
}


int functions_init (Functions *fs, const Memory *m, lua_State *L,
                    const Policy *p) {
  int ok = functions_blank(fs, m);
  fs->policy = *p;
  closure_init(L);
  collection_init(L);
  return ok && library_find(&fs->library, m) &&
         chunks_add(&fs->keys) && chunks_add(&fs->addresses) &&
         function_first(fs, FUNCTION_ROOT, "(root)") &&
         function_first(fs, FUNCTION_INTERNAL, "(cprof)") &&
         function_first(fs, FUNCTION_INTERNAL, function_truncated) &&
         function_first(fs, FUNCTION_INTERNAL, "(not recorded)") &&
         function_first(fs, FUNCTION_INTERNAL, "(coroutine, not sampled)") &&
         function_first(fs, FUNCTION_INTERNAL, function_waiting) &&
         function_first(fs, FUNCTION_INTERNAL,
                        "(host, or its coroutines)");
}


/* Is function 'id' the profiler's own row of this name? */
static int function_isrow (const Functions *fs, uint32_t id,
                           const char *row) {
  const Function *f = functions_at(fs, id);
  size_t length;
  const char *name = text_get(&fs->text, f->name, &length);
  return f->kind == FUNCTION_INTERNAL && length == strlen(row) &&
         memcmp(name, row, length) == 0;
}


int functions_truncated (const Functions *fs, uint32_t id) {
  return function_isrow(fs, id, function_truncated);
}


int functions_waiting (const Functions *fs, uint32_t id) {
  return function_isrow(fs, id, function_waiting);
}


int functions_intact (const Functions *fs) {
  uint32_t i = 0;
  while (i < fs->list.count && lines_intact(&functions_at(fs, i)->lines) &&
         instructions_intact(&functions_at(fs, i)->instructions))
    i++;
  return i == fs->list.count;
}


void functions_clear (Functions *fs) {
  uint32_t i;
  for (i = 0; i < fs->list.count; i++) {
    lines_clear(&functions_at(fs, i)->lines);
    instructions_clear(&functions_at(fs, i)->instructions);
  }
}


void functions_free (Functions *fs) {
  uint32_t i;
  for (i = 0; fs->policy.pages == NULL && i < fs->list.count; i++) {
    lines_free(&functions_at(fs, i)->lines, fs->memory);
    instructions_free(&functions_at(fs, i)->instructions, fs->memory);
  }
  for (i = 1; i < fs->sources.count; i++)
    source_free(functions_source(fs, i), fs->memory);
  chunkset_free(&fs->set);
  bytecode_free(&fs->read, fs->memory);
}


int functions_hide (Functions *fs, const char *sources) {
  while (*sources != '\0') {
    size_t length = strlen(sources);
    uint32_t index = source_get(fs, sources, length);
    if (index == 0) return 0;
    functions_source(fs, index)->internal = 1;
    sources += length + 1;
  }
  return 1;
}


/* Pushes the function that runs in 'ar'. */
static void function_push (lua_State *L, lua_State *at, lua_Debug *ar) {
  lua_getinfo(at, "f", ar);
  if (at != L) lua_xmove(at, L, 1);
}


Function *functions_lua (Functions *fs, lua_State *L, lua_State *at,
                         lua_Debug *ar, SourceKey *key) {
  int main = *ar->what == 'm';
  const Key *k = main ? NULL : key_find(fs, ar);
  Function *f = NULL;
  uint32_t index, id = 0;
  *key = KEY_LINES;
  if (k != NULL) return functions_at(fs, k->func);
  index = source_locate(fs, ar, 0);
  function_push(L, at, ar);
  *key = KEY_CODE;
  if (index != 0 && !main)
    id = source_match(functions_source(fs, index), L, ar);
  if (id == 0) {
    *key = KEY_CLOSURE;
    id = closure_get(L);
  }
  f = id != 0 ? functions_at(fs, id) : NULL;
  if (f == NULL && main) index = source_locate(fs, ar, 1);
  if (f == NULL && index != 0)
    f = function_identify(fs, L, at, ar, index, key);
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
  like.marks = function_marks(fs, f);
  found = function_find(fs, &like);
  if (found != NULL) return found;
  function_push(L, at, ar);
  found = function_get(fs, &like, L, at, ar);
  lua_pop(L, 1);
  return found;
}


Function *functions_running (Functions *fs, lua_State *L, lua_State *at,
                             lua_Debug *ar) {
  SourceKey key;
  lua_CFunction f;
  if (at != L && !lua_checkstack(at, 1)) return NULL;
  lua_getinfo(at, "S", ar);
  if (*ar->what != 'C') return functions_lua(fs, L, at, ar, &key);
  function_push(L, at, ar);
  f = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  return functions_c(fs, L, at, ar, f);
}


Function *functions_zone (Functions *fs, const char *name, size_t length,
                          size_t tag) {
  Function like = ZEROS;
  /* beyond the limit, do not add names, of which there may be any number */
  if (fs->list.count >= fs->policy.limit &&
      text_find(&fs->text, name, length) == TEXT_FAILED)
    return functions_at(fs, FUNC_TRUNCATED);
  like.kind = FUNCTION_ZONE;
  like.name = text_add(&fs->text, name, length);
  like.tag = text_add(&fs->text, name, tag);
  if (like.name == TEXT_FAILED || like.tag == TEXT_FAILED) return NULL;
  return function_get(fs, &like, NULL, NULL, NULL);
}


Function *functions_known (Functions *fs, lua_State *L) {
  lua_CFunction f = lua_tocfunction(L, -1);
  const Address *where;
  const Key *k;
  lua_Debug ar;
  uint32_t id = closure_get(L);
  if (id != 0) return functions_at(fs, id);
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

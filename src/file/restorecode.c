/*
** See restoring.h: texts, functions, sources, and lines.
*/

#include "file/restoring.h"

#include <string.h>


/* {======================================================
** Texts, functions, sources
** ======================================================= */

/* Calls 'f' for each record of a kind. 0: 'f' has failed. */
static int restore_records (Restoring *c, uint32_t kind,
                            int (*f) (Restoring *c, const FileRecord *r)) {
  RecordCursor at = {NULL, NULL};
  const FileRecord *r;
  while ((r = reader_next(c->l, &at, kind)) != NULL)
    if (!f(c, r)) return 0;
  return 1;
}


static int restore_text (Restoring *c, const FileRecord *r) {
  uint32_t *id = cast(uint32_t *, chunks_add(&c->l->texts));
  if (id == NULL) return reader_nomemory(c->l);
  *id = text_add(&c->r->functions.text, record_data(r), r->size);
  return *id != TEXT_FAILED || reader_nomemory(c->l);
}


/* Is this the place of a C function: "FILE: SYMBOL", "FILE+0xOFFSET", ""? */
static int restore_isplace (const char *s, size_t length) {
  size_t digits = 0, i;
  for (i = 0; i + 1 < length; i++)
    if (s[i] == ':' && s[i + 1] == ' ') return 1;
  while (digits < length &&
         memchr("0123456789abcdefABCDEF", s[length - digits - 1], 22))
    digits++;
  return length == 0 || (digits > 0 && length - digits >= 3 &&
                         memcmp(s + length - digits - 3, "+0x", 3) == 0);
}


static int restore_checkplace (Restoring *c, const Function *f) {
  size_t length;
  const char *s = text_get(&c->r->functions.text, f->source, &length);
  if (f->kind != FUNCTION_C || restore_isplace(s, length)) return 1;
  return reader_fail(c->l, "place of a C function");
}


static int restore_function (Restoring *c, const FileRecord *record) {
  Functions *fs = &c->r->functions;
  FunctionRecord fixed, *r = &fixed;
  Function *f;
  if (record->size != sizeof fixed)
    return reader_fail(c->l, "size of a function");
  memcpy(&fixed, record_data(record), sizeof fixed);
  f = cast(Function *, chunks_add(&fs->list));
  if (f == NULL) return reader_nomemory(c->l);
  f->id = fs->list.count - 1;
  f->key = (uintptr_t)r->key;
  f->shape = r->shape;
  f->source = reader_textid(c->l, r->source);
  f->name = reader_textid(c->l, r->name);
  f->how = reader_textid(c->l, r->how);
  f->tag = reader_textid(c->l, r->tag);
  f->line = r->line;
  f->last = r->last;
  f->ordinal = r->ordinal;
  f->layout = r->layout;
  f->nth = r->nth;
  if (r->kind > FUNCTION_ZONE) return reader_fail(c->l, "kind of a function");
  f->kind = (uint8_t)r->kind;
  f->marks = r->marks & FUNCTION_COROUTINES;
  if (r->line < -1 || r->last < -1)
    return reader_fail(c->l, "lines of a function");
  if (f->source == TEXT_FAILED || f->name == TEXT_FAILED ||
      f->how == TEXT_FAILED || f->tag == TEXT_FAILED)
    return reader_fail(c->l, "text of a function");
  return restore_checkplace(c, f);
}


/*
** The source of a record that begins with its text, and has 'size' bytes or
** more; it is made if need be. NULL: damaged, or out of memory.
*/
static Source *restore_getsource (Restoring *c, const FileRecord *r,
                                  size_t size) {
  Functions *fs = &c->r->functions;
  uint32_t text = TEXT_FAILED;
  Source *s;
  if (r->size >= size) {
    memcpy(&text, record_data(r), sizeof text);
    text = reader_textid(c->l, text);
  }
  if (text == TEXT_FAILED) {
    reader_fail(c->l, "text of a source");
    return NULL;
  }
  if (c->source[text] != 0) return functions_source(fs, c->source[text]);
  s = cast(Source *, chunks_add(&fs->sources));
  if (s == NULL) {
    reader_nomemory(c->l);
    return NULL;
  }
  s->text = text;
  s->lines = 1;
  c->source[text] = fs->sources.count - 1;
  return s;
}


/*
** Sets which lines of a source have code: marks[0] is for line 1. Later marks
** replace earlier ones.
*/
static int restore_marks (Restoring *c, Source *s, const char *marks,
                       uint32_t size) {
  Bytecode *b = &s->code;
  const Memory *m = c->r->functions.memory;
  uint32_t i;
  memory_free(m, b->active, b->actives);
  b->active = cast(uint8_t *, memory_resize(m, NULL, 0, (size_t)size + 1));
  b->actives = b->lines = b->active ? size + 1 : 0;
  if (b->active == NULL) return reader_nomemory(c->l);
  b->active[0] = 0;
  for (i = 0; i < size; i++) b->active[i + 1] = marks[i] != 0;
  return 1;
}


static int restore_source (Restoring *c, const FileRecord *r) {
  SourceRecord fixed;
  Source *s = restore_getsource(c, r, sizeof fixed);
  if (s == NULL) return 0;
  memcpy(&fixed, record_data(r), sizeof fixed);
  s->changed = (fixed.flags & SOURCE_RECORD_CHANGED) != 0;
  s->state = fixed.flags & SOURCE_RECORD_MIXED ? SOURCE_MIXED : SOURCE_SEEN;
  return restore_marks(c, s, record_data(r) + sizeof fixed,
                    r->size - (uint32_t)sizeof fixed);
}


static int restore_content (Restoring *c, const FileRecord *r) {
  Source *s = restore_getsource(c, r, sizeof(ContentRecord));
  size_t size;
  if (s == NULL) return 0;
  if (s->content != NULL) return reader_fail(c->l, "two texts of a source");
  size = r->size - sizeof(ContentRecord);
  s->content = memory_new(c->r->functions.memory, char, size + 1);
  if (s->content == NULL) return reader_nomemory(c->l);
  memcpy(s->content, record_data(r) + sizeof(ContentRecord), size);
  s->size = size;
  return 1;
}


/* Makes room for the source of each text. */
static int restore_room (Restoring *c) {
  uint32_t texts = c->r->functions.text.strings.count;
  c->source = memory_newzeroed(c->r->functions.memory, uint32_t, texts);
  if (c->source == NULL) return reader_nomemory(c->l);
  c->texts = texts;
  return 1;
}


int restore_code (Restoring *c) {
  return restore_records(c, RECORD_TEXT, restore_text) &&
         restore_records(c, RECORD_FUNCTION, restore_function) &&
         restore_room(c) &&
         restore_records(c, RECORD_SOURCE, restore_source) &&
         restore_records(c, RECORD_CONTENT, restore_content);
}

/* }====================================================== */


/* {======================================================
** Lines
** ======================================================= */

/*
** Notes a line of the source with this text. 0: the line is impossible. High
** line numbers cost memory, so all sources together must not have more lines
** than the file has bytes.
*/
static int restore_noteline (Restoring *c, uint32_t text, uint32_t line) {
  uint32_t source = c->source[text];
  if (source != 0 && c->highest[source] < line) c->highest[source] = line;
  return line <= c->l->size;
}


/* The Lua function that owns a block of counters; NULL: damaged. */
static Function *restore_luafunction (const Restoring *c, const FileBlock *b) {
  Functions *fs = &c->r->functions;
  Function *f = b->owner < fs->list.count ? functions_at(fs, b->owner) : NULL;
  if (f != NULL && f->kind != FUNCTION_LUA && f->kind != FUNCTION_MAIN)
    f = NULL;
  return f;
}


/* Restores the counters of a function's lines. */
static int restore_linecounters (Restoring *c, const FileBlock *b) {
  Function *f = restore_luafunction(c, b);
  uint32_t i;
  if (f == NULL) return reader_fail(c->l, "function of lines");
  f->lines.memory = c->h->memory != 0;
  if (f->lines.list != NULL ||
      b->used > block_room(b) / lines_size(1, f->lines.memory))
    return reader_fail(c->l, "number of lines");
  f->lines.list = (Line *)(void *)restore_bytes(c, b);
  f->lines.count = b->used;
  for (i = 0; i < b->used; i++) {
    const Line *line = &f->lines.list[i];
    const LineAllocated *a = lines_allocated(&f->lines, i);
    if (line->hits == 0 && line->self == 0 &&
        (a == NULL || a->all.count == 0))
      continue;
    if (line->line < 1 || !restore_noteline(c, f->source, (uint32_t)line->line))
      return reader_fail(c->l, "number of a line");
  }
  return 1;
}


/* Restores the counters of a function's instructions. */
static int restore_instructions (Restoring *c, const FileBlock *b) {
  Instructions *x;
  Function *f = restore_luafunction(c, b);
  uint32_t i;
  if (f == NULL) return reader_fail(c->l, "function of instructions");
  x = &f->instructions;
  x->memory = c->h->memory != 0;
  if (x->list != NULL || b->used == 0 ||
      b->used > block_room(b) / instructions_size(1, x->memory))
    return reader_fail(c->l, "number of instructions");
  x->list = (Instruction *)(void *)restore_bytes(c, b);
  x->count = b->used;
  for (i = 0; i < x->count; i++) {
    const Instruction *n = &x->list[i];
    if (n->line < 0 || !restore_noteline(c, f->source, (uint32_t)n->line))
      return reader_fail(c->l, "line of an instruction");
  }
  return 1;
}


/* Checks the lines of call sites. */
static int restore_checkcalllines (Restoring *c) {
  const Tree *t = &c->r->tree;
  const Memory *m = c->r->functions.memory;
  uint32_t count = t->nodes.count, i, ok = 1;
  uint32_t *text = memory_new(m, uint32_t, count);
  if (text == NULL) return reader_nomemory(c->l);
  for (i = 0; i < count && ok; i++) {  /* sources in which nodes make calls */
    const Node *n = tree_node(t, i);
    const Function *f = functions_at(&c->r->functions, n->func);
    uint32_t caller = text[n->parent];
    text[i] = f->kind == FUNCTION_ZONE && i > 0 ? caller : f->source;
    if (i > 0 && c->source[caller] != 0)
      ok = (uint32_t)restore_noteline(c, caller, n->call_line);
  }
  memory_free(m, text, count * sizeof *text);
  return ok ? 1 : reader_fail(c->l, "line of a call");
}


int restore_lines (Restoring *c) {
  const Functions *fs = &c->r->functions;
  uint64_t lines = 0;
  uint32_t count = fs->sources.count, i;
  c->highest = memory_newzeroed(fs->memory, uint32_t, count);
  if (c->highest == NULL) return reader_nomemory(c->l);
  c->sources = count;
  if (!restore_each(c, BLOCK_LINES, restore_linecounters) ||
      !restore_each(c, BLOCK_INSTRUCTIONS, restore_instructions))
    return 0;
  if (count > 1 && !restore_checkcalllines(c)) return 0;
  for (i = 1; i < count; i++) lines += c->highest[i];
  return lines <= c->l->size || reader_fail(c->l, "number of lines");
}

/* }====================================================== */

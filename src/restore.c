/*
** See restore.h
*/

#include "restore.h"

#include <string.h>


/* what is being read, while it is */
typedef struct Restoring {
  Loaded *l;
  const FormatHeader *h;
  Recording *r;
  uint32_t chunks;	/* blocks of nodes */
  uint64_t linesself;	/* sums, which must not overflow */
  uint64_t hits;
  uint32_t *source;	/* of each text: index of the source; 0: none */
  uint32_t *highest;	/* of each source: its highest line */
  uint32_t texts, sources;	/* that these have room for */
} Restoring;


static int restore_fail (Restoring *c, const char *what) {
  return reader_fail(c->l, what);
}


/* {======================================================
** Texts, functions, sources
** ======================================================= */

static int restore_texts (Restoring *c) {
  RecordCursor at = {NULL, NULL};
  const FileRecord *r;
  while ((r = reader_next(c->l, &at, RECORD_TEXT)) != NULL) {
    uint32_t *id = cast(uint32_t *, chunks_add(&c->l->texts));
    if (id == NULL) return reader_nomemory(c->l);
    *id = text_add(&c->r->functions.text, record_data(r), r->size);
    if (*id == TEXT_FAILED) return reader_nomemory(c->l);
  }
  return 1;
}


static int restore_function (Restoring *c, const FunctionRecord *r) {
  Functions *fs = &c->r->functions;
  Function *f = cast(Function *, chunks_add(&fs->list));
  if (f == NULL) return reader_nomemory(c->l);
  f->id = fs->list.count - 1;
  f->key = (uintptr_t)r->key;
  f->source = reader_textid(c->l, r->source);
  f->name = reader_textid(c->l, r->name);
  f->how = reader_textid(c->l, r->how);
  f->tag = reader_textid(c->l, r->tag);
  f->line = r->line;
  f->last = r->last;
  f->ordinal = r->ordinal;
  f->cost = r->cost;
  if (r->kind > FUNCTION_ZONE) return restore_fail(c, "kind of a function");
  f->kind = (uint8_t)r->kind;
  f->marks = r->marks & FUNCTION_COROUTINES;
  if (f->source == TEXT_FAILED || f->name == TEXT_FAILED ||
      f->how == TEXT_FAILED || f->tag == TEXT_FAILED)
    return restore_fail(c, "text of a function");
  return 1;
}


static int restore_functions (Restoring *c) {
  RecordCursor at = {NULL, NULL};
  const FileRecord *r;
  while ((r = reader_next(c->l, &at, RECORD_FUNCTION)) != NULL) {
    FunctionRecord f;
    if (r->size != sizeof f) return restore_fail(c, "size of a function");
    memcpy(&f, record_data(r), sizeof f);
    if (!restore_function(c, &f)) return 0;
  }
  return 1;
}


/* the source with this text, made if need be; NULL: it is not to be */
static Source *restore_getsource (Restoring *c, uint32_t number) {
  Functions *fs = &c->r->functions;
  uint32_t text = reader_textid(c->l, number);
  Source *s;
  if (text == TEXT_FAILED) {
    restore_fail(c, "text of a source");
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


static int restore_copy (Restoring *c, void **to, const char *s, size_t size) {
  if (size == 0) return 1;
  *to = memory_resize(c->r->functions.memory, NULL, 0, size);
  if (*to == NULL) return reader_nomemory(c->l);
  memcpy(*to, s, size);
  return 1;
}


/* lines count from 1; marks that come later are those that count */
static int restore_marks (Restoring *c, Source *s, const char *marks,
                       uint32_t size) {
  Definitions *d = &s->defines;
  const Memory *m = c->r->functions.memory;
  uint32_t i;
  memory_free(m, d->active, d->actives);
  d->active = cast(uint8_t *, memory_resize(m, NULL, 0, (size_t)size + 1));
  d->actives = d->lines = d->active ? size + 1 : 0;
  if (d->active == NULL) return reader_nomemory(c->l);
  d->active[0] = 0;
  for (i = 0; i < size; i++) d->active[i + 1] = marks[i] != 0;
  return 1;
}


static int restore_source (Restoring *c, const FileRecord *r) {
  SourceRecord fixed;
  Source *s;
  if (r->size < sizeof fixed) return restore_fail(c, "size of a source");
  memcpy(&fixed, record_data(r), sizeof fixed);
  s = restore_getsource(c, fixed.source);
  if (s == NULL) return 0;
  s->changed = (fixed.flags & SOURCE_RECORD_CHANGED) != 0;
  s->state = fixed.flags & SOURCE_RECORD_MIXED ? SOURCE_MIXED : SOURCE_SEEN;
  return restore_marks(c, s, record_data(r) + sizeof fixed,
                    r->size - (uint32_t)sizeof fixed);
}


static int restore_content (Restoring *c, const FileRecord *r) {
  ContentRecord fixed;
  void *content = NULL;
  Source *s;
  if (r->size < sizeof fixed) return restore_fail(c, "size of a text");
  memcpy(&fixed, record_data(r), sizeof fixed);
  s = restore_getsource(c, fixed.source);
  if (s == NULL) return 0;
  if (s->content != NULL) return restore_fail(c, "two texts of a source");
  s->size = r->size - sizeof fixed;
  if (!restore_copy(c, &content, record_data(r) + sizeof fixed, s->size))
    return 0;
  s->content = cast(char *, content);
  return 1;
}


static int restore_sources (Restoring *c) {
  const Memory *m = c->r->functions.memory;
  uint32_t texts = c->r->functions.text.strings.count;
  RecordCursor at = {NULL, NULL}, contents = {NULL, NULL};
  const FileRecord *r;
  c->source = memory_new(m, uint32_t, texts);
  if (c->source == NULL) return reader_nomemory(c->l);
  c->texts = texts;
  memset(c->source, 0, texts * sizeof *c->source);
  while ((r = reader_next(c->l, &at, RECORD_SOURCE)) != NULL)
    if (!restore_source(c, r)) return 0;
  while ((r = reader_next(c->l, &contents, RECORD_CONTENT)) != NULL)
    if (!restore_content(c, r)) return 0;
  return 1;
}

/* }====================================================== */


/* {======================================================
** Lines
** ======================================================= */

/*
** A line beyond the end of its source would be room for as many: all
** sources together have no more lines than the file has bytes.
*/
static int restore_within (Restoring *c, uint32_t text, uint32_t line) {
  uint32_t source = c->source[text];
  if (source != 0 && c->highest[source] < line) c->highest[source] = line;
  return line <= c->l->size;
}


static int restore_counters (Restoring *c, const FileBlock *b) {
  Function *f;
  uint32_t i;
  if (b->owner >= c->r->functions.list.count)
    return restore_fail(c, "function of lines");
  f = functions_at(&c->r->functions, b->owner);
  if (f->lines.list != NULL || b->used > block_room(b) / sizeof(Line))
    return restore_fail(c, "number of lines");
  f->lines.list = (Line *)(void *)(c->l->bytes +
                                   (block_bytes(b) - c->l->bytes));
  f->lines.count = b->used;
  for (i = 0; i < b->used; i++) {
    const Line *line = &f->lines.list[i];
    if (line->hits == 0 && line->self == 0) continue;
    if (line->line < 1 || !restore_within(c, f->source, (uint32_t)line->line))
      return restore_fail(c, "number of a line");
    if (line->hits > INT64_MAX - c->hits ||
        line->self > INT64_MAX - c->linesself)
      return restore_fail(c, "figures of a line");
    c->hits += line->hits;
    c->linesself += line->self;
  }
  return 1;
}


/* the lines that calls were made from */
static int restore_checkcalllines (Restoring *c) {
  const Tree *t = &c->r->tree;
  const Memory *m = c->r->functions.memory;
  uint32_t count = t->nodes.count, i, ok = 1;
  uint32_t *text = memory_new(m, uint32_t, count);
  if (text == NULL) return reader_nomemory(c->l);
  for (i = 0; i < count && ok; i++) {  /* texts of those that call */
    const Node *n = tree_node(t, i);
    const Function *f = functions_at(&c->r->functions, n->func);
    uint32_t caller = text[n->parent];
    text[i] = f->kind == FUNCTION_ZONE && i > 0 ? caller : f->source;
    if (i > 0 && c->source[caller] != 0)
      ok = (uint32_t)restore_within(c, caller, n->call_line);
  }
  memory_free(m, text, count * sizeof *text);
  return ok ? 1 : restore_fail(c, "line of a call");
}


static int restore_lines (Restoring *c) {
  const FileBlock *b = block_first(c->l);
  const Functions *fs = &c->r->functions;
  uint64_t lines = 0;
  uint32_t count = fs->sources.count, i;
  c->highest = cast(uint32_t *, memory_resize(fs->memory, NULL, 0,
                             count * sizeof *c->highest));
  if (c->highest == NULL) return reader_nomemory(c->l);
  c->sources = count;
  memset(c->highest, 0, count * sizeof *c->highest);
  for (; b < block_end(c->l); b = block_after(b))
    if (b->kind == BLOCK_LINES && !restore_counters(c, b)) return 0;
  if (count > 1 && !restore_checkcalllines(c)) return 0;
  for (i = 1; i < count; i++) lines += c->highest[i];
  return lines <= c->l->size || restore_fail(c, "number of lines");
}

/* }====================================================== */


/* {======================================================
** Nodes
** ======================================================= */

/* a chunk stays where it is, in what was read */
static int restore_chunk (Restoring *c, Chunks *to, const FileBlock *b,
                          size_t bytes) {
  void *array = to->chunk;
  if (b->owner != to->chunks || block_room(b) != bytes)
    return restore_fail(c, "block of a chunk");
  if (!memory_grow(to->memory, &array, &to->capacity, to->chunks,
                   sizeof *to->chunk))
    return reader_nomemory(c->l);
  to->chunk = cast(char* *, array);
  to->chunk[to->chunks++] = c->l->bytes + (block_bytes(b) - c->l->bytes);
  return 1;
}


static int restore_chunks (Restoring *c) {
  Chunks *nodes = &c->r->tree.nodes;
  const FileBlock *b = block_first(c->l);
  size_t bytes = sizeof(Node) << NODES_SHIFT;
  for (; b < block_end(c->l); b = block_after(b)) {
    if (b->kind == BLOCK_NODES && !restore_chunk(c, nodes, b, bytes))
      return 0;
  }
  if ((c->h->nodes - 1) >> NODES_SHIFT >= nodes->chunks)
    return restore_fail(c, "number of nodes");
  nodes->count = c->h->nodes;
  return 1;
}


/* tolls stay where they are, too */
static int restore_tolls (Restoring *c) {
  Chunks *tolls = &c->r->tolls;
  const FileBlock *b = block_first(c->l);
  for (; b < block_end(c->l); b = block_after(b)) {
    if (b->kind != BLOCK_TOLLS) continue;
    if (!restore_chunk(c, tolls, b, sizeof(Toll) << TOLLS_SHIFT)) return 0;
    tolls->count = tolls->chunks << TOLLS_SHIFT;
  }
  return 1;
}


/* do all ticks fit into ns? */
static int restore_checkticks (const Restoring *c, uint64_t ticks) {
  uint64_t factor = c->h->scale & UINT32_MAX, shift = c->h->scale >> 32;
  if (ticks > INT64_MAX || shift > 32) return 0;
  return factor == 0 || ticks >> shift < INT64_MAX / factor;
}


static int restore_checknode (Restoring *c, uint32_t i, const Node *n) {
  if (n->id != i || (i == 0 ? n->parent != 0 : n->parent >= i))
    return restore_fail(c, "caller of a node");
  if (n->func >= c->r->functions.list.count)
    return restore_fail(c, "function of a node");
  if (i > 0 && c->h->own != 0 && n->parent == c->h->own)
    return restore_fail(c, "a node under the profiler's own");
  return 1;
}


static int restore_nodes (Restoring *c) {
  const Tree *t = &c->r->tree;
  uint64_t ticks = 0, calls = 0;
  uint32_t i;
  if (!restore_chunks(c)) return 0;
  if (c->h->own >= c->h->nodes ||
      (c->h->own == 0 && *c->h->uncompensated == 0))
    return restore_fail(c, "the profiler's node");
  for (i = 0; i < c->h->nodes; i++) {
    const Node *n = tree_node(t, i);
    if (!restore_checknode(c, i, n)) return 0;
    if (n->calls > INT64_MAX - calls || n->self > INT64_MAX - ticks)
      return restore_fail(c, "figures of a node");
    calls += n->calls;
    ticks += n->self;
  }
  if (c->h->figures.paused > INT64_MAX ||
      !restore_checkticks(c, ticks + c->h->figures.paused))
    return restore_fail(c, "time");
  return 1;
}

/* }====================================================== */


/* {======================================================
** The whole
** ======================================================= */

static void restore_figures (Restoring *c) {
  const FormatHeader *h = c->h;
  Loaded *l = c->l;
  Recording *r = c->r;
  r->options.lines = h->mode == FORMAT_LINES;
  r->options.trace = h->mode == FORMAT_TRACE;
  r->options.fold = h->fold != 0;
  r->costs = h->costs;
  r->clock.kind = h->clock <= CLOCK_HOST ? (ClockKind)h->clock : CLOCK_TICKS;
  r->clock.scale.factor = h->scale & UINT32_MAX;
  r->clock.scale.shift = (unsigned)(h->scale >> 32);
  l->live = l->live && h->state == FORMAT_LIVE;
  r->started_at = h->started_at;
  r->pid = h->pid;
  r->own_figures = h->figures;
  l->hot.events = h->events;
  l->hot.backwards = h->backwards;
  l->hot.recording = h->counted ? r : NULL;
  r->tree.root = tree_node(&r->tree, 0);
  r->tree.cprof = &l->nobody;
  if (h->own != 0) r->tree.cprof = tree_node(&r->tree, h->own);
}


static void restore_ended (Restoring *c) {
  FormatHeader *h = (FormatHeader *)(void *)c->l->bytes;
  char *ended = h->ended, *why = h->uncompensated;
  why[sizeof c->h->uncompensated - 1] = 0;
  c->r->uncompensated = *why != 0 ? why : NULL;
  ended[sizeof c->h->ended - 1] = 0;
  if (*ended != 0) c->r->ended = ended;
  else if (c->h->state == FORMAT_LIVE && !c->l->live)
    c->r->ended = "the program ended without stopping it";
}


/* nodes and lines lie in what was read, and are not to be freed */
static const Pages restore_pages = {NULL, NULL, NULL};

int restore (Loaded *l) {
  Restoring c = ZEROS;
  const Memory *m = &l->recording.memory;
  int ok;
  c.l = l;
  c.r = &l->recording;
  c.h = (const FormatHeader *)(const void *)l->bytes;
  c.r->functions.pages = c.r->tree.nodes.pages = c.r->tolls.pages =
    &restore_pages;
  ok = restore_texts(&c) && restore_functions(&c) && restore_sources(&c) &&
       restore_nodes(&c) && restore_tolls(&c) && restore_lines(&c);
  memory_free(m, c.source, c.texts * sizeof *c.source);
  memory_free(m, c.highest, c.sources * sizeof *c.highest);
  if (ok) {
    restore_figures(&c);
    restore_ended(&c);
  }
  return ok;
}

/* }====================================================== */

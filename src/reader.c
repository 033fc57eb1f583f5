/*
** See reader.h
*/

#define _DEFAULT_SOURCE		/* pread, O_CLOEXEC */
#define _FILE_OFFSET_BITS 64

#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>


/* nodes and lines lie in what was read, and are not to be freed */
static const Pages nowhere = {NULL, NULL, NULL};


/* what is being read, while it is */
typedef struct Check {
  Loaded *l;
  const FormatHeader *h;
  Recording *r;
  uint32_t chunks;	/* blocks of nodes */
  uint64_t linesself;	/* sums, which must not overflow */
  uint64_t hits;
  uint32_t *source;	/* of each text: index of the source; 0: none */
  uint32_t *highest;	/* of each source: its highest line */
  uint32_t texts, sources;	/* that these have room for */
} Check;


static int check_fail (Check *c, const char *what) {
  snprintf(c->l->why, sizeof c->l->why, "damaged: %s", what);
  return 0;
}


static int check_nomemory (Check *c) {
  snprintf(c->l->why, sizeof c->l->why, "out of memory");
  return 0;
}


/* {======================================================
** The header
** ======================================================= */

static int header_ours (const FormatHeader *h) {
  static const uint32_t sizes[] = {
    sizeof(FormatHeader), sizeof(Block), sizeof(Node), sizeof(Line)
  };
  return memcmp(h->sizes, sizes, sizeof sizes) == 0;
}


static int header_check (const FormatHeader *h, char *why, size_t room) {
  if (memcmp(h->magic, FORMAT_MAGIC, sizeof h->magic) != 0)
    snprintf(why, room, "not a profile");
  else if (h->order != FORMAT_ORDER)
    snprintf(why, room, "written on a machine with another byte order");
  else if (h->version != FORMAT_VERSION)
    snprintf(why, room, "its format is version %u; this cprof reads "
             "version %u", (unsigned)h->version, FORMAT_VERSION);
  else if (!header_ours(h))
    snprintf(why, room, "damaged: sizes in the header");
  else if (h->state > FORMAT_ENDED)
    snprintf(why, room, "damaged: state");
  else if (h->state == FORMAT_EMPTY || h->nodes == 0)
    snprintf(why, room, "nothing was recorded in it yet");
  else
    return 1;
  return 0;
}


static uint64_t header_size (const FormatHeader *h) {
  return (uint64_t)h->units * FORMAT_UNIT;
}

/* }====================================================== */


/* {======================================================
** Blocks and records: these stay within their bounds
** ======================================================= */

static const Block *block_first (const Loaded *l) {
  return (const Block *)(const void *)(l->bytes + FORMAT_BLOCKS);
}


static const Block *block_after (const Block *b) {
  return b + b->units;  /* a unit is as large as this */
}


static const Block *block_end (const Loaded *l) {
  return (const Block *)(const void *)(l->bytes + l->size);
}


static const char *block_bytes (const Block *b) {
  return (const char *)(b + 1);
}


static size_t block_room (const Block *b) {
  return (size_t)(b->units - 1) * FORMAT_UNIT;
}


static const Record *record_after (const Record *r) {
  return (const Record *)(const void *)((const char *)(r + 1) +
                                        record_padded(r->size));
}


static const char *record_data (const Record *r) {
  return (const char *)(r + 1);
}


static int check_records (Check *c, const Block *b) {
  size_t at = 0;
  if (b->used > block_room(b)) return check_fail(c, "size of the journal");
  while (at < b->used) {
    const Record *r = (const Record *)(const void *)(block_bytes(b) + at);
    if (b->used - at < sizeof *r ||
        b->used - at - sizeof *r < record_padded(r->size))
      return check_fail(c, "size of a record");
    at += sizeof *r + record_padded(r->size);
  }
  return 1;
}


static int check_blocks (Check *c) {
  const Loaded *l = c->l;
  const Block *b = block_first(l), *end = block_end(l);
  for (; b < end; b = block_after(b)) {
    if (b->units == 0 || b->units > (size_t)(end - b))
      return check_fail(c, "size of a block");
    if (b->kind < BLOCK_NODES || b->kind > BLOCK_JOURNAL)
      return check_fail(c, "kind of a block");
    if (b->kind == BLOCK_JOURNAL && !check_records(c, b)) return 0;
  }
  return 1;
}


/* the first record of a kind at 'r' or later in its block, or after it */
static const Record *record_seek (const Loaded *l, const Block *b,
                                  const Record *r, uint32_t kind) {
  for (;;) {
    const char *end = block_bytes(b) + b->used;
    if (b->kind == BLOCK_JOURNAL)
      for (; (const char *)r < end; r = record_after(r))
        if (r->kind == kind) return r;
    b = block_after(b);
    if (b >= block_end(l)) return NULL;
    r = (const Record *)(const void *)block_bytes(b);
  }
}


const Record *reader_next (const Loaded *l, const Record *r, uint32_t kind) {
  const Block *b = block_first(l);
  if (b >= block_end(l)) return NULL;
  if (r == NULL) r = (const Record *)(const void *)block_bytes(b);
  else {
    while ((const char *)r >= (const char *)block_after(b))
      b = block_after(b);
    r = record_after(r);
  }
  return record_seek(l, b, r, kind);
}

/* }====================================================== */


/* {======================================================
** Texts, functions, sources
** ======================================================= */

/* the id of a text by its number in the file; TEXT_FAILED: there is none */
static uint32_t load_text (const Loaded *l, uint32_t number) {
  const uint32_t *id;
  if (number == 0) return 0;
  if (number > l->texts.count) return TEXT_FAILED;
  id = chunks_at(&l->texts, number - 1);
  return *id;
}


const char *reader_text (const Loaded *l, uint32_t number, size_t *length) {
  uint32_t id = load_text(l, number);
  return text_get(&l->recording.functions.text,
                  id == TEXT_FAILED ? 0 : id, length);
}


static int load_texts (Check *c) {
  const Record *r = NULL;
  while ((r = reader_next(c->l, r, RECORD_TEXT)) != NULL) {
    uint32_t *id = chunks_add(&c->l->texts);
    if (id == NULL) return check_nomemory(c);
    *id = text_add(&c->r->functions.text, record_data(r), r->size);
    if (*id == TEXT_FAILED) return check_nomemory(c);
  }
  return 1;
}


static int load_function (Check *c, const FunctionRecord *r) {
  Functions *fs = &c->r->functions;
  Function *f = chunks_add(&fs->list);
  if (f == NULL) return check_nomemory(c);
  f->id = fs->list.count - 1;
  f->key = (uintptr_t)r->key;
  f->source = load_text(c->l, r->source);
  f->name = load_text(c->l, r->name);
  f->how = load_text(c->l, r->how);
  f->tag = load_text(c->l, r->tag);
  f->line = r->line;
  f->last = r->last;
  f->ordinal = r->ordinal;
  if (r->kind > FUNCTION_ZONE) return check_fail(c, "kind of a function");
  f->kind = (uint8_t)r->kind;
  if (f->source == TEXT_FAILED || f->name == TEXT_FAILED ||
      f->how == TEXT_FAILED || f->tag == TEXT_FAILED)
    return check_fail(c, "text of a function");
  return 1;
}


static int load_functions (Check *c) {
  const Record *r = NULL;
  while ((r = reader_next(c->l, r, RECORD_FUNCTION)) != NULL) {
    FunctionRecord f;
    if (r->size != sizeof f) return check_fail(c, "size of a function");
    memcpy(&f, record_data(r), sizeof f);
    if (!load_function(c, &f)) return 0;
  }
  return 1;
}


/* the source with this text, made if need be; NULL: it is not to be */
static Source *load_getsource (Check *c, uint32_t number) {
  Functions *fs = &c->r->functions;
  uint32_t text = load_text(c->l, number);
  Source *s;
  if (text == TEXT_FAILED) {
    check_fail(c, "text of a source");
    return NULL;
  }
  if (c->source[text] != 0) return functions_source(fs, c->source[text]);
  s = chunks_add(&fs->sources);
  if (s == NULL) {
    check_nomemory(c);
    return NULL;
  }
  s->text = text;
  s->lines = 1;
  c->source[text] = fs->sources.count - 1;
  return s;
}


static int load_copy (Check *c, void **to, const char *s, size_t size) {
  if (size == 0) return 1;
  *to = memory_resize(c->r->functions.memory, NULL, 0, size);
  if (*to == NULL) return check_nomemory(c);
  memcpy(*to, s, size);
  return 1;
}


/* lines count from 1; marks that come later are those that count */
static int load_marks (Check *c, Source *s, const char *marks,
                       uint32_t size) {
  Definitions *d = &s->defines;
  const Memory *m = c->r->functions.memory;
  uint32_t i;
  memory_free(m, d->active, d->actives);
  d->active = memory_resize(m, NULL, 0, (size_t)size + 1);
  d->actives = d->lines = d->active ? size + 1 : 0;
  if (d->active == NULL) return check_nomemory(c);
  d->active[0] = 0;
  for (i = 0; i < size; i++) d->active[i + 1] = marks[i] != 0;
  return 1;
}


static int load_source (Check *c, const Record *r) {
  SourceRecord fixed;
  Source *s;
  if (r->size < sizeof fixed) return check_fail(c, "size of a source");
  memcpy(&fixed, record_data(r), sizeof fixed);
  s = load_getsource(c, fixed.source);
  if (s == NULL) return 0;
  s->changed = (fixed.flags & SOURCE_RECORD_CHANGED) != 0;
  s->state = fixed.flags & SOURCE_RECORD_MIXED ? SOURCE_MIXED : SOURCE_SEEN;
  return load_marks(c, s, record_data(r) + sizeof fixed,
                    r->size - (uint32_t)sizeof fixed);
}


static int load_content (Check *c, const Record *r) {
  ContentRecord fixed;
  void *content = NULL;
  Source *s;
  if (r->size < sizeof fixed) return check_fail(c, "size of a text");
  memcpy(&fixed, record_data(r), sizeof fixed);
  s = load_getsource(c, fixed.source);
  if (s == NULL) return 0;
  if (s->content != NULL) return check_fail(c, "two texts of a source");
  s->size = r->size - sizeof fixed;
  if (!load_copy(c, &content, record_data(r) + sizeof fixed, s->size))
    return 0;
  s->content = content;
  return 1;
}


static int load_sources (Check *c) {
  const Memory *m = c->r->functions.memory;
  uint32_t texts = c->r->functions.text.strings.count;
  const Record *r = NULL;
  c->source = memory_resize(m, NULL, 0, texts * sizeof *c->source);
  if (c->source == NULL) return check_nomemory(c);
  c->texts = texts;
  memset(c->source, 0, texts * sizeof *c->source);
  while ((r = reader_next(c->l, r, RECORD_SOURCE)) != NULL)
    if (!load_source(c, r)) return 0;
  while ((r = reader_next(c->l, r, RECORD_CONTENT)) != NULL)
    if (!load_content(c, r)) return 0;
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
static int line_within (Check *c, uint32_t text, uint32_t line) {
  uint32_t source = c->source[text];
  if (source != 0 && c->highest[source] < line) c->highest[source] = line;
  return line <= c->l->size;
}


static int load_counters (Check *c, const Block *b) {
  Function *f;
  uint32_t i;
  if (b->owner >= c->r->functions.list.count)
    return check_fail(c, "function of lines");
  f = functions_at(&c->r->functions, b->owner);
  if (f->lines.list != NULL || b->used > block_room(b) / sizeof(Line))
    return check_fail(c, "number of lines");
  f->lines.list = (Line *)(void *)(c->l->bytes +
                                   (block_bytes(b) - c->l->bytes));
  f->lines.count = b->used;
  for (i = 0; i < b->used; i++) {
    const Line *line = &f->lines.list[i];
    if (line->hits == 0 && line->self == 0) continue;
    if (line->line < 1 || !line_within(c, f->source, (uint32_t)line->line))
      return check_fail(c, "number of a line");
    if (line->hits > INT64_MAX - c->hits ||
        line->self > INT64_MAX - c->linesself)
      return check_fail(c, "figures of a line");
    c->hits += line->hits;
    c->linesself += line->self;
  }
  return 1;
}


/* the lines that calls were made from */
static int check_calllines (Check *c) {
  const Tree *t = &c->r->tree;
  const Memory *m = c->r->functions.memory;
  uint32_t count = t->nodes.count, i, ok = 1;
  uint32_t *text = memory_resize(m, NULL, 0, count * sizeof *text);
  if (text == NULL) return check_nomemory(c);
  for (i = 0; i < count && ok; i++) {  /* texts of those that call */
    const Node *n = tree_node(t, i);
    const Function *f = functions_at(&c->r->functions, n->func);
    uint32_t caller = text[n->parent];
    text[i] = f->kind == FUNCTION_ZONE && i > 0 ? caller : f->source;
    if (i > 0 && c->source[caller] != 0)
      ok = (uint32_t)line_within(c, caller, n->call_line);
  }
  memory_free(m, text, count * sizeof *text);
  return ok ? 1 : check_fail(c, "line of a call");
}


static int load_lines (Check *c) {
  const Block *b = block_first(c->l);
  const Functions *fs = &c->r->functions;
  uint64_t lines = 0;
  uint32_t count = fs->sources.count, i;
  c->highest = memory_resize(fs->memory, NULL, 0,
                             count * sizeof *c->highest);
  if (c->highest == NULL) return check_nomemory(c);
  c->sources = count;
  memset(c->highest, 0, count * sizeof *c->highest);
  for (; b < block_end(c->l); b = block_after(b))
    if (b->kind == BLOCK_LINES && !load_counters(c, b)) return 0;
  if (count > 1 && !check_calllines(c)) return 0;
  for (i = 1; i < count; i++) lines += c->highest[i];
  return lines <= c->l->size || check_fail(c, "number of lines");
}

/* }====================================================== */


/* {======================================================
** Nodes
** ======================================================= */

/* chunks of nodes stay where they are, in what was read */
static int load_chunks (Check *c) {
  Chunks *nodes = &c->r->tree.nodes;
  const Block *b = block_first(c->l);
  size_t bytes = sizeof(Node) << NODES_SHIFT;
  for (; b < block_end(c->l); b = block_after(b)) {
    void *array = nodes->chunk;
    if (b->kind != BLOCK_NODES) continue;
    if (b->owner != nodes->chunks || block_room(b) != bytes)
      return check_fail(c, "block of nodes");
    if (!memory_grow(nodes->memory, &array, &nodes->capacity, nodes->chunks,
                     sizeof *nodes->chunk))
      return check_nomemory(c);
    nodes->chunk = array;
    nodes->chunk[nodes->chunks++] = c->l->bytes +
                                    (block_bytes(b) - c->l->bytes);
  }
  if ((c->h->nodes - 1) >> NODES_SHIFT >= nodes->chunks)
    return check_fail(c, "number of nodes");
  nodes->count = c->h->nodes;
  return 1;
}


/* do all ticks fit into ns? */
static int check_ticks (const Check *c, uint64_t ticks) {
  uint64_t factor = c->h->scale & UINT32_MAX, shift = c->h->scale >> 32;
  if (ticks > INT64_MAX || shift > 32) return 0;
  return factor == 0 || ticks >> shift < INT64_MAX / factor;
}


static int check_node (Check *c, uint32_t i, const Node *n) {
  if (n->id != i || (i == 0 ? n->parent != 0 : n->parent >= i))
    return check_fail(c, "caller of a node");
  if (n->func >= c->r->functions.list.count)
    return check_fail(c, "function of a node");
  if (i > 0 && c->h->own != 0 && n->parent == c->h->own)
    return check_fail(c, "a node under the profiler's own");
  return 1;
}


static int load_nodes (Check *c) {
  const Tree *t = &c->r->tree;
  uint64_t ticks = 0, calls = 0;
  uint32_t i;
  if (!load_chunks(c)) return 0;
  if (c->h->own >= c->h->nodes) return check_fail(c, "the profiler's node");
  for (i = 0; i < c->h->nodes; i++) {
    const Node *n = tree_node(t, i);
    if (!check_node(c, i, n)) return 0;
    if (n->calls > INT64_MAX - calls || n->self > INT64_MAX - ticks)
      return check_fail(c, "figures of a node");
    calls += n->calls;
    ticks += n->self;
  }
  if (c->h->figures.paused > INT64_MAX ||
      !check_ticks(c, ticks + c->h->figures.paused))
    return check_fail(c, "time");
  return 1;
}

/* }====================================================== */


/* {======================================================
** The whole
** ======================================================= */

static void load_figures (Check *c) {
  const FormatHeader *h = c->h;
  Loaded *l = c->l;
  Recording *r = c->r;
  r->options.lines = h->lines != 0;
  r->clock.kind = h->clock == CLOCK_MONO ? CLOCK_MONO
                : h->clock == CLOCK_CPU ? CLOCK_CPU : CLOCK_TICKS;
  r->clock.scale.factor = h->scale & UINT32_MAX;
  r->clock.scale.shift = (unsigned)(h->scale >> 32);
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


static int load_ended (Check *c) {
  char *ended = ((FormatHeader *)(void *)c->l->bytes)->ended;
  ended[sizeof c->h->ended - 1] = 0;
  if (*ended != 0) c->r->ended = ended;
  else if (c->h->state == FORMAT_LIVE && !c->l->live)
    c->r->ended = "the program ended without stopping it";
  return 1;
}


int reader_load (Loaded *l, const Memory *m, char *bytes, size_t size) {
  Check c = {0};
  int ok = recording_blank(&l->recording, m);
  l->nobody.self = 1;  /* so that it is not left out */
  l->nobody.id = UINT32_MAX;
  l->recording.hot = &l->hot;
  l->recording.functions.pages = &nowhere;
  l->recording.tree.nodes.pages = &nowhere;
  chunks_init(&l->texts, &l->recording.memory, sizeof(uint32_t), 6);
  l->bytes = bytes;
  l->size = size;
  c.l = l;
  c.r = &l->recording;
  c.h = (const FormatHeader *)(const void *)bytes;
  if (size < FORMAT_BLOCKS) {
    snprintf(l->why, sizeof l->why, "not a profile");
    return 0;
  }
  if (!header_check(c.h, l->why, sizeof l->why)) return 0;
  if (header_size(c.h) != size) return check_fail(&c, "size");
  if (!ok) return check_nomemory(&c);
  ok = check_blocks(&c) && load_texts(&c) && load_functions(&c) &&
       load_sources(&c) && load_nodes(&c) && load_lines(&c) &&
       load_ended(&c);
  memory_free(m, c.source, c.texts * sizeof *c.source);
  memory_free(m, c.highest, c.sources * sizeof *c.highest);
  if (ok) load_figures(&c);
  return ok;
}


void reader_free (Loaded *l) {
  const Memory *m = &l->recording.memory;
  if (m->alloc == NULL) return;
  chunks_free(&l->texts);
  recording_free(&l->recording);
  memory_free(m, l->bytes, l->size);
  l->bytes = NULL;
}

/* }====================================================== */


/* {======================================================
** From the disk
** ======================================================= */

static int open_fail (Loaded *l, const char *what) {
  snprintf(l->why, sizeof l->why, "%s", what);
  return 0;
}


/* 'size' bytes of the file; less: there are no more */
static size_t open_read (int fd, char *to, size_t size) {
  size_t done = 0;
  while (done < size) {
    ssize_t n = pread(fd, to + done, size - done, (off_t)done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += (size_t)n;
  }
  return done;
}


/*
** All of the file, as it was when its header was read: what was added
** since then is not looked at. NULL: it is not a good one.
*/
static char *open_bytes (Loaded *l, const Memory *m, int fd, size_t *size) {
  FormatHeader h;
  uint64_t whole;
  char *bytes;
  if (open_read(fd, (char *)&h, sizeof h) < sizeof h) {
    open_fail(l, "not a profile");
    return NULL;
  }
  if (!header_check(&h, l->why, sizeof l->why)) return NULL;
  whole = header_size(&h);
  bytes = whole > SIZE_MAX || whole < sizeof h ? NULL
        : memory_resize(m, NULL, 0, (size_t)whole);
  if (bytes == NULL) {
    open_fail(l, "out of memory");
    return NULL;
  }
  *size = open_read(fd, bytes, (size_t)whole);
  if (*size == whole) {
    memcpy(bytes, &h, sizeof h);
    return bytes;
  }
  snprintf(l->why, sizeof l->why, "damaged: cut short, %llu of %llu bytes",
           (unsigned long long)*size, (unsigned long long)whole);
  memory_free(m, bytes, (size_t)whole);
  return NULL;
}


/* was all forgotten while it was read? */
static int open_again (int fd, const char *bytes) {
  FormatHeader h;
  const FormatHeader *was = (const FormatHeader *)(const void *)bytes;
  return open_read(fd, (char *)&h, sizeof h) == sizeof h &&
         h.generation != was->generation;
}


#define OPEN_TRIES	100

static int open_load (Loaded *l, const Memory *m, int fd) {
  struct stat s;
  int i;
  if (fstat(fd, &s) != 0) return open_fail(l, strerror(errno));
  if (!S_ISREG(s.st_mode)) return open_fail(l, "not a regular file");
  for (i = 0; i < OPEN_TRIES; i++) {
    size_t size;
    char *bytes = open_bytes(l, m, fd, &size);
    if (bytes == NULL) return 0;
    if (!open_again(fd, bytes)) {
      l->live = platform_locked(fd);
      return reader_load(l, m, bytes, size);
    }
    memory_free(m, bytes, size);
  }
  return open_fail(l, "it changes too fast to be read");
}


int reader_open (Loaded *l, const Memory *m, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  int ok;
  if (fd < 0) return open_fail(l, strerror(errno));
  ok = open_load(l, m, fd);
  close(fd);
  return ok;
}

/* }====================================================== */

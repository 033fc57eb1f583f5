/*
** See reader.h
*/

#include "file/reader.h"

#include <string.h>

#include "identity/label.h"
#include "profile/possible.h"


/* needed only while a file is restored */
typedef struct Restoring {
  Loaded *l;
  const FormatHeader *h;
  Recording *r;
  uint32_t *source;	/* by id of a text: index of its source; 0: none */
  uint32_t *highest;	/* by index of a source: its highest line */
  uint32_t texts, sources;	/* room in 'source' and 'highest' */
  Chunks *to;		/* where chunks go */
} Restoring;


typedef int (*RestoreBlock) (Restoring *c, const FileBlock *b);

/* Calls 'f' for each block of a kind. 0: 'f' has failed. */
static int restore_each (Restoring *c, BlockKind kind, RestoreBlock f) {
  const FileBlock *b = block_first(c->l);
  for (; b < block_end(c->l); b = block_after(b))
    if (b->kind == (uint32_t)kind && !f(c, b)) return 0;
  return 1;
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


static int restore_function (Restoring *c, const FunctionRecord *r) {
  Functions *fs = &c->r->functions;
  Function *f = cast(Function *, chunks_add(&fs->list));
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


static int restore_functions (Restoring *c) {
  RecordCursor at = {NULL, NULL};
  const FileRecord *r;
  while ((r = reader_next(c->l, &at, RECORD_FUNCTION)) != NULL) {
    FunctionRecord f;
    if (r->size != sizeof f) return reader_fail(c->l, "size of a function");
    memcpy(&f, record_data(r), sizeof f);
    if (!restore_function(c, &f)) return 0;
  }
  return 1;
}


/* The source with this text, made if need be; NULL: damaged, or no memory. */
static Source *restore_getsource (Restoring *c, uint32_t number) {
  Functions *fs = &c->r->functions;
  uint32_t text = reader_textid(c->l, number);
  Source *s;
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
  Source *s;
  if (r->size < sizeof fixed) return reader_fail(c->l, "size of a source");
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
  Source *s;
  size_t size;
  if (r->size < sizeof fixed) return reader_fail(c->l, "size of a text");
  memcpy(&fixed, record_data(r), sizeof fixed);
  s = restore_getsource(c, fixed.source);
  if (s == NULL) return 0;
  if (s->content != NULL) return reader_fail(c->l, "two texts of a source");
  size = r->size - sizeof fixed;
  s->content = memory_new(c->r->functions.memory, char, size + 1);
  if (s->content == NULL) return reader_nomemory(c->l);
  memcpy(s->content, record_data(r) + sizeof fixed, size);
  s->size = size;
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
  f->lines.list = (Line *)(void *)(c->l->bytes +
                                   (block_bytes(b) - c->l->bytes));
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
  x->list = (Instruction *)(void *)(c->l->bytes +
                                    (block_bytes(b) - c->l->bytes));
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


static int restore_lines (Restoring *c) {
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


/* {======================================================
** Nodes
** ======================================================= */

/* Adds a chunk to 'c->to'. It is not copied, but stays in 'bytes' of Loaded. */
static int restore_chunk (Restoring *c, const FileBlock *b) {
  Chunks *to = c->to;
  void *array = to->chunk;
  if (b->owner != to->chunks || block_room(b) != to->size << to->shift)
    return reader_fail(c->l, "block of a chunk");
  if (!memory_grow(to->memory, &array, &to->capacity, to->chunks,
                   sizeof *to->chunk))
    return reader_nomemory(c->l);
  to->chunk = cast(char **, array);
  to->chunk[to->chunks++] = c->l->bytes + (block_bytes(b) - c->l->bytes);
  return 1;
}


/* Restores all chunks of a kind, which hold something for each node. */
static int restore_chunks (Restoring *c, BlockKind kind, Chunks *to) {
  c->to = to;
  if (!restore_each(c, kind, restore_chunk)) return 0;
  if ((c->h->nodes - 1) >> NODES_SHIFT >= to->chunks)
    return reader_fail(c->l, "number of nodes");
  to->count = c->h->nodes;
  return 1;
}


/* Is 'n', one of the first two nodes, as it has to be? */
static int restore_checkfirst (const Restoring *c, uint32_t i,
                               const Node *n) {
  static const uint32_t func[] = {FUNC_ROOT, FUNC_OVERHEAD};
  static const uint8_t kind[] = {FUNCTION_ROOT, FUNCTION_INTERNAL};
  return n->func == func[i] && n->call_line == 0 &&
         functions_at(&c->r->functions, n->func)->kind == kind[i];
}


static int restore_checknode (Restoring *c, uint32_t i, const Node *n) {
  if (n->id != i || (i == 0 ? n->parent != 0 : n->parent >= i))
    return reader_fail(c->l, "caller of a node");
  if (n->func >= c->r->functions.list.count)
    return reader_fail(c->l, "function of a node");
  if (i <= NODE_OVERHEAD && !restore_checkfirst(c, i, n))
    return reader_fail(c->l, "function of the first nodes");
  if (i > 0 && n->parent == NODE_OVERHEAD)
    return reader_fail(c->l, "a callee of overhead");
  if (i > NODE_OVERHEAD && n->func == FUNC_OVERHEAD)
    return reader_fail(c->l, "overhead in a second node");
  if (n->event > LABEL_EVENTS) return reader_fail(c->l, "metamethod");
  return 1;
}


/* Restores what was allocated in nodes, and in functions by kind. */
static int restore_allocated (Restoring *c) {
  Tree *t = &c->r->tree;
  uint32_t i;
  if (!c->h->memory) return 1;
  if (!restore_chunks(c, BLOCK_ALLOCATED, &t->allocated)) return 0;
  c->to = &t->kinds;
  if (!restore_each(c, BLOCK_KINDS, restore_chunk)) return 0;
  t->kinds.count = t->kinds.chunks << KINDS_SHIFT;
  for (i = 0; i < t->nodes.count; i++)
    if (tree_node(t, i)->func >= t->kinds.count)
      return reader_fail(c->l, "allocations of a node");
  t->memory = 1;
  return 1;
}


/*
** Drops nodes that the header does not know yet: in a file that is still
** written, durations may be newer than the header.
*/
static void restore_newslowest (const Restoring *c, Durations *d) {
  int k;
  for (k = 0; k < DURATIONS_SLOWEST; k++)
    if (d->slowest[k].node >= c->r->tree.nodes.count) d->slowest[k].node = 0;
}


/* Restores how long calls of functions took. */
static int restore_durations (Restoring *c) {
  Tree *t = &c->r->tree;
  uint32_t i;
  if (!c->h->distribution) return 1;
  c->to = &t->durations;
  if (!restore_each(c, BLOCK_DURATIONS, restore_chunk)) return 0;
  t->durations.count = t->durations.chunks << DURATIONS_SHIFT;
  for (i = 0; i < t->nodes.count; i++)
    if (tree_node(t, i)->func >= t->durations.count)
      return reader_fail(c->l, "durations of a function");
  for (i = 0; c->h->state != FORMAT_ENDED && i < t->durations.count; i++)
    restore_newslowest(c, tree_durations(t, i));
  t->distribution = 1;
  return 1;
}


static void restore_newtasks (Restoring *c) {
  Tasks *t = &c->r->tasks;
  uint32_t nodes = c->r->tree.nodes.count, i;
  for (i = 1; i < t->list.count; i++)
    restore_newslowest(c, &tasks_at(t, i)->slices);
  for (i = 1; i < t->pauses.count; i++) {
    const TaskPause *x = tasks_pauseat(t, i);
    if (x->task >= t->list.count || x->node >= nodes) t->pauses.count = i;
  }
}


static int restore_checktasks (Restoring *c) {
  const Tasks *t = &c->r->tasks;
  uint32_t functions = c->r->functions.list.count, i;
  for (i = 1; i < t->list.count; i++) {
    const TaskKind *k = &tasks_at(t, i)->is;
    if (k->func >= functions || k->maker >= functions ||
        k->outer >= functions || k->line > c->l->size ||
        k->outer_line > c->l->size)
      return reader_fail(c->l, "function of a task");
  }
  for (i = 1; i < t->pauses.count; i++) {
    const TaskPause *x = tasks_pauseat(t, i);
    if (x->task == 0 || x->task >= t->list.count ||
        x->node >= c->r->tree.nodes.count)
      return reader_fail(c->l, "place where a task was suspended");
  }
  return 1;
}


/* Restores all chunks of a kind, which have 'count' items. */
static int restore_counted (Restoring *c, BlockKind kind, Chunks *to,
                            uint32_t count, const char *what) {
  c->to = to;
  if (!restore_each(c, kind, restore_chunk)) return 0;
  if (count > (uint64_t)to->chunks << to->shift)
    return reader_fail(c->l, what);
  to->count = count;
  return 1;
}


/* Restores what coroutines did. */
static int restore_tasks (Restoring *c) {
  static const char tasks[] = "number of tasks";
  Tasks *t = &c->r->tasks;
  if (!c->h->istasks) return 1;
  t->on = 1;
  if (!restore_counted(c, BLOCK_TASKS, &t->list, c->h->tasks, tasks) ||
      !restore_counted(c, BLOCK_PAUSES, &t->pauses, c->h->pauses, tasks))
    return 0;
  if (c->h->state != FORMAT_ENDED) restore_newtasks(c);
  return restore_checktasks(c);
}


/* Do all nodes of a frame exist, which may be 'most' at most? */
static int restore_hasnodes (const Loops *l, const WorstFrame *p,
                             uint32_t most) {
  return p->nodes <= most && p->first <= l->nodes.count &&
         p->nodes <= l->nodes.count - p->first;
}


/*
** A frame that was written while the file was read may be half new. If the
** times of its nodes do not add up to its own, they belong to another frame.
*/
static void restore_newworst (const Loops *l, WorstFrame *p, uint32_t nodes,
                              uint32_t most) {
  uint64_t sum = 0;
  uint32_t i;
  if (!restore_hasnodes(l, p, most)) p->nodes = 0;
  for (i = 0; i < p->nodes; i++) {
    const FrameNode *n = loops_node(l, p->first + i);
    sum += n->self;
    if (n->node >= nodes) break;
  }
  if (i < p->nodes || sum != p->is.ticks) p->nodes = 0;
}


static int restore_ismark (const Loops *l, const LoopMark *m) {
  return m->loop < l->list.count && m->own <= m->ticks;
}


/* Drops frames of a live file that are newer than its header. */
static void restore_newloops (Restoring *c) {
  Loops *l = &c->r->loops;
  uint32_t left = l->nodes.count, i;
  for (i = 0; i < l->list.count; i++) {
    Loop *x = loops_at(l, i);  /* its last frame may be half counted */
    if (x->slow > x->frames) x->slow = x->frames;
  }
  for (i = 0; i < l->marks.count; i++)
    if (!restore_ismark(l, loops_mark(l, i))) loops_mark(l, i)->number = 0;
  for (i = 0; i < l->worst.count; i++) {
    WorstFrame *p = loops_worst(l, i);
    if (!restore_ismark(l, &p->is)) p->is.number = 0;
    restore_newworst(l, p, c->r->tree.nodes.count, left);
    left -= p->nodes;
  }
}


/*
** No two frames share a node: otherwise, a small file could have more of them
** than there is memory for. '*left': how many nodes may still come.
*/
static int restore_checkworst (Restoring *c, const WorstFrame *p,
                               uint32_t *left) {
  const Loops *l = &c->r->loops;
  uint32_t i;
  if (p->is.number == 0) return 1;
  if (!restore_ismark(l, &p->is) || !restore_hasnodes(l, p, *left))
    return reader_fail(c->l, "slowest frames");
  *left -= p->nodes;
  for (i = 0; i < p->nodes; i++)
    if (loops_node(l, p->first + i)->node >= c->r->tree.nodes.count)
      return reader_fail(c->l, "node of a frame");
  return 1;
}


static int restore_checkloops (Restoring *c) {
  const Loops *l = &c->r->loops;
  uint32_t left = l->nodes.count, i;
  for (i = 0; i < l->list.count; i++)
    if (memchr(loops_at(l, i)->name, '\0', LOOP_NAME) == NULL)
      return reader_fail(c->l, "name of frames");
  for (i = 0; i < l->marks.count; i++) {
    const LoopMark *m = loops_mark(l, i);
    if (m->number != 0 && !restore_ismark(l, m))
      return reader_fail(c->l, "times of frames");
  }
  for (i = 0; i < l->worst.count; i++)
    if (!restore_checkworst(c, loops_worst(l, i), &left)) return 0;
  return 1;
}


/* Restores the frames of the host. */
static int restore_loops (Restoring *c) {
  static const char frames[] = "number of frames";
  Loops *l = &c->r->loops;
  const FormatHeader *h = c->h;
  if (h->loops > LOOPS_MOST) return reader_fail(c->l, "number of loops");
  if (!restore_counted(c, BLOCK_LOOPS, &l->list, h->loops, frames) ||
      !restore_counted(c, BLOCK_FRAMEMARKS, &l->marks, h->framemarks,
                       frames) ||
      !restore_counted(c, BLOCK_FRAMENODES, &l->nodes, h->framenodes,
                       frames) ||
      !restore_counted(c, BLOCK_WORST, &l->worst, h->loops * LOOP_WORST,
                       frames))
    return 0;
  if (h->state != FORMAT_ENDED) restore_newloops(c);
  return restore_checkloops(c);
}


/* Adds a count to its tally. 0: it is impossible, or out of memory. */
typedef int (*RestoreCount) (Restoring *c, const TallyCount *x);

/* Restores a chunk of a tally, up to the number of counts in the header. */
static int restore_counts (Restoring *c, const FileBlock *b, uint32_t count,
                           RestoreCount add) {
  uint32_t i, many = 1u << TALLY_SHIFT, first = b->owner << TALLY_SHIFT;
  if (b->owner > count >> TALLY_SHIFT ||
      block_room(b) != sizeof(TallyCount) << TALLY_SHIFT)
    return reader_fail(c->l, "block of a tally");
  for (i = first == 0; i < many && first + i < count; i++) {
    TallyCount x;
    memcpy(&x, block_bytes(b) + i * sizeof x, sizeof x);
    if (!add(c, &x)) return 0;
  }
  return 1;
}


static int restore_wait (Restoring *c, const TallyCount *x) {
  Wait w = wait_of(x);
  if (w.line < 0 || (w.node == WAIT_LINE
                     ? w.func >= c->r->functions.list.count
                     : w.node >= c->r->tree.nodes.count || w.func != 0))
    return reader_fail(c->l, "place of a wait");
  return waits_add(&c->r->waits, &w) || reader_nomemory(c->l);
}


static int restore_spot (Restoring *c, const TallyCount *x) {
  Spot s = spot_of(x);
  int known = 1;
  if (spot_isinfile(&s)) {
    s.module = reader_textid(c->l, s.module);
    known = s.module != TEXT_FAILED;
  }
  if (!known || s.func >= c->r->functions.list.count)
    return reader_fail(c->l, "place of a spot");
  return spots_add(&c->r->spots, &s) || reader_nomemory(c->l);
}


static int restore_chunkofwaits (Restoring *c, const FileBlock *b) {
  return restore_counts(c, b, c->h->waits, restore_wait);
}


static int restore_chunkofspots (Restoring *c, const FileBlock *b) {
  return restore_counts(c, b, c->h->spots, restore_spot);
}


static int restore_nodes (Restoring *c) {
  Tree *t = &c->r->tree;
  uint32_t i;
  if (!restore_chunks(c, BLOCK_NODES, &t->nodes)) return 0;
  if (c->h->nodes <= NODE_OVERHEAD)
    return reader_fail(c->l, "the node of overhead");
  for (i = 0; i < c->h->nodes; i++)
    if (!restore_checknode(c, i, tree_node(t, i))) return 0;
  t->root = tree_node(t, 0);
  t->overhead = tree_node(t, NODE_OVERHEAD);
  return 1;
}

/* }====================================================== */


/* {======================================================
** The time axis
** ======================================================= */

/* Does the node of a place exist, and has its function the instruction? */
static int axis_possible (const Restoring *c, const AxisPlace *p) {
  const Tree *t = &c->r->tree;
  const Function *f;
  if (p->node >= t->nodes.count) return 0;
  f = functions_at(&c->r->functions, tree_node(t, p->node)->func);
  return p->at == 0 || (p->at - 1) / 2 < f->instructions.count;
}


static int restore_places (Restoring *c) {
  Chunks *to = &c->r->axis.copy;
  uint32_t i;
  c->to = to;
  if (!restore_each(c, BLOCK_PLACES, restore_chunk)) return 0;
  if (c->h->places > to->chunks << AXIS_SHIFT)
    return reader_fail(c->l, "number of places");
  to->count = c->h->places;
  for (i = 1; i < to->count; i++)
    if (!axis_possible(c, cast(const AxisPlace *, chunks_at(to, i))))
      return reader_fail(c->l, "place of a sample");
  return 1;
}


/*
** Checks the chunks of the axis. Of a file that is still written, or was not
** completed, the newest samples may be half written: these are dropped.
*/
static int restore_chunksofaxis (Restoring *c) {
  const FormatHeader *h = c->h;
  Axis *a = &c->r->axis;
  Scale scale;
  uint32_t i;
  scale.factor = h->scale & UINT32_MAX;
  scale.shift = (unsigned)(h->scale >> 32);
  c->to = &a->list;
  if (!restore_each(c, BLOCK_AXIS, restore_chunk)) return 0;
  a->list.count = a->list.chunks;
  for (i = 0; i < a->list.count; i++) {
    AxisChunk *chunk = cast(AxisChunk *, chunks_at(&a->list, i));
    if (!axis_check(chunk, h->step * clock_rate(scale), h->mean,
                    a->copy.count) && h->state == FORMAT_ENDED)
      return reader_fail(c->l, "time of a sample");
  }
  return 1;
}


/* The mean, as options may set it, with a margin: 1 s to 0.1 ms. */
#define MEAN_LEAST	1e4
#define MEAN_MOST	1e10

static int restore_axis (Restoring *c) {
  double step = c->h->step, mean = c->h->mean;
  if (step == 0) return 1;
  if (c->h->mode != MODE_SAMPLE || !(step > 0 && step < 1e12) ||
      !(mean >= MEAN_LEAST && mean <= MEAN_MOST))
    return reader_fail(c->l, "time axis");
  return restore_places(c) && restore_chunksofaxis(c);
}

/* }====================================================== */


/* {======================================================
** Overhead
** ======================================================= */

/* Restores the overhead of each line counter of a function. */
static int restore_lineoverhead (Restoring *c, const FileBlock *b) {
  const Function *f;
  const void *data = block_bytes(b);
  if (b->owner >= c->r->functions.list.count)
    return reader_fail(c->l, "function of overhead");
  f = functions_at(&c->r->functions, b->owner);
  if (b->used != f->lines.count || b->used > block_room(b) / sizeof(int64_t))
    return reader_fail(c->l, "overhead of lines");
  *(const int64_t **)chunks_at(&c->l->lineoverhead, b->owner) =
    cast(const int64_t *, data);
  return 1;
}


static int overhead_plausible (const int64_t *ns, uint32_t n) {
  uint32_t i;
  for (i = 0; i < n; i++)
    if (ns[i] < -(INT64_MAX / 4) || ns[i] > INT64_MAX / 4) return 0;
  return 1;
}


static int restore_overhead (Restoring *c) {
  Chunks *lines = &c->l->lineoverhead, *nodes = &c->l->nodeoverhead;
  Overhead *o = &c->l->overhead;
  uint32_t i, n = 1u << NODES_SHIFT;
  o->costs = c->h->costs;
  if (!c->h->given) return 1;
  if (!restore_chunks(c, BLOCK_NODEOVERHEAD, nodes)) return 0;
  while (lines->count < c->r->functions.list.count)
    if (chunks_add(lines) == NULL) return reader_nomemory(c->l);
  if (!restore_each(c, BLOCK_LINEOVERHEAD, restore_lineoverhead)) return 0;
  for (i = 0; i < nodes->chunks; i++)
    if (!overhead_plausible(cast(const int64_t *,
                                 chunks_at(nodes, i << NODES_SHIFT)), n))
      return reader_fail(c->l, "overhead of a node");
  for (i = 0; i < lines->count; i++) {
    const int64_t *ns = *(const int64_t **)chunks_at(lines, i);
    n = functions_at(&c->r->functions, i)->lines.count;
    if (ns != NULL && !overhead_plausible(ns, n))
      return reader_fail(c->l, "overhead of a line");
  }
  o->nodes = nodes;
  o->lines = lines;
  return 1;
}

/* }====================================================== */


/* {======================================================
** All of it
** ======================================================= */

/* Most seconds since 1970: elsewhere, such times are in nanoseconds. */
#define STARTED_MOST	(INT64_MAX / 1000000000)

/* With clocks other than the processor's, a tick is one nanosecond. */
static int restore_checkscale (const FormatHeader *h) {
  return h->clock == CLOCK_TICKS && !h->given
       ? (uint32_t)h->scale != 0 && h->scale >> 32 <= 32
       : h->scale == ((uint64_t)1 << 31 | (uint64_t)31 << 32);
}


static int restore_checkheader (Restoring *c) {
  const FormatHeader *h = c->h;
  if (h->mode > MODE_SAMPLE) return reader_fail(c->l, "mode");
  if (h->clock > CLOCK_COUNT || !restore_checkscale(h))
    return reader_fail(c->l, "clock");
  if (h->started_at < 0 || h->started_at > STARTED_MOST)
    return reader_fail(c->l, "time of the start");
  if (h->clamped < 0 || h->clamped > FIGURES_MOST)
    return reader_fail(c->l, "overhead");
  if (!h->memory && h->live != 0) return reader_fail(c->l, "memory");
  return 1;
}


static void restore_header (Restoring *c) {
  const FormatHeader *h = c->h;
  Loaded *l = c->l;
  Recording *r = c->r;
  format_read(r, h);
  r->tree.fold = h->foldat == 0 || h->given != 0;
  r->tree.saved = h->given != 0;
  r->clock.scale.factor = h->scale & UINT32_MAX;
  r->clock.scale.shift = (unsigned)(h->scale >> 32);
  r->stopped = 1;  /* so that the rate is not measured again */
  l->counted = h->counted != 0;
  l->clamped = h->clamped;
  l->live = l->live && h->state == FORMAT_LIVE && h->until == 0;
}


static void restore_strings (Restoring *c) {
  FormatHeader *h = (FormatHeader *)(void *)c->l->bytes;
  h->uncompensated[sizeof h->uncompensated - 1] = 0;
  if (*h->uncompensated != 0) c->l->overhead.unknown = h->uncompensated;
  h->ended[sizeof h->ended - 1] = 0;
  if (*h->ended != 0) c->r->ended = h->ended;
  else if (h->state == FORMAT_LIVE && !c->l->live)
    c->r->ended = "the program ended without stopping it";
}


/* The node that ran last in the writer; NULL: none, or not known. */
static Node *restore_running (const Restoring *c) {
  uint64_t at = c->h->running - c->h->base;
  const Chunks *nodes = &c->r->tree.nodes;
  uint32_t i;
  if (c->h->running <= c->h->base || at >= c->l->size) return NULL;
  for (i = 0; i < nodes->chunks; i++) {
    uint64_t from = (uint64_t)(nodes->chunk[i] - c->l->bytes);
    uint64_t within = at - from;
    uint32_t id = (i << NODES_SHIFT) + (uint32_t)(within / sizeof(Node));
    if (at < from || within >= sizeof(Node) << NODES_SHIFT) continue;
    return id < nodes->count ? tree_node(&c->r->tree, id) : NULL;
  }
  return NULL;
}


/* When the last event was, in ticks: the sum of all times and pauses. */
static uint64_t restore_lastevent (const Restoring *c) {
  const Tree *t = &c->r->tree;
  const Figures *f = &c->r->own_figures;
  uint64_t last = f->begun + f->paused;
  uint32_t i;
  if (c->r->mode == MODE_SAMPLE)
    return last + f->sampled + t->overhead->self;
  for (i = 0; i < t->nodes.count; i++) last += tree_node(t, i)->self;
  return last;
}


/*
** If the time since the last sample is longer than SINCE_GAPS times the mean
** from sample to sample, no Lua code has run in it.
*/
#define SINCE_GAPS	10

/*
** Does the time since the last sample belong to NODE_WAITING? If several
** samples have failed to come, a C function runs. No sample may have found it
** yet, so the nodes that have samples get nothing of that time.
*/
static int restore_iswaiting (const Restoring *c, uint64_t since) {
  const Tree *t = &c->r->tree;
  uint64_t samples = 0, sampled = c->r->own_figures.sampled;
  uint32_t i;
  if (t->nodes.count <= NODE_WAITING ||
      !functions_waiting(&c->r->functions, tree_node(t, NODE_WAITING)->func))
    return 0;
  for (i = 0; i < t->nodes.count; i++) samples += tree_node(t, i)->calls;
  return samples > 0 && since / SINCE_GAPS > sampled / samples;
}


/*
** Charges the time since the last event, of which the thread waited 'waited'.
** 0: out of memory.
*/
static int restore_charge (const Restoring *c, Node *running, uint64_t since,
                           uint64_t waited) {
  Wait w = ZEROS;
  if (c->r->mode != MODE_SAMPLE) {
    running->self += since;
    w.ticks = waited;
    w.node = running->id;
    return waited == 0 || waits_add(&c->r->waits, &w) ||
           reader_nomemory(c->l);
  }
  if (restore_iswaiting(c, since)) {
    c->r->waiting = since;
    c->r->waiting_waited = waited;
  }
  else c->r->own_figures.waited += waited;
  c->r->own_figures.sampled += since;
  return 1;
}


#define SINCE_MOST	1000000000000000u	/* ns: some days */

static int since_toolong (Scale scale, uint64_t ticks) {
  return ticks >> scale.shift >= SINCE_MOST / scale.factor;
}


/*
** Charges the time since the last event to the node that runs. In a live file,
** that is the time until now; in the file of a program that a signal ended,
** the time until then. Only of such a program is it known how much of it was
** waiting, and not always. 0: out of memory.
*/
static int restore_since (Restoring *c) {
  const Tree *t = &c->r->tree;
  Figures *f = &c->r->own_figures;
  uint64_t last, now;
  Node *running = restore_running(c);
  if (c->h->state != FORMAT_LIVE || (!c->l->live && c->h->until == 0) ||
      running == NULL || running == t->overhead ||
      c->r->clock.kind > CLOCK_MONO)
    return 1;
  last = restore_lastevent(c);
  now = c->h->until != 0 ? c->h->until : clock_read(&c->r->clock);
  if (c->h->until != 0 && f->killed != 0) {
    c->l->divided = 1;
    now = f->killed;
  }
  if (now <= last || since_toolong(c->r->clock.scale, now - last)) return 1;
  c->l->since = now - last;
  if (!c->l->divided) f->killed_waited = 0;
  if (f->killed_waited > now - last) f->killed_waited = now - last;
  return restore_charge(c, running, now - last, f->killed_waited);
}


/*
** In mode count, instructions since the last call or return are not in a node
** yet. They are charged to the node that runs, or ran when the program ended.
*/
static void restore_uncharged (Restoring *c) {
  const Functions *fs = &c->r->functions;
  const Tree *t = &c->r->tree;
  Node *running = restore_running(c);
  uint64_t counted = 0, charged = 0;
  uint32_t i;
  if (c->r->mode != MODE_COUNT || running == NULL) return;
  for (i = 0; i < fs->list.count; i++)
    counted += instructions_sum(&functions_at(fs, i)->instructions);
  for (i = 0; i < t->nodes.count; i++) charged += tree_node(t, i)->self;
  if (counted > charged) running->self += counted - charged;
}


/* Checks the figures: before the time up to now is charged, and after. */
static int restore_possible (Restoring *c) {
  const char *what = possible_not(c->r, c->r->clock.scale);
  return what == NULL || reader_fail(c->l, what);
}


/* For chunks that lie in 'bytes' of Loaded, and are not to be freed alone. */
static const Pages restore_pages = {NULL, NULL, 0, NULL};

int restore (Loaded *l) {
  Restoring c = ZEROS;
  const Memory *m = &l->recording.memory;
  int ok;
  c.l = l;
  c.r = &l->recording;
  c.h = (const FormatHeader *)(const void *)l->bytes;
  c.r->functions.policy.pages = c.r->tree.nodes.pages =
    c.r->tree.allocated.pages = c.r->tree.kinds.pages =
    c.r->tree.durations.pages = c.r->axis.list.pages =
    c.r->axis.copy.pages = c.r->tasks.list.pages =
    c.r->tasks.pauses.pages = c.r->loops.list.pages =
    c.r->loops.marks.pages = c.r->loops.worst.pages =
    c.r->loops.nodes.pages =
    l->nodeoverhead.pages = &restore_pages;
  ok = restore_checkheader(&c) && restore_texts(&c) &&
       restore_functions(&c) && restore_sources(&c) &&
       restore_nodes(&c) &&
       restore_each(&c, BLOCK_WAITS, restore_chunkofwaits) &&
       restore_each(&c, BLOCK_SPOTS, restore_chunkofspots) &&
       restore_tasks(&c) && restore_loops(&c) &&
       restore_allocated(&c) && restore_durations(&c) &&
       restore_lines(&c) && restore_overhead(&c) && restore_axis(&c);
  memory_free(m, c.source, c.texts * sizeof *c.source);
  memory_free(m, c.highest, c.sources * sizeof *c.highest);
  if (!ok) return 0;
  restore_header(&c);
  restore_strings(&c);
  if (!restore_possible(&c)) return 0;
  if (!restore_since(&c)) return 0;
  restore_uncharged(&c);
  return restore_possible(&c);
}

/* }====================================================== */

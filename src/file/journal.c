/*
** See journal.h
*/

#include "file/journal.h"

#include <string.h>

#include "base/text.h"
#include "file/format.h"


#define JOURNAL_BLOCK	((size_t)1 << 15)


void journal_init (Journal *j, MappedFile *f, Functions *fs) {
  memset(j, 0, sizeof *j);
  j->file = f;
  j->fs = fs;
  j->texts = 1;  /* the empty text is not written */
}


void journal_free (Journal *j) {
  if (j->fs == NULL) return;
  memory_free(j->fs->memory, j->note, j->notes * sizeof *j->note);
  memset(j, 0, sizeof *j);
}


/* {======================================================
** Records
** ======================================================= */

/* Returns room for a record, which 'journal_done' then publishes. */
static char *journal_open (Journal *j, uint32_t kind, size_t size) {
  size_t whole;
  FileRecord *r;
  if (size > RECORD_MOST) return NULL;
  whole = sizeof(FileRecord) + record_padded(size);
  if (j->room - j->used < whole) {
    size_t room = whole > JOURNAL_BLOCK ? whole : JOURNAL_BLOCK;
    FileBlock *b = mapped_block(j->file, BLOCK_JOURNAL, 0, room);
    if (b == NULL) return NULL;
    j->block = b;
    j->used = 0;
    j->room = (uint32_t)room;
  }
  r = (FileRecord *)(void *)((char *)block_data(j->block) + j->used);
  r->kind = kind;
  r->size = (uint32_t)size;
  return (char *)(r + 1);
}


static const char *journal_at (const FileBlock *b, uint32_t at) {
  return (const char *)(b + 1) + at;
}


static void journal_done (Journal *j, size_t size) {
  size_t whole = sizeof(FileRecord) + record_padded(size);
  j->written = text_mix(j->written, checksum_bytes(journal_at(j->block,
                                                   j->used), whole));
  j->used += (uint32_t)whole;
  platform_publish(&j->block->used, j->used);
}


/*
** Adds the records in a block to a hash. Other programs can write to the
** block, so it may have any contents. 0: it does not consist of records.
*/
static uint64_t journal_hash (uint64_t hash, const FileBlock *b,
                              size_t room) {
  uint32_t at = 0, used = b->used;
  while (at < used && room - at >= sizeof(FileRecord)) {
    const void *p = journal_at(b, at);
    size_t size = cast(const FileRecord *, p)->size;
    size_t whole = sizeof(FileRecord) + record_padded(size);
    if (size > RECORD_MOST || whole > room - at) return 0;
    hash = text_mix(hash, checksum_bytes(cast(const char *, p), whole));
    at += (uint32_t)whole;
  }
  return at == used ? hash : 0;
}


int journal_intact (const Journal *j) {
  const FileBlock *b = NULL;
  uint64_t hash = 0;
  while ((b = mapped_next(j->file, b)) != NULL)
    if (b->kind == BLOCK_JOURNAL)
      hash = journal_hash(hash, b, mapped_inblock(j->file, b));
  return hash == j->written;
}


/* Writes a record that has a fixed part, then bytes. */
static int journal_write (Journal *j, uint32_t kind, const void *fixed,
                          size_t fixedsize, const char *s, size_t length) {
  char *to = journal_open(j, kind, fixedsize + length);
  if (to == NULL) return 0;
  if (fixedsize > 0) memcpy(to, fixed, fixedsize);
  if (length > 0) memcpy(to + fixedsize, s, length);
  journal_done(j, fixedsize + length);
  return 1;
}

/* }====================================================== */


static int journal_texts (Journal *j) {
  const Text *t = &j->fs->text;
  for (; j->texts < t->strings.count; j->texts++) {
    size_t length;
    const char *s = text_get(t, j->texts, &length);
    if (!journal_write(j, RECORD_TEXT, NULL, 0, s, length)) return 0;
  }
  return 1;
}


static int journal_function (Journal *j, const Function *f) {
  FunctionRecord r = ZEROS;
  r.key = f->kind == FUNCTION_C ? f->key : 0;
  r.shape = f->shape;
  r.source = f->source;
  r.name = f->name;
  r.how = f->how;
  r.tag = f->tag;
  r.line = f->line;
  r.last = f->last;
  r.kind = f->kind;
  r.ordinal = f->ordinal;
  r.nth = f->nth;
  r.marks = f->marks & FUNCTION_COROUTINES;
  r.layout = f->layout;
  return journal_write(j, RECORD_FUNCTION, &r, sizeof r, NULL, 0);
}


int journal_functions (Journal *j) {
  if (!journal_texts(j)) return 0;
  for (; j->functions < j->fs->list.count; j->functions++)
    if (!journal_function(j, functions_at(j->fs, j->functions))) return 0;
  return 1;
}


/* {======================================================
** Sources
** ======================================================= */

static SourceNote *journal_note (Journal *j, uint32_t index) {
  while (index >= j->notes) {
    uint32_t old = j->notes;
    if (!memory_grow(j->fs->memory, &j->note, &j->notes, old, sizeof *j->note))
      return NULL;
    memset(j->note + old, 0, (j->notes - old) * sizeof *j->note);
  }
  return &j->note[index];
}


static int journal_content (Journal *j, const Source *s, SourceNote *note) {
  ContentRecord r = {0, 0};
  if (note->content || s->content == NULL) return 1;
  r.source = s->text;
  note->content = 1;
  return journal_write(j, RECORD_CONTENT, &r, sizeof r, s->content, s->size);
}


int journal_source (Journal *j, uint32_t index) {
  const Source *s = functions_source(j->fs, index);
  const Bytecode *b = &s->code;
  SourceNote *note = journal_note(j, index);
  const char *active = b->lines > 0 ? (const char *)b->active + 1 : "";
  size_t lines = b->lines > 0 ? b->lines - 1 : 0;
  uint64_t hash = text_hash(active, lines);
  SourceRecord r;
  r.source = s->text;
  r.flags = (s->changed ? SOURCE_RECORD_CHANGED : 0) |
            (s->state == SOURCE_MIXED ? SOURCE_RECORD_MIXED : 0);
  if (note == NULL) return 0;
  if (note->noted && note->active == hash && note->flags == r.flags)
    return 1;
  if (!journal_texts(j) || !journal_content(j, s, note)) return 0;
  note->noted = 1;
  note->active = hash;
  note->flags = r.flags;
  return journal_write(j, RECORD_SOURCE, &r, sizeof r, active, lines);
}

/* }====================================================== */


int journal_meta (Journal *j, const char *key, const char *value,
                  size_t length) {
  MetaRecord r = {0, 0};
  size_t keylength = strlen(key);
  char *to = journal_open(j, RECORD_META, sizeof r + keylength + length);
  if (to == NULL) return 0;
  r.key = (uint32_t)keylength;
  memcpy(to, &r, sizeof r);
  memcpy(to + sizeof r, key, keylength);
  memcpy(to + sizeof r + keylength, value, length);
  journal_done(j, sizeof r + keylength + length);
  return 1;
}


int journal_path (Journal *j, uint64_t key, const char *source, int line,
                  int last, const char *path) {
  Text *t = &j->fs->text;
  PathRecord r;
  r.key = key;
  r.source = text_add(t, source, strlen(source));
  r.line = line;
  r.last = last;
  r.path = text_add(t, path, strlen(path));
  return r.source != TEXT_FAILED && r.path != TEXT_FAILED &&
         journal_texts(j) &&
         journal_write(j, RECORD_PATH, &r, sizeof r, NULL, 0);
}


int journal_name (Journal *j, uint32_t func, const char *name,
                  size_t length, const char *title, size_t titlelength) {
  Text *t = &j->fs->text;
  NameRecord r = {0, 0, 0, 0};
  r.func = func;
  r.name = text_add(t, name, length);
  r.title = text_add(t, title, titlelength);
  return r.name != TEXT_FAILED && r.title != TEXT_FAILED &&
         journal_texts(j) &&
         journal_write(j, RECORD_NAME, &r, sizeof r, NULL, 0);
}

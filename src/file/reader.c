/*
** See reader.h
*/

#include "file/reader.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/files.h"
#include "file/format.h"


static int open_fail (Loaded *l, const char *what) {
  snprintf(l->why, sizeof l->why, "%s", what);
  return 0;
}


int reader_fail (Loaded *l, const char *what) {
  snprintf(l->why, sizeof l->why, "damaged: %s", what);
  return 0;
}


int reader_nomemory (Loaded *l) {
  return open_fail(l, "out of memory");
}


/* a higher version of the format is damage: no cprof will have one */
#define VERSION_MOST	9999


/* {======================================================
** The header
** ======================================================= */

/* Have structures in the file the same sizes as here? */
static int header_sizesok (const FormatHeader *h) {
  static const uint32_t sizes[] = {
    sizeof(FormatHeader), sizeof(FileBlock), sizeof(Node), sizeof(Line)
  };
  return memcmp(h->sizes, sizes, sizeof sizes) == 0 &&
         h->instruction == sizeof(Instruction);
}


static int header_check (const FormatHeader *h, char *why, size_t room) {
  if (memcmp(h->magic, FORMAT_MAGIC, sizeof h->magic) != 0)
    snprintf(why, room, "not a profile");
  else if (h->order == FORMAT_OTHERORDER)
    snprintf(why, room, "written on a machine with another byte order");
  else if (h->order != FORMAT_ORDER)
    snprintf(why, room, "damaged: byte order in the header");
  else if (h->version == 0 || h->version > VERSION_MOST)
    snprintf(why, room, "damaged: version in the header");
  else if (h->version != FORMAT_VERSION)
    snprintf(why, room, "written by %s cprof (its format is version %u; this "
             "cprof reads version %u): record it again, or read it with that "
             "cprof", h->version < FORMAT_VERSION ? "an older" : "a newer",
             (unsigned)h->version, FORMAT_VERSION);
  else if (!header_sizesok(h))
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
** Blocks and records must lie within the file
** ======================================================= */

static const FileRecord *record_after (const FileRecord *r) {
  return (const FileRecord *)(const void *)((const char *)(r + 1) +
                                        record_padded(r->size));
}


static int reader_checkrecords (Loaded *l, const FileBlock *b) {
  size_t at = 0;
  if (b->used > block_room(b)) return reader_fail(l, "size of the journal");
  while (at < b->used) {
    const void *p = block_bytes(b) + at;
    const FileRecord *r = cast(const FileRecord *, p);
    if (b->used - at < sizeof *r || r->size > RECORD_MOST ||
        b->used - at - sizeof *r < record_padded(r->size))
      return reader_fail(l, "size of a record");
    at += sizeof *r + record_padded(r->size);
  }
  return 1;
}


static int reader_checkblocks (Loaded *l) {
  const FileBlock *b = block_first(l), *end = block_end(l);
  for (; b < end; b = block_after(b)) {
    if (b->units == 0 || b->units > (size_t)(end - b))
      return reader_fail(l, "size of a block");
    if (b->kind < BLOCK_NODES || b->kind >= BLOCK_COUNT)
      return reader_fail(l, "kind of a block");
    if (b->kind == BLOCK_JOURNAL && !reader_checkrecords(l, b)) return 0;
  }
  return 1;
}


const FileRecord *reader_next (const Loaded *l, RecordCursor *at,
                               uint32_t kind) {
  for (;;) {
    const char *next;
    if (at->block == NULL) at->block = block_first(l);
    else if (at->record == NULL) at->block = block_after(at->block);
    if (at->block >= block_end(l)) return NULL;
    next = at->record ? (const char *)record_after(at->record)
                      : block_bytes(at->block);
    at->record = NULL;
    if (at->block->kind != BLOCK_JOURNAL ||
        next >= block_bytes(at->block) + at->block->used)
      continue;
    at->record = (const FileRecord *)(const void *)next;
    if (at->record->kind == kind) return at->record;
  }
}


uint32_t reader_textid (const Loaded *l, uint32_t number) {
  const uint32_t *id;
  if (number == 0) return 0;
  if (number > l->texts.count) return TEXT_FAILED;
  id = cast(const uint32_t *, chunks_at(&l->texts, number - 1));
  return *id;
}


const char *reader_text (const Loaded *l, uint32_t number, size_t *length) {
  uint32_t id = reader_textid(l, number);
  return text_get(&l->recording.functions.text,
                  id == TEXT_FAILED ? 0 : id, length);
}


/* }====================================================== */


/* {======================================================
** All of it
** ======================================================= */

/* For chunks that lie in 'bytes' of Loaded, and are not to be freed alone. */
static const Pages reader_pages[BLOCK_COUNT] = ZEROS;

int reader_load (Loaded *l, const Memory *m, char *bytes, size_t size) {
  const FormatHeader *h = (const FormatHeader *)(const void *)bytes;
  Recording *r = &l->recording;
  ChunkSet *s = &r->counters;
  int ok = recording_blank(r, m, reader_pages);
  r->functions.policy.pages = reader_pages;
  r->waits.copy.pages = r->spots.copy.pages = NULL;  /* these are in memory */
  chunkset_add(s, &l->texts, sizeof(uint32_t), 6, 0);
  chunkset_add(s, &l->nodeoverhead, sizeof(int64_t), NODES_SHIFT,
               BLOCK_NODEOVERHEAD);
  chunkset_add(s, &l->lineoverhead, sizeof(const int64_t *), 6, 0);
  l->bytes = bytes;
  l->size = size;
  if (!ok) return reader_nomemory(l);
  if (size < FORMAT_BLOCKS) return open_fail(l, "not a profile");
  if (!header_check(h, l->why, sizeof l->why)) return 0;
  if (header_size(h) != size) return reader_fail(l, "size");
  if ((h->state == FORMAT_ENDED || h->checksum != 0) &&
      h->checksum != checksum_of(bytes, size))
    return reader_fail(l, "checksum");
  return reader_checkblocks(l);
}


void reader_free (Loaded *l) {
  const Memory *m = &l->recording.memory;
  if (m->alloc == NULL) return;
  recording_free(&l->recording);
  memory_free(m, l->bytes, l->size);
  l->bytes = NULL;
}

/* }====================================================== */


/* {======================================================
** From the disk
** ======================================================= */

static char *open_none (Loaded *l, const char *what) {
  open_fail(l, what);
  return NULL;
}


/*
** The file's contents as they were when its header was read, without what was
** added since then. NULL: the file is not a profile, or is damaged.
*/
static char *open_bytes (Loaded *l, const Memory *m, int fd, size_t *size) {
  FormatHeader h;
  int64_t there;
  uint64_t whole;
  char *bytes = NULL;
  if (files_read(fd, (char *)&h, sizeof h) < sizeof h)
    return open_none(l, "not a profile");
  if (!header_check(&h, l->why, sizeof l->why)) return NULL;
  whole = header_size(&h);
  if (whole < FORMAT_BLOCKS) return open_none(l, "damaged: size");
  there = files_size(fd);
  if (there < 0) return open_none(l, strerror(errno));
  *size = (size_t)there;
  if (whole <= *size) {
    bytes = cast(char *, memory_resize(m, NULL, 0, (size_t)whole));
    if (bytes == NULL) return open_none(l, "out of memory");
    *size = files_read(fd, bytes, (size_t)whole);
    if (*size == whole) return cast(char *, memcpy(bytes, &h, sizeof h));
  }
  snprintf(l->why, sizeof l->why, "damaged: cut short, %llu of %llu bytes",
           (unsigned long long)*size, (unsigned long long)whole);
  memory_free(m, bytes, (size_t)whole);
  return NULL;
}


/* 'generation' in the file's header; 0: the file is not a profile. */
static uint32_t open_generation (int fd) {
  FormatHeader h;
  char why[1];
  if (files_read(fd, (char *)&h, sizeof h) < sizeof h) return 0;
  h.nodes = 1;  /* a reset leaves none for a moment: not an error */
  return header_check(&h, why, sizeof why) ? h.generation : 0;
}


#define OPEN_TRIES	100	/* 1 ms apart */

static int open_load (Loaded *l, const Memory *m, int fd) {
  int i;
  for (i = 0; i < OPEN_TRIES; i++) {
    size_t size = 0;
    int live = files_locked(fd);  /* asked twice: this may change now */
    uint32_t generation = open_generation(fd);
    char *bytes;
    if (generation % 2 != 0) {
      if (!live) return open_fail(l, "its program was killed during a reset");
      platform_sleep(0.001);
      continue;
    }
    bytes = open_bytes(l, m, fd, &size);
    if (open_generation(fd) == generation) {
      if (bytes == NULL) return 0;
      l->live = files_locked(fd) || live;
      return reader_load(l, m, bytes, size);
    }
    memory_free(m, bytes, size);
  }
  return open_fail(l, "it changes too fast to be read");
}


int reader_open (Loaded *l, const Memory *m, const char *path) {
  int fd = files_open(path), ok;
  if (fd < 0)
    return open_fail(l, errno == EINVAL ? "not a regular file"
                                        : strerror(errno));
  ok = open_load(l, m, fd);
  files_close(fd);
  return ok;
}

/* }====================================================== */

/*
** See mapped.h
*/

#include "file/mapped.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "base/sigbus.h"
#include "base/text.h"
#include "file/format.h"


/* The file grows by a quarter, but by no less and no more than this. */
#define GROW_LEAST	((size_t)1 << 18)
#define GROW_MOST	((size_t)1 << 23)

/* Mapped ranges begin and end at multiples of this: pages are no larger. */
#define GROW_UNIT	((size_t)1 << 16)

/* bytes of addresses for everything but nodes */
#if UINTPTR_MAX > UINT32_MAX
#define SPACE_MORE	((size_t)1 << 31)
#else
#define SPACE_MORE	((size_t)1 << 27)
#endif
#define SPACE_LEAST	((size_t)1 << 24)


/* {======================================================
** Growing
** ======================================================= */

/* an 'error' that is not an errno: someone cut the file short */
#define MAPPED_CUT	(-1)

static int mapped_isheader (const FormatHeader *h, const MappedFile *f) {
  return memcmp(h->magic, FORMAT_MAGIC, sizeof h->magic) == 0 &&
         h->id == f->id && h->units == f->units;
}


int mapped_ours (const MappedFile *f) {
  return mapped_isheader(mapped_header(f), f);
}


/* Has someone cut the file short? */
static int mapped_iscut (const MappedFile *f) {
  int64_t size;
  if (sigbus_lost(f->range)) return 1;
  size = files_size(f->fd);
  return size >= 0 && (uint64_t)size < f->mapped;
}


/* Makes the file longer by 'least' bytes or more. 0: 'error' says why not. */
static int mapped_grow (MappedFile *f, size_t least) {
  size_t more = f->mapped / 4, room = f->space - f->mapped, to;
  if (more < GROW_LEAST) more = GROW_LEAST;
  if (more > GROW_MOST) more = GROW_MOST;
  if (more < least) more = least;
  to = (f->mapped + more + GROW_UNIT - 1) & ~(GROW_UNIT - 1);
  if (f->fd < 0) f->error = EBADF;
  else if (mapped_iscut(f)) f->error = MAPPED_CUT;
  else if (to > f->space) f->error = ENOMEM;
  else f->error = files_extend(f->fd, f->mapped, to);
  if (f->error == 0 && !files_map(f->base + f->mapped, to - f->mapped,
                                 &room, f->fd, f->mapped))
    f->error = errno;
  f->space = f->mapped + room;
  if (f->error != 0) return 0;
  f->mapped = to;
  return 1;
}


static uint64_t block_hash (uint64_t hash, const FileBlock *b) {
  hash = text_mix(hash, (uint64_t)b->kind << 32 | b->owner);
  return text_mix(hash, b->units);
}


FileBlock *mapped_block (MappedFile *f, uint32_t kind, uint32_t owner,
                         size_t size) {
  FormatHeader *h = mapped_header(f);
  size_t from = (size_t)f->units * FORMAT_UNIT, to;
  FileBlock *b;
  if (size > f->space || !mapped_ours(f)) return NULL;
  to = from + sizeof *b + size + FORMAT_UNIT - 1;
  to -= to % FORMAT_UNIT;
  if (to > f->mapped && !mapped_grow(f, to - f->mapped)) return NULL;
  b = (FileBlock *)(void *)(f->base + from);
  b->kind = kind;
  b->owner = owner;
  b->units = (uint32_t)((to - from) / FORMAT_UNIT);
  f->blocks = block_hash(f->blocks, b);
  f->units = (uint32_t)(to / FORMAT_UNIT);
  platform_publish(&h->units, f->units);
  return b;
}


const FileBlock *mapped_next (const MappedFile *f, const FileBlock *b) {
  const FileBlock *first = (const FileBlock *)(void *)f->base;
  size_t at = b != NULL ? (size_t)(b - first) + b->units
                        : FORMAT_BLOCKS / FORMAT_UNIT;
  int more = at < f->units &&
             (b == NULL || (b->units > 0 && b->units < f->units));
  return more ? first + at : NULL;
}


size_t mapped_inblock (const MappedFile *f, const FileBlock *b) {
  const FileBlock *first = (const FileBlock *)(void *)f->base;
  size_t most = f->units - (size_t)(b - first), units = b->units;
  if (units > most) units = most;
  return units > 0 ? (units - 1) * FORMAT_UNIT : 0;
}


int mapped_intact (MappedFile *f) {
  const FileBlock *b = NULL;
  uint64_t hash = 0;
  if (mapped_iscut(f)) {
    f->error = MAPPED_CUT;
    return 0;
  }
  while ((b = mapped_next(f, b)) != NULL) hash = block_hash(hash, b);
  return hash == f->blocks;
}


/*
** Makes room for a block of a ring, if all other blocks can then still take as
** much again as they take now. A ring makes do with fewer blocks, but without
** room for other blocks, recording ends. 0: the ring gets no block.
*/
static int mapped_spare (MappedFile *f, size_t size) {
  size_t used = (size_t)f->units * FORMAT_UNIT;
  size_t to = used + size + (used - f->rings) + GROW_LEAST;
  int error = f->error;
  if (to > f->mapped && !mapped_grow(f, to - f->mapped)) {
    if (f->error != MAPPED_CUT) f->error = error;
    return 0;
  }
  f->rings += size;
  return 1;
}


/*
** The function 'get' of Pages. A block of counters notes their number. The
** first block of a ring is like any other.
*/
static void *mapped_get (const Pages *p, uint32_t owner, size_t size) {
  MappedFile *f = cast(MappedFile *, p->ud);
  int memory = mapped_header(f)->memory != 0;
  FileBlock *b;
  if (p->kind == BLOCK_RING && owner > 0 && !mapped_spare(f, size)) return NULL;
  b = mapped_block(f, p->kind, owner, size);
  if (b == NULL) return NULL;
  if (p->kind == BLOCK_LINES)
    platform_publish(&b->used, (uint32_t)(size / lines_size(1, memory)));
  if (p->kind == BLOCK_INSTRUCTIONS)
    platform_publish(&b->used, (uint32_t)(size / instructions_size(1, memory)));
  return block_data(b);
}


static void mapped_setpages (MappedFile *f) {
  FormatHeader *h = mapped_header(f);
  uint32_t kind;
  for (kind = BLOCK_NODES; kind < BLOCK_COUNT; kind++) {
    f->pages[kind].get = mapped_get;
    f->pages[kind].ud = f;
    f->pages[kind].kind = kind;
  }
  f->pages[BLOCK_NODES].published = &h->nodes;
  f->pages[BLOCK_WAITS].published = &h->waits;
  f->pages[BLOCK_SPOTS].published = &h->spots;
  f->pages[BLOCK_PLACES].published = &h->places;
  f->pages[BLOCK_TASKS].published = &h->tasks;
  f->pages[BLOCK_PAUSES].published = &h->pauses;
  f->pages[BLOCK_LOOPS].published = &h->loops;
  f->pages[BLOCK_FRAMEMARKS].published = &h->framemarks;
  f->pages[BLOCK_FRAMENODES].published = &h->framenodes;
}


/* Does the file on disk begin with anything but our header or zeros? */
static int mapped_replaced (const MappedFile *f) {
  FormatHeader h = ZEROS;
  const char *p = (const char *)&h;
  size_t size = files_read(f->fd, (char *)&h, sizeof h), i = 0;
  while (i < size && p[i] == 0) i++;
  if (i == size) return 0;
  if (size == sizeof h) return !mapped_isheader(&h, f);
  if (size > sizeof h.magic) size = sizeof h.magic;
  return memcmp(p, FORMAT_MAGIC, size) != 0;
}


const char *mapped_failure (const MappedFile *f) {
  int ours = mapped_ours(f);  /* may raise SIGBUS, so it comes first */
  if (!ours || sigbus_lost(f->range) || f->error == MAPPED_CUT)
    return mapped_replaced(f) ? MAPPED_OVERWRITTEN
                              : "another program truncated the file";
  switch (f->error) {
    case 0: return NULL;
    case ENOSPC: return "no space left for the file";
#if defined(EDQUOT)
    case EDQUOT: return "no space left for the file: quota exceeded";
#endif
    case EFBIG: return "the file has reached the process's size limit";
    case ENOMEM: return "out of memory";
    case EIO: return "the file cannot grow: input/output error";
    default: return "the file cannot grow";
  }
}

/* }====================================================== */


/* {======================================================
** Opening
** ======================================================= */

/* Writes to 'why' what is wrong. Returns 0. */
static int mapped_refuse (char *why, const char *path, const char *what) {
  snprintf(why, MAPPED_MESSAGE, "%.300s: %s", path, what);
  return 0;
}


/* Refuses a file that another process writes; the header says which one. */
static int mapped_taken (int fd, const char *path, char *why) {
  FormatHeader h;
  char who[80] = "another program writes to it";
  if (files_read(fd, (char *)&h, sizeof h) == sizeof h &&
      memcmp(h.magic, FORMAT_MAGIC, sizeof h.magic) == 0)
    snprintf(who, sizeof who, "process %lld writes to it", (long long)h.pid);
  return mapped_refuse(why, path, who);
}


/* May a profile replace the file? Only an empty one, or a profile. */
static int mapped_accept (int fd, int locked, const char *path, char *why) {
  char magic[8];
  if (files_size(fd) < 0)
    return mapped_refuse(why, path, errno == EINVAL ? "not a regular file"
                                                    : strerror(errno));
  if (locked) return mapped_taken(fd, path, why);
  if (files_size(fd) > 0 &&
      (files_read(fd, magic, sizeof magic) != sizeof magic ||
       memcmp(magic, FORMAT_MAGIC, sizeof magic) != 0))
    return mapped_refuse(why, path, "exists and is not a profile");
  return 1;
}


/*
** May a profile replace the file at 'path'? Not while it is written, and not
** if it is something other than a profile. 0: no, and 'why' says why not.
*/
static int mapped_replaceable (const char *path, char *why) {
  int fd = files_openprofile(path, 0), ok;
  if (fd < 0)
    return errno == ENOENT || mapped_refuse(why, path, strerror(errno));
  ok = mapped_accept(fd, files_locked(fd), path, why);
  files_close(fd);
  return ok;
}


/*
** Sets the sources of pages, and writes the header. Its magic is written
** last: readers take a header with the magic as complete.
*/
static void mapped_writeheader (MappedFile *f) {
  FormatHeader *h = mapped_header(f);
  uint32_t magic[2];
  h->order = FORMAT_ORDER;
  h->version = FORMAT_VERSION;
  h->sizes[0] = (uint32_t)sizeof *h;
  h->sizes[1] = (uint32_t)sizeof(FileBlock);
  h->sizes[2] = (uint32_t)sizeof(Node);
  h->sizes[3] = (uint32_t)sizeof(Line);
  h->instruction = (uint32_t)sizeof(Instruction);
  h->pid = f->owner.process;
  h->id = f->id = platform_monotonic() << 20 ^
                   (uint64_t)f->owner.process;
  h->base = (uint64_t)(uintptr_t)h;
  h->units = f->units = FORMAT_BLOCKS / FORMAT_UNIT;
  mapped_setpages(f);
  memcpy(magic, FORMAT_MAGIC, sizeof magic);
  memcpy(h->magic, magic, sizeof magic[0]);
  platform_publish((uint32_t *)(void *)(h->magic + sizeof magic[0]),
                   magic[1]);
}


/* Reserves addresses for 'nodes' nodes, or for fewer if they are limited. */
static int mapped_reserve (MappedFile *f, uint32_t nodes) {
  uint64_t wanted = (uint64_t)nodes * (sizeof(Node) + sizeof(NodeAllocated));
  wanted += wanted / 16 + SPACE_MORE;
  if (wanted > SIZE_MAX / 4) wanted = SIZE_MAX / 4;
  wanted = (wanted + GROW_UNIT - 1) & ~(uint64_t)(GROW_UNIT - 1);
  for (; wanted >= SPACE_LEAST; wanted /= 2) {
    f->space = (size_t)wanted & ~(GROW_UNIT - 1);
    f->base = cast(char *, files_space(f->space));
    if (f->base != NULL) return 1;
  }
  f->error = ENOMEM;
  return 0;
}


/* Maps the file, which is locked by now; its old contents are lost. */
static int mapped_map (MappedFile *f, uint32_t nodes, void (*tell) (void *ud),
                     void *ud) {
  if (!mapped_reserve(f, nodes)) return 0;
  f->range = sigbus_add(f->base, f->space, tell, ud);
  if (f->range == SIGBUS_NONE) f->error = EMFILE;
  else f->error = files_resize(f->fd, 0);
  if (f->error != 0) return 0;
  if (mapped_grow(f, FORMAT_BLOCKS)) mapped_writeheader(f);
  else (void)files_resize(f->fd, 0);  /* zeros are not a profile */
  return f->error == 0;
}


MappedFile *mapped_create (const char *path, uint32_t nodes,
                   void (*tell) (void *ud), void *ud, char *why) {
  MappedFile *f = cast(MappedFile *, calloc(1, sizeof *f));
  if (f == NULL) {
    mapped_refuse(why, path, strerror(ENOMEM));
    return NULL;
  }
  f->range = SIGBUS_NONE;
  f->owner = platform_self();
  f->fd = files_openprofile(path, 1);
  if (f->fd < 0) mapped_refuse(why, path, strerror(errno));
  else if (mapped_accept(f->fd, !files_lock(f->fd), path, why)) {
    if (mapped_map(f, nodes, tell, ud)) return f;
    mapped_refuse(why, path, strerror(f->error));
    /* without contents, nobody can use it, and its number would be taken */
    if (files_size(f->fd) == 0) remove(path);
  }
  mapped_free(f);
  return NULL;
}

static void mapped_ignore (void *ud) {
  (void)ud;  /* 'mapped_failure' tells */
}


MappedFile *mapped_createaside (const char *path, const char *aside,
                                uint32_t nodes, char *why) {
  char said[MAPPED_MESSAGE];
  size_t n = strlen(aside);
  MappedFile *f;
  if (!mapped_replaceable(path, why)) return NULL;
  f = mapped_create(aside, nodes, mapped_ignore, NULL, why);
  if (f != NULL) return f;
  if (mapped_replaceable(aside, said)) remove(aside);
  if (strncmp(why, aside, n) == 0) {
    snprintf(said, sizeof said, "%.300s%s", path, why + n);
    strcpy(why, said);
  }
  return NULL;
}

/* }====================================================== */


/* {======================================================
** Closing
** ======================================================= */

int mapped_mine (const MappedFile *f) {
  return platform_isself(&f->owner);
}


/*
** Closes the file, and unlocks it: a child process may have it open, and would
** keep it locked.
*/
static void mapped_shut (MappedFile *f) {
  if (f->fd < 0) return;
  if (mapped_mine(f)) files_unlock(f->fd);
  files_close(f->fd);
  f->fd = -1;
}


/*
** Writes the checksum, then the state FORMAT_ENDED. In this order, the file
** is valid even if the process is killed in between.
*/
static void mapped_complete (FormatHeader *h, size_t size) {
  h->checksum = checksum_of((const char *)h, size);
  platform_publish(&h->state, FORMAT_ENDED);
}


int mapped_close (MappedFile *f, int ended) {
  FormatHeader *h = mapped_header(f);
  int mine = f->fd >= 0 && mapped_mine(f) && !mapped_iscut(f);
  uint64_t size;
  if (f->fd < 0) return 1;
  size = (uint64_t)f->units * FORMAT_UNIT;
  if (mine && ended) mapped_complete(h, (size_t)size);
  if (!files_unmap(f->base, f->mapped, f->fd)) return 0;
  if (mine && ended)
    (void)files_resize(f->fd, size);  /* a longer file is valid, too */
  mapped_shut(f);
  f->error = f->error ? f->error : sigbus_lost(f->range) ? MAPPED_CUT : 0;
  sigbus_remove(f->range);
  f->range = SIGBUS_NONE;
  return 1;
}


void mapped_free (MappedFile *f) {
  if (f == NULL) return;
  sigbus_remove(f->range);
  if (f->base != NULL) files_freespace(f->base, f->space);
  mapped_shut(f);
  free(f);
}


const char *mapped_replace (MappedFile *f, const char *path,
                            const char *aside, const char *failure) {
  mapped_free(f);
  if (failure == NULL) {
    int error = files_rename(aside, path);
    if (error != 0) failure = strerror(error);
  }
  if (failure != NULL) remove(aside);
  return failure;
}

/* }====================================================== */

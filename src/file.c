/*
** See file.h
*/

#define _DEFAULT_SOURCE		/* O_CLOEXEC, ftruncate */
#define _FILE_OFFSET_BITS 64

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard.h"


/* it grows by a quarter, but no less and no more than this */
#define GROW_LEAST	((size_t)1 << 18)
#define GROW_MOST	((size_t)1 << 23)

/* all that is mapped begins and ends at multiples: pages are no larger */
#define GROW_UNIT	((size_t)1 << 16)

/* room for what is no node */
#if UINTPTR_MAX > UINT32_MAX
#define SPACE_MORE	((size_t)1 << 31)
#else
#define SPACE_MORE	((size_t)1 << 27)
#endif
#define SPACE_LEAST	((size_t)1 << 24)


/* {======================================================
** Growing
** ======================================================= */

/* did someone cut it short? then it is no good to go on */
static int file_cut (const File *f) {
  struct stat s;
  return guard_lost(f->guard) ||
         (fstat(f->fd, &s) == 0 && (uint64_t)s.st_size < f->mapped);
}


static int file_grow (File *f, size_t least) {
  size_t more = f->mapped / 4, to;
  if (more < GROW_LEAST) more = GROW_LEAST;
  if (more > GROW_MOST) more = GROW_MOST;
  if (more < least) more = least;
  to = (f->mapped + more + GROW_UNIT - 1) & ~(GROW_UNIT - 1);
  if (f->fd < 0 || file_cut(f)) f->error = EIO;
  else if (to > f->space) f->error = ENOMEM;
  else f->error = platform_extend(f->fd, f->mapped, to);
  if (f->error == 0 && !platform_map(f->base + f->mapped, to - f->mapped,
                                     f->fd, f->mapped))
    f->error = ENOMEM;
  if (f->error != 0) return 0;
  f->mapped = to;
  return 1;
}


FileBlock *file_block (File *f, uint32_t kind, uint32_t owner, size_t size) {
  FormatHeader *h = file_header(f);
  size_t from = (size_t)h->units * FORMAT_UNIT, to;
  FileBlock *b;
  if (size > f->space) return NULL;
  to = from + sizeof *b + size + FORMAT_UNIT - 1;
  to -= to % FORMAT_UNIT;
  /* who cut it short may have wiped the header */
  if (from < FORMAT_BLOCKS || from > f->mapped) return NULL;
  if (to > f->mapped && !file_grow(f, to - f->mapped)) return NULL;
  b = (FileBlock *)(void *)(f->base + from);
  b->kind = kind;
  b->owner = owner;
  b->units = (uint32_t)((to - from) / FORMAT_UNIT);
  platform_publish(&h->units, h->units + b->units);
  return b;
}


static void *file_getnodes (void *ud, uint32_t owner, size_t size) {
  FileBlock *b = file_block(cast(File *, ud), BLOCK_NODES, owner, size);
  return b ? block_data(b) : NULL;
}


static void *file_getlines (void *ud, uint32_t owner, size_t size) {
  FileBlock *b = file_block(cast(File *, ud), BLOCK_LINES, owner, size);
  if (b == NULL) return NULL;
  platform_publish(&b->used, (uint32_t)(size / sizeof(Line)));
  return block_data(b);
}


static void *file_gettolls (void *ud, uint32_t owner, size_t size) {
  FileBlock *b = file_block(cast(File *, ud), BLOCK_TOLLS, owner, size);
  return b ? block_data(b) : NULL;
}


const char *file_failure (const File *f) {
  if (guard_lost(f->guard) || f->error == EIO)
    return "the file was cut short by someone else";
  switch (f->error) {
    case 0: return NULL;
    case ENOSPC: return "no space left for the file";
    case EDQUOT: return "no space left for the file: quota exceeded";
    case EFBIG: return "the file has reached the size that it may have";
    case ENOMEM: return "out of memory";
    default: return "the file cannot grow";
  }
}

/* }====================================================== */


/* {======================================================
** Opening
** ======================================================= */

static int file_refuse (char *why, const char *path, const char *what) {
  snprintf(why, FILE_MESSAGE, "%.300s: %s", path, what);
  return 0;
}


/* another one writes it: the header says who */
static int file_taken (int fd, const char *path, char *why) {
  FormatHeader h;
  char who[80] = "another program writes to it";
  if (pread(fd, &h, sizeof h, 0) == (ssize_t)sizeof h &&
      memcmp(h.magic, FORMAT_MAGIC, sizeof h.magic) == 0)
    snprintf(who, sizeof who, "process %lld writes to it", (long long)h.pid);
  return file_refuse(why, path, who);
}


/* may it be replaced? what is no profile is left as it is */
static int file_accept (int fd, int locked, const char *path, char *why) {
  struct stat s;
  char magic[8];
  if (fstat(fd, &s) != 0) return file_refuse(why, path, strerror(errno));
  if (!S_ISREG(s.st_mode))
    return file_refuse(why, path, "not a regular file");
  if (locked) return file_taken(fd, path, why);
  if (fstat(fd, &s) == 0 && s.st_size > 0 &&
      (pread(fd, magic, sizeof magic, 0) != (ssize_t)sizeof magic ||
       memcmp(magic, FORMAT_MAGIC, sizeof magic) != 0))
    return file_refuse(why, path, "exists, and is no profile");
  return 1;
}


int file_yields (const char *path, char *why) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ok;
  if (fd < 0)
    return errno == ENOENT || file_refuse(why, path, strerror(errno));
  ok = file_accept(fd, platform_locked(fd), path, why);
  close(fd);
  return ok;
}


static void file_begin (File *f) {
  FormatHeader *h = file_header(f);
  memcpy(h->magic, FORMAT_MAGIC, sizeof h->magic);
  h->order = FORMAT_ORDER;
  h->version = FORMAT_VERSION;
  h->sizes[0] = (uint32_t)sizeof *h;
  h->sizes[1] = (uint32_t)sizeof(FileBlock);
  h->sizes[2] = (uint32_t)sizeof(Node);
  h->sizes[3] = (uint32_t)sizeof(Line);
  h->pid = f->pid;
  h->units = FORMAT_BLOCKS / FORMAT_UNIT;
  f->nodes.get = file_getnodes;
  f->nodes.shown = &h->nodes;
  f->lines.get = file_getlines;
  f->tolls.get = file_gettolls;
  f->nodes.ud = f->lines.ud = f->tolls.ud = f;
}


/* as much as there is, where that is limited */
static int file_room (File *f, uint32_t nodes) {
  uint64_t wanted = (uint64_t)nodes * sizeof(Node);
  wanted += wanted / 16 + SPACE_MORE;
  if (wanted > SIZE_MAX / 4) wanted = SIZE_MAX / 4;
  wanted = (wanted + GROW_UNIT - 1) & ~(uint64_t)(GROW_UNIT - 1);
  for (; wanted >= SPACE_LEAST; wanted /= 2) {
    f->space = (size_t)wanted & ~(GROW_UNIT - 1);
    f->base = cast(char *, platform_space(f->space));
    if (f->base != NULL) return 1;
  }
  f->error = ENOMEM;
  return 0;
}


/* the file is ours: from here on what it held is gone */
static int file_map (File *f, uint32_t nodes, void (*tell) (void *ud),
                     void *ud) {
  if (!file_room(f, nodes)) return 0;
  f->guard = guard_add(f->base, f->space, tell, ud);
  if (f->guard == GUARD_NONE) f->error = EMFILE;
  else if (ftruncate(f->fd, 0) != 0) f->error = errno;
  else if (file_grow(f, FORMAT_BLOCKS)) file_begin(f);
  return f->error == 0;
}


File *file_create (const char *path, uint32_t nodes,
                   void (*tell) (void *ud), void *ud, char *why) {
  int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  File *f = cast(File *, calloc(1, sizeof *f));
  if (f == NULL) {
    file_refuse(why, path, strerror(ENOMEM));
    return NULL;
  }
  f->guard = GUARD_NONE;
  f->pid = platform_process();
  f->fd = open(path, flags, 0666);
  if (f->fd < 0) file_refuse(why, path, strerror(errno));
  else if (file_accept(f->fd, !platform_lock(f->fd), path, why)) {
    if (file_map(f, nodes, tell, ud)) return f;
    file_refuse(why, path, strerror(f->error));
  }
  file_free(f);
  return NULL;
}

/* }====================================================== */


/* {======================================================
** Closing
** ======================================================= */

int file_mine (const File *f) {
  return f->pid == platform_process();
}


int file_close (File *f, int ended) {
  FormatHeader *h = file_header(f);
  int mine = f->fd >= 0 && file_mine(f) && !file_cut(f);
  off_t size;
  if (f->fd < 0) return 1;
  size = (off_t)h->units * (off_t)FORMAT_UNIT;
  if (mine && ended) platform_publish(&h->state, FORMAT_ENDED);
  if (!platform_unmap(f->base, f->mapped, f->fd)) return 0;
  if (mine && ended && ftruncate(f->fd, size) != 0)
    f->error = 0;  /* it just stays longer */
  close(f->fd);
  f->fd = -1;
  f->error = f->error ? f->error : guard_lost(f->guard) ? EIO : 0;
  guard_remove(f->guard);
  f->guard = GUARD_NONE;
  return 1;
}


void file_free (File *f) {
  if (f == NULL) return;
  guard_remove(f->guard);
  if (f->base != NULL) platform_freepage(f->base, f->space);
  if (f->fd >= 0) close(f->fd);
  free(f);
}

/* }====================================================== */

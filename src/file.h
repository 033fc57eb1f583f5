/*
** A file that grows: blocks of a profile (format.h) as pages of memory.
** Its bytes lie together, so that what points into them stays good while
** it grows, and stays good when it is closed: memory then takes the place
** of the file, until 'file_free'.
*/

#ifndef file_h
#define file_h

#include "chunk.h"
#include "format.h"


typedef struct File {
  char *base;		/* where the header is */
  size_t space;		/* most bytes that there can be */
  size_t mapped;	/* bytes that there are, and that lie on the disk */
  int fd;		/* -1: closed */
  int guard;
  int error;		/* why it could not grow, as of errno; 0: it could */
  long pid;		/* who writes it */
  Pages nodes, lines, tolls;
} File;

/* room for the message of 'file_create' */
#define FILE_MESSAGE	512

/*
** Creates a file, or takes the place of the profile that it holds, with
** room for 'nodes' nodes and what goes with them. NULL: it cannot be, for
** another program writes it, or as the system says; 'why' is filled in.
** 'tell' is as of 'guard_add'.
*/
CPROF_I File *file_create (const char *path, uint32_t nodes,
                           void (*tell) (void *ud), void *ud, char *why);

/*
** May another profile take the place of the file at 'path'? Not while it
** is written, and not if it is no profile. 0: no, and 'why' says so.
*/
CPROF_I int file_yields (const char *path, char *why);

static inline FormatHeader *file_header (const File *f) {
  return (FormatHeader *)(void *)f->base;
}

/* a new block with room for 'size' bytes of zeros; NULL: no room */
CPROF_I FileBlock *file_block (File *f, uint32_t kind, uint32_t owner,
                               size_t size);

/* what a block holds */
static inline void *block_data (FileBlock *b) {
  return b + 1;
}

/* why it does not hold all that it should, or NULL */
CPROF_I const char *file_failure (const File *f);

/* is this the process that writes it? it may be the child of a fork */
CPROF_I int file_mine (const File *f);

/*
** Closes it; what it holds stays in memory. 'ended': nothing will be
** added any more. 0: out of memory, it stays open.
*/
CPROF_I int file_close (File *f, int ended);

/* the same, but what it holds is gone from memory */
CPROF_I void file_free (File *f);

#endif

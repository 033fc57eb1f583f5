/*
** A file that grows: blocks of a profile (format.h) as pages of memory.
** Other programs may write to the file, so positions of data are never read
** back from it.
** It is mapped into reserved addresses, so pointers into it stay valid
** while it grows, and when it is closed: memory then takes its place, until
** 'mapped_free'.
*/

#ifndef mapped_h
#define mapped_h

#include "base/chunks.h"
#include "file/format.h"


typedef struct MappedFile {
  char *base;		/* where the header is */
  size_t space;		/* most bytes that there can be */
  size_t mapped;	/* bytes that there are, reserved on the disk */
  uint32_t units;	/* where the blocks end, as in the header */
  uint64_t blocks;	/* hash of the blocks' headers */
  int fd;		/* -1: closed */
  int range;		/* see sigbus.h */
  int error;		/* why it could not grow, an errno; 0: it could */
  long pid;		/* the process that writes it */
  uint64_t id;		/* as in the header */
  Pages nodes, lines, instructions, allocated, kinds, waits;
} MappedFile;

/* room for the message of 'mapped_create' */
#define MAPPED_MESSAGE	512

/*
** Creates a file, or replaces the profile that it holds, with room for
** 'nodes' nodes and what goes with them. NULL: another program writes it,
** or the system refuses; 'why' says so. 'tell' is as of 'sigbus_add'.
*/
CPROF_I MappedFile *mapped_create (const char *path, uint32_t nodes,
                                   void (*tell) (void *ud), void *ud,
                                   char *why);

/*
** May another profile replace the file at 'path'? Not while it is written,
** and not if it is no profile. 0: no, and 'why' says so.
*/
CPROF_I int mapped_replaceable (const char *path, char *why);

static inline FormatHeader *mapped_header (const MappedFile *f) {
  return (FormatHeader *)(void *)f->base;
}

/*
** A new block with room for 'size' bytes of zeros, or more; NULL: no room.
*/
CPROF_I FileBlock *mapped_block (MappedFile *f, uint32_t kind, uint32_t owner,
                                 size_t size);

static inline void *block_data (FileBlock *b) {
  return b + 1;
}

/* The block after another (NULL: the first one); NULL: there is none. */
CPROF_I const FileBlock *mapped_next (const MappedFile *f,
                                      const FileBlock *b);

/* Bytes that a block has room for. */
CPROF_I size_t mapped_inblock (const MappedFile *f, const FileBlock *b);

/* Are all blocks still those that were made, with none cut off? */
CPROF_I int mapped_intact (MappedFile *f);

/* Why it does not hold all that it should, or NULL. */
CPROF_I const char *mapped_failure (const MappedFile *f);

/*
** Is the file's header still the one that this process wrote? Other programs
** can write to the file. MAPPED_OVERWRITTEN is the reason for ending if the
** header, or anything else in the file, was changed.
*/
CPROF_I int mapped_ours (const MappedFile *f);
#define MAPPED_OVERWRITTEN	"the file was overwritten by another program"

/* Is this the process that writes it, not the child of a fork? */
CPROF_I int mapped_mine (const MappedFile *f);

/*
** Closes it; what it holds stays in memory. 'ended': nothing will be added
** any more. 0: out of memory, it stays open.
*/
CPROF_I int mapped_close (MappedFile *f, int ended);

/* Closes it and frees what it holds. 'f' may be NULL. */
CPROF_I void mapped_free (MappedFile *f);

#endif

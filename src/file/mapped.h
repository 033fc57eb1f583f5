/*
** A file that grows, mapped into memory: the blocks of a profile (format.h).
** Other programs may write to the file, so positions of data are never read
** back from it.
** The file is mapped into reserved addresses, so pointers into it stay valid
** while it grows. They also stay valid after it is closed: memory with the
** same bytes takes its place, until 'mapped_free'.
*/

#ifndef mapped_h
#define mapped_h

#include "base/chunks.h"
#include "file/format.h"


typedef struct MappedFile {
  char *base;		/* where the header is */
  size_t space;		/* bytes of reserved addresses */
  size_t mapped;	/* bytes that are mapped, and reserved on the disk */
  uint32_t units;	/* where the blocks end, as in the header */
  uint64_t blocks;	/* hash of the blocks' headers */
  size_t rings;		/* bytes of a ring's blocks, without the first one */
  int fd;		/* -1: closed */
  int range;		/* see sigbus.h */
  int error;		/* why it could not grow: an errno, or MAPPED_CUT; 0:
			   it could */
  PlatformSelf owner;	/* the process that writes it */
  uint64_t id;		/* as in the header */
  Pages pages[BLOCK_COUNT];
} MappedFile;

/* room for the message of 'mapped_create' */
#define MAPPED_MESSAGE	512

/*
** Creates a file, or replaces the profile that it holds. Addresses are
** reserved for 'nodes' nodes and what goes with them, or for fewer nodes.
** 'tell' is called as by 'sigbus_add'. NULL: another program writes the file,
** it holds something else, or the system refuses; 'why' says which.
*/
COLD CPROF_I MappedFile *mapped_create (const char *path, uint32_t nodes,
                                        void (*tell) (void *ud), void *ud,
                                        char *why);

/*
** Creates a file at 'aside', which 'mapped_replace' moves to 'path' once it is
** complete. NULL: as above, and 'why' names 'path', which the user gave.
*/
COLD CPROF_I MappedFile *mapped_createaside (const char *path,
                                             const char *aside,
                                             uint32_t nodes, char *why);

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

/* Are all blocks still as they were made, with none cut off? */
CPROF_I int mapped_intact (MappedFile *f);

/* Why the file does not hold all that was recorded; NULL: it does. */
CPROF_I const char *mapped_failure (const MappedFile *f);

/*
** Is the file's header still the one that this process wrote? Other programs
** can write to the file. If they have changed anything in it, recording ends
** for the reason MAPPED_OVERWRITTEN.
*/
CPROF_I int mapped_ours (const MappedFile *f);
#define MAPPED_OVERWRITTEN	"the file was overwritten by another program"

/* Is this the process that made the file, not the child of a fork? */
CPROF_I int mapped_mine (const MappedFile *f);

/*
** Closes the file; its contents stay in memory. If 'ended', the file is
** complete: it gets its checksum. 0: out of memory, and the file stays open.
*/
CPROF_I int mapped_close (MappedFile *f, int ended);

/* Closes the file and frees its contents in memory. 'f' may be NULL. */
CPROF_I void mapped_free (MappedFile *f);

/*
** Frees a file that was created aside, and moves it to 'path'; with a
** 'failure', removes it. Returns the failure, or why it cannot be moved; NULL:
** it was.
*/
CPROF_I const char *mapped_replace (MappedFile *f, const char *path,
                                    const char *aside, const char *failure);

#endif

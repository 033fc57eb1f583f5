/*
** Reads the file of a profile, and checks that all blocks and records lie
** within the file.
*/

#ifndef reader_h
#define reader_h

#include "file/format.h"
#include "profile/snapshot.h"


typedef struct Loaded {
  Recording recording;
  Overhead overhead;
  Chunks nodeoverhead;	/* 'overhead' points to these two, in the file of a
			   saved profile */
  Chunks lineoverhead;
  Chunks texts;		/* number in the file -> id in the recording */
  char *bytes;		/* the file's contents; nodes and lines stay there */
  size_t size;
  int live;		/* is the file still being written? */
  int counted;		/* is the number of its events known? */
  int64_t clamped;	/* as in FormatHeader */
  uint64_t since;	/* ticks from the last event until now, if live, or
			   until a signal ended the program; else 0 */
  int divided;		/* is it known how much of 'since' was waiting? */
  uint64_t waited;	/* ticks of 'since' that were, if so; else 0 */
  char why[512];	/* what is wrong with the file */
} Loaded;

/*
** Reads the file at 'path'. '*l' must be all zeros before, and has to be freed
** in any case. 0: the file cannot be read, or is not a profile, and 'l->why'
** says why.
*/
CPROF_I int reader_open (Loaded *l, const Memory *m, const char *path);

/* Reads a profile from 'bytes', which 'l' owns from now on. As reader_open. */
CPROF_I int reader_load (Loaded *l, const Memory *m, char *bytes, size_t size);

CPROF_I void reader_free (Loaded *l);

/*
** Makes a recording of the blocks and records, whose contents are checked
** before use. 0: the file is damaged, or out of memory; 'l->why' says which.
*/
CPROF_I int restore (Loaded *l);

/* a place among the records; zeros: before the first record */
typedef struct RecordCursor {
  const FileBlock *block;
  const FileRecord *record;	/* NULL: after the block's last record */
} RecordCursor;

/* The next record of a kind; NULL: there is none. */
CPROF_I const FileRecord *reader_next (const Loaded *l, RecordCursor *at,
                                       uint32_t kind);

/* The id of a text by its number; TEXT_FAILED: there is none. */
CPROF_I uint32_t reader_textid (const Loaded *l, uint32_t number);

/* The text with this number; "" when there is none. */
CPROF_I const char *reader_text (const Loaded *l, uint32_t number,
                                 size_t *length);


/* Set 'l->why', and return 0. */
CPROF_I int reader_fail (Loaded *l, const char *damage);
CPROF_I int reader_nomemory (Loaded *l);


static inline const FileBlock *block_first (const Loaded *l) {
  return (const FileBlock *)(const void *)(l->bytes + FORMAT_BLOCKS);
}


static inline const FileBlock *block_after (const FileBlock *b) {
  return b + b->units;  /* a FileBlock has the size of a unit */
}


static inline const FileBlock *block_end (const Loaded *l) {
  return (const FileBlock *)(const void *)(l->bytes + l->size);
}


static inline const char *block_bytes (const FileBlock *b) {
  return (const char *)(b + 1);
}


static inline size_t block_room (const FileBlock *b) {
  return (size_t)(b->units - 1) * FORMAT_UNIT;
}


static inline const char *record_data (const FileRecord *r) {
  return (const char *)(r + 1);
}

#endif

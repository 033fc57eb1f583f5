/*
** The journal: all of a profile in a file that is not a counter (texts,
** functions, sources, names), written as it becomes known.
*/

#ifndef journal_h
#define journal_h

#include "file/mapped.h"
#include "identity/function.h"


/* what was written about a source */
typedef struct SourceNote {
  uint64_t active;	/* hash of its lines with code */
  uint32_t flags;
  int noted, content;
} SourceNote;

typedef struct Journal {
  MappedFile *file;
  Functions *fs;
  FileBlock *block;	/* that is being filled */
  uint32_t used, room;	/* bytes of it */
  uint64_t written;	/* hash of all records */
  uint32_t texts;	/* that were written */
  uint32_t functions;
  SourceNote *note;	/* by index of the source */
  uint32_t notes;
} Journal;

CPROF_I void journal_init (Journal *j, MappedFile *f, Functions *fs);
CPROF_I void journal_free (Journal *j);

/* Are the records in the file still those that were written? */
CPROF_I int journal_intact (const Journal *j);

/* All of these return 0 when there is no room. */

/* Writes all new texts and functions. */
CPROF_I int journal_functions (Journal *j);

/* Writes what is new of a source whose lines are counted, by index. */
CPROF_I int journal_source (Journal *j, uint32_t index);

CPROF_I int journal_meta (Journal *j, const char *key, const char *value,
                          size_t length);

/* A function is found as 'path'; with a 'key', it is a C function. */
CPROF_I int journal_path (Journal *j, uint64_t key, const char *source,
                          int line, int last, const char *path);

/* What a function is called in the end. */
CPROF_I int journal_name (Journal *j, uint32_t func, const char *name,
                          size_t length, const char *title, size_t titlelength);

#endif

/*
** The journal: everything in the file of a profile that is not a counter
** (texts, functions, sources, names), written as it becomes known.
*/

#ifndef journal_h
#define journal_h

#include "file/mapped.h"
#include "identity/function.h"


/* what was written about a source so far */
typedef struct SourceNote {
  uint64_t active;	/* hash of its lines with code */
  uint32_t flags;
  int noted, content;	/* were a SourceRecord, and its text, written? */
} SourceNote;

typedef struct Journal {
  MappedFile *file;
  Functions *fs;
  FileBlock *block;	/* the block that is being filled */
  uint32_t used, room;	/* bytes in 'block' */
  uint64_t written;	/* hash of all records */
  uint32_t texts;	/* texts written so far */
  uint32_t functions;	/* functions written so far */
  SourceNote *note;	/* by index of the source */
  uint32_t notes;	/* room in 'note' */
} Journal;

CPROF_I void journal_init (Journal *j, MappedFile *f, Functions *fs);
CPROF_I void journal_free (Journal *j);

/* Are the records in the file still those that were written? */
CPROF_I int journal_intact (const Journal *j);

/* All functions below return 0 when there is no room. */

/* Writes all new texts and functions. */
CPROF_I int journal_functions (Journal *j);

/* Writes what is new about a source whose lines are counted. */
CPROF_I int journal_source (Journal *j, uint32_t index);

/* Writes a key and its value. */
CPROF_I int journal_meta (Journal *j, const char *key, const char *value,
                          size_t length);

/*
** Notes that a function is found as 'path' in global tables. A C function is
** given by its 'key', a Lua function by its lines, and 0 for 'key'.
*/
CPROF_I int journal_path (Journal *j, uint64_t key, const char *source,
                          int line, int last, const char *path);

/* Notes the final name of a function. */
CPROF_I int journal_name (Journal *j, uint32_t func, const char *name,
                          size_t length, const char *title, size_t titlelength);

#endif

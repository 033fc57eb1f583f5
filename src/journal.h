/*
** The journal: all of a profile in a file that is not counted (texts,
** functions, sources, names), written down as it becomes known.
*/

#ifndef journal_h
#define journal_h

#include "file.h"
#include "function.h"


/* what was written of a source */
typedef struct SourceNote {
  uint64_t print;	/* hash of its lines with code */
  uint32_t flags;
  int noted, content;
} SourceNote;

typedef struct Journal {
  File *file;		/* NULL: there is none */
  Functions *fs;
  FileBlock *block;		/* that is being filled */
  uint32_t texts;	/* that were written */
  uint32_t functions;
  SourceNote *note;	/* by index of the source */
  uint32_t notes;
} Journal;

CPROF_I void journal_init (Journal *j, File *f, Functions *fs);
CPROF_I void journal_free (Journal *j);

/* all of these give 0 when there is no room for it */

/* writes all texts and functions that are new */
CPROF_I int journal_functions (Journal *j);

/* writes what is new of a source whose lines are counted, by index */
CPROF_I int journal_source (Journal *j, uint32_t index);

CPROF_I int journal_meta (Journal *j, const char *key, const char *value,
                          size_t length);

/* a function is found as 'path'; with a 'key', it is one in C */
CPROF_I int journal_path (Journal *j, uint64_t key, const char *source,
                          int line, int last, const char *path);

/* what a function is called in the end */
CPROF_I int journal_name (Journal *j, uint32_t func, const char *name,
                          size_t length, const char *title, size_t titlelength);

#endif

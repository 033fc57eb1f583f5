/*
** Reads the file of a profile, as a recording that was stopped. It is
** believed in nothing: what it holds is checked before it is used.
*/

#ifndef reader_h
#define reader_h

#include "format.h"
#include "recording.h"


typedef struct Loaded {
  Recording recording;
  Hot hot;		/* its events */
  Node nobody;		/* stands for the profiler's own node, if none */
  Chunks texts;		/* number in the file -> id in the recording */
  char *bytes;		/* the file, which nodes and lines lie in */
  size_t size;
  int live;		/* is it still being written? */
  char why[512];	/* what is wrong with it */
} Loaded;

/*
** Reads the file at 'path'. 0: it cannot be read, or is no profile, and
** 'why' says so. There is something to be freed in both cases.
*/
CPROF_I int reader_open (Loaded *l, const Memory *m, const char *path);

/* the same, of 'bytes', which belong to 'l' from now on */
CPROF_I int reader_load (Loaded *l, const Memory *m, char *bytes, size_t size);

CPROF_I void reader_free (Loaded *l);

/*
** The next record of a kind after 'r' (NULL: the first one), in a file
** that was found to be good; NULL: there is none.
*/
CPROF_I const Record *reader_next (const Loaded *l, const Record *r,
                                   uint32_t kind);

/* the text with this number; "" when there is none */
CPROF_I const char *reader_text (const Loaded *l, uint32_t number,
                                 size_t *length);

#endif

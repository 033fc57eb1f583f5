/*
** A live file: the store that keeps a recording in a file while it goes on.
** Other processes can read the file at any time, even after this process was
** killed.
*/

#ifndef livefile_h
#define livefile_h

#include "cost/compensate.h"
#include "file/journal.h"
#include "follow/recorder.h"


/*
** Asks the Lua part, in protected mode, and writes its answer to the journal.
** At the start, 'r' is NULL, and it asks what the program is and where its
** functions are found. At the end, and when a snapshot is taken, it asks for
** names of functions. Returns 0 if the file has no room.
*/
typedef int (*LiveFileAsk) (lua_State *L, Journal *j, Recorder *r);

typedef struct LiveFile {
  Store store;
  MappedFile *file;
  Recorder *recorder;
  Journal journal;
  LiveFileAsk ask;
  Overhead overhead;
  uint32_t max_nodes;
  uint32_t named;	/* number of functions when they were last named */
  uint32_t generation;	/* as in the header */
  int overwritten;	/* did another program write to the file? */
  uint64_t rated;	/* ns from the start to the last measured rate */
  char *path;		/* behind this struct; absolute; "%p" stands for the id of the process */
} LiveFile;

/*
** Makes a store with the file at 'path', where "%p" stands for the id of the
** process. 'whole' is the same path, but absolute: children of a fork make
** their files from it. NULL: the file cannot be created, and 'why'
** (MAPPED_MESSAGE bytes) says why. The recorder that begins with the store
** owns it.
*/
COLD CPROF_I Store *livefile_create (Recorder *r, const char *path,
                                     const char *whole, uint32_t max_nodes,
                                     const Overhead *o, LiveFileAsk ask,
                                     char *why);

/* Writes the names that functions have now. 's' may be NULL. */
CPROF_I void livefile_names (Store *s, Recorder *r, lua_State *L);

/* Writes costs that are known better by now. 's' may be NULL. */
CPROF_I void livefile_costs (Store *s, const Costs *c);

#endif

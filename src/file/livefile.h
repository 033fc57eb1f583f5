/*
** A live file: the store of a recording that lies in a file while it goes
** on. Other processes can read it at any time, and it is complete after
** the end of this one.
*/

#ifndef livefile_h
#define livefile_h

#include "file/journal.h"
#include "follow/recorder.h"
#include "profile/snapshot.h"


/*
** What is asked of the Lua part, in protected mode. Both write to the
** journal, return 0 when there is no room, and may do nothing.
*/
typedef struct LiveFileCalls {
  /* what the program is, and how functions are found, at the start */
  int (*describe) (lua_State *L, Journal *j);
  /* what functions are called, in the end or when a snapshot is taken */
  int (*name) (lua_State *L, Journal *j, Recorder *r);
} LiveFileCalls;

typedef struct LiveFile {
  Store store;
  MappedFile *file;
  Recorder *recorder;
  Journal journal;
  LiveFileCalls calls;
  Overhead overhead;
  uint32_t max_nodes;
  uint32_t named;	/* functions there were when they were named */
  uint32_t generation;	/* as in the header */
  int overwritten;	/* did another program write to it? */
  uint64_t rated;	/* ns, when the rate in the file was measured */
  char *path;		/* absolute; "%p" stands for the process */
} LiveFile;

/*
** A store for the file at 'path', in which "%p" becomes the process; 'whole'
** is its absolute path, for the files of children of a fork.
** NULL: it cannot be created, and 'why' (MAPPED_MESSAGE bytes) says why. It
** belongs to the recorder that begins with it.
*/
CPROF_I Store *livefile_create (Recorder *r, const char *path,
                                const char *whole, uint32_t max_nodes,
                                const Overhead *o, const LiveFileCalls *calls,
                                char *why);

/* Names functions as they are at present. 's' may be NULL. */
CPROF_I void livefile_names (Store *s, Recorder *r, lua_State *L);

/* Sets the costs, when they are known better. 's' may be NULL. */
CPROF_I void livefile_costs (Store *s, const Costs *c);

#endif

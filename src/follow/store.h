/*
** What keeps a recording outside of memory, see file/livefile.h. Without
** one, counters lie in memory.
*/

#ifndef store_h
#define store_h

#include "count/recording.h"


struct Recorder;

typedef struct Store {
  const Pages *nodes, *lines;	/* where their chunks come from ... */
  const Pages *instructions;	/* modes count and sample: in place of lines */
  const Pages *allocated, *kinds;	/* where allocations are counted */
  const Pages *waits;
  Figures *figures;
  const Node **running;		/* where to tell which node runs */
  /* Takes all that there is so far. 0: no room for it. */
  int (*begin) (struct Store *s, struct Recorder *r);
  /* Recording has begun. May raise an error of Lua's. */
  void (*started) (struct Store *s, struct Recorder *r, lua_State *L);
  /* See Policy. */
  int (*notify) (void *store, uint32_t source);
  /* All nodes are about to be forgotten. */
  void (*clear) (struct Store *s, const struct Recorder *r);
  /* They are, and the root is there again. */
  void (*cleared) (struct Store *s);
  /* Is it damaged, so that recording must end? */
  int (*lost) (struct Store *s);
  /* Is it not, as far as a look at all of it can tell? */
  int (*sound) (struct Store *s);
  /* Recording ended by itself. Returns the reason, 'why' or a better one. */
  const char *(*end) (struct Store *s, const char *why);
  /* Recording has stopped: completes it, and keeps the data in memory, but
     forgets what others may have changed. */
  void (*finish) (struct Store *s, struct Recorder *r, lua_State *L);
  /* Leaves it as it is, in the child of a fork: it is another process's. */
  void (*abandon) (struct Store *s, struct Recorder *r);
  /* A store for the child of a fork, or NULL: it is not to be recorded. */
  struct Store *(*child) (struct Store *s, struct Recorder *r);
  void (*free) (struct Store *s);
} Store;

#endif

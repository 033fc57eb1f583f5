/*
** A store keeps a recording outside of memory, see file/livefile.h. Without
** one, counters are in memory.
*/

#ifndef store_h
#define store_h

#include "count/recording.h"


struct Recorder;

typedef struct Store {
  const Pages *pages;	/* by BlockKind: where chunks come from */
  Figures *figures;
  const Node **running;		/* where the node that runs is published */
  /* Takes over all that was recorded so far. 0: no room for it. */
  int (*begin) (struct Store *s, struct Recorder *r);
  /* Recording has begun. May raise an error of Lua's. */
  void (*started) (struct Store *s, struct Recorder *r, lua_State *L);
  /* See Policy. */
  int (*notify) (void *store, uint32_t source);
  /* An interval of samples of allocations has changed. */
  void (*changed) (struct Store *s, const struct Recorder *r);
  /* Called before all nodes are forgotten. */
  void (*clear) (struct Store *s, const struct Recorder *r);
  /* Called after all nodes have been forgotten, and a new root was made. */
  void (*cleared) (struct Store *s);
  /* Is the store damaged, so that recording must end? A quick check. */
  int (*lost) (struct Store *s);
  /* Is the store free of damage? A check of all that is in it. */
  int (*sound) (struct Store *s);
  /* Recording ended by itself. Returns the reason, 'why' or a better one. */
  const char *(*end) (struct Store *s, const char *why);
  /* Recording has stopped: completes the store, and moves its data to memory,
     except what others may have changed. */
  void (*finish) (struct Store *s, struct Recorder *r, lua_State *L);
  /* In the child of a fork: leaves the store, the parent's, unchanged. */
  void (*abandon) (struct Store *s, struct Recorder *r);
  /* A new store for the child of a fork; NULL: do not record the child. */
  struct Store *(*child) (struct Store *s, struct Recorder *r);
  void (*free) (struct Store *s);
} Store;

#endif

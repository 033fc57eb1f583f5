/*
** Where Lua's structures have their fields in another process, by release,
** and the proof that they are there. What they are in this process, and what
** no release changes, is in internals/internals.h.
*/

#ifndef remote_layout_h
#define remote_layout_h

#include "remote/memory.h"

#if PLATFORM_WATCH


#define REMOTE_GLOBAL_REGISTRY	64	/* a value */
#define REMOTE_GLOBAL_OBJECTS	112	/* the list of what is collected */
#define REMOTE_OBJECT_NEXT	0
#define REMOTE_TABLE_ARRAY	16
#define REMOTE_VALUE	16	/* bytes of a value in the stack */
#define REMOTE_STATUS_MOST	5	/* the last of Lua's statuses */

typedef struct RemoteLayout {
  const char *release;
  /* in a lua_State; the pointer before the stack's is to its end */
  size_t status, stack, base, jump;
  int64_t global;	/* bytes from the main thread to the global_State */
  size_t main;		/* the pointer back to it; 0: there is none */
  size_t mainslot;	/* slot of the registry in which the main thread is */
  /* offset of a CallInfo's marks, and bits in them */
  size_t marks;
  uint32_t c, tail;
  uint32_t fresh;	/* 0: each call of Lua has a C frame of its own */
  int newer;		/* are arrays and long strings those of Lua 5.5? */
  size_t hint;		/* in a table: a byte whose highest bit says that its
			   array may be larger than its size says; 0: never */
} RemoteLayout;

/* The layout with that 'release'; NULL: there is none. */
CPROF_I const RemoteLayout *remote_layout (const char *release);

/* a thread of Lua, main or coroutine, whose pointers fit */
typedef struct RemoteThread {
  uint64_t at, global;
  uint64_t ci;		/* what runs; the base if nothing does */
  uint64_t base;
  uint64_t stack, last;
  uint64_t above;	/* no function of a call is here, or above */
  uint64_t jump;	/* an address in its C stack; 0: there is none */
  unsigned status;
  uint32_t values;	/* number of values in the stack, above the slot of
			   the base */
  uint32_t depth;	/* number of CallInfos above the base */
} RemoteThread;

/* a search for states */
typedef struct RemoteSearch {
  uint64_t from, to;	/* what is left to be searched */
  uint64_t at;		/* found: the main thread */
  const RemoteLayout *layout;  /* found: the state's layout */
  const char *misfit;	/* what did not fit in the state of unknown layout that
			   passed most proofs; NULL: no such state */
  int level;		/* number of proofs that it passed */
} RemoteSearch;

/*
** Finds the next state. It may run meanwhile: only what stays the same is
** looked at. 0: there are no more.
*/
CPROF_I int remote_search (RemoteMemory *m, RemoteSearch *s);

/*
** Reads a thread, but not its calls: 'depth' stays 0. NULL: all fits; else,
** what does not.
*/
CPROF_I const char *remote_head (RemoteMemory *m, const RemoteLayout *l,
                                 uint64_t at, RemoteThread *t);

/*
** Sets the call '*ci' of a thread to its caller, until that is the base; and
** '*above', which begins as 't->above', to the slot of the function of the
** call. These slots lie one above the other, so this ends whatever the memory
** has. NULL: all fits; else, what does not.
*/
CPROF_I const char *remote_caller (RemoteMemory *m, const RemoteThread *t,
                                   uint64_t *ci, uint64_t *above);

/*
** Reads a thread, and follows its calls down to the base. NULL: all fits;
** else, what does not.
*/
CPROF_I const char *remote_thread (RemoteMemory *m, const RemoteLayout *l,
                                   uint64_t at, RemoteThread *t);

/* The kind of a value's tag, or of an object's, without collectable bit. */
CPROF_I unsigned remote_tag (RemoteMemory *m, uint64_t value);

#endif

#endif

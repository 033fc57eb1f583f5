/*
** Entries: cprof's own code runs within an entry, where nothing is recorded,
** and the program's debug hook is removed. Both are restored at the end.
** Functions of the program's, such as a writer, are called outside of entries,
** so they may raise errors and yield.
*/

#ifndef entry_h
#define entry_h

#include <lauxlib.h>

#include "base/savedhook.h"


typedef struct Entry {
  lua_State *L;		/* the coroutine it began in; NULL: nothing to undo */
  SavedHook own;	/* the program's hook, while it is removed; or none */
  int left;		/* instructions to its next event; 0: not known */
  int suspended;	/* has the entry suspended the recording? */
} Entry;

/*
** Puts back a hook that was taken from L, the program's or ours. A signal may
** have set another one since, whose event is still to come: sets that again
** over the one put back. 0: there is none.
*/
CPROF_I int entry_puthook (const SavedHook *own, lua_State *L);

/* Like lua_pcall without a message handler, but within an entry. */
CPROF_I int entry_pcall (lua_State *L, int arguments, int results);

/*
** 'entry_pcall' within a hook. Lua makes no events there, but it does count
** instructions towards the program's next count event: restores that count.
*/
CPROF_I int entry_ask (lua_State *L, int arguments, int results);

#endif

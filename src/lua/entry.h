/*
** Entries: while code of cprof's own runs, whoever has called it, nothing is
** recorded, and the debug hook of the program is away. Both come back as
** they were.
*/

#ifndef entry_h
#define entry_h

#include <lauxlib.h>

#include "record/lend.h"


typedef struct Entry {
  lua_State *L;		/* NULL: there is nothing to undo */
  LentHook own;		/* the program's hook, while it is away; or none */
  int left;		/* instructions to its next event; 0: not known */
  int suspended;	/* has it suspended the recording? */
  int out;		/* does a function of the program's run in it? */
} Entry;

/*
** Begins in the coroutine L, which runs, and ends there. Within another
** entry, it changes nothing. A start of the recording has to 'keep' the
** program's hook, to share events with it.
*/
CPROF_I void entry_begin (Entry *e, lua_State *L, int keep);
CPROF_I void entry_end (Entry *e, lua_State *L);

CPROF_I const luaL_Reg *entry_functions (void);

/* Makes the metatable. */
CPROF_I void entry_open (lua_State *L);

#endif

/*
** Entries: while code of cprof's own runs, whoever has called it, nothing is
** recorded, and the debug hook of the program is away. Both come back as
** they were. Functions of the program's, such as a writer, are called between
** entries, so that these may raise errors and yield.
*/

#ifndef entry_h
#define entry_h

#include <lauxlib.h>

#include "follow/lend.h"


typedef struct Entry {
  lua_State *L;		/* NULL: there is nothing to undo */
  LentHook own;		/* the program's hook, while it is away; or none */
  int left;		/* instructions to its next event; 0: not known */
  int suspended;	/* has it suspended the recording? */
} Entry;

/* As lua_pcall, without a message handler, within an entry. */
CPROF_I int entry_pcall (lua_State *L, int arguments, int results);

/*
** entry_pcall within a hook, where there are no events, but Lua counts what
** runs for the program's next one.
*/
CPROF_I int entry_ask (lua_State *L, int arguments, int results);

CPROF_I const luaL_Reg *entry_functions (void);

/* Makes the metatable. */
CPROF_I void entry_open (lua_State *L);

#endif

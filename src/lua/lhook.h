/*
** debug.sethook and debug.gethook while a program is recorded: they act on
** the program's own hook, which is called after the recorder's.
*/

#ifndef lhook_h
#define lhook_h

#include <lua.h>

#include "base/platform.h"


/*
** Replaces both functions in the table 'debug', if it has the library's
** own, and puts those back. May raise an error when out of memory.
*/
CPROF_I void lhook_replace (lua_State *L);
CPROF_I void lhook_putback (lua_State *L);

/*
** Pushes { name = function } of the replacements: they have the names of
** the library's own, but are not to be called.
*/
CPROF_I void lhook_pushnames (lua_State *L);

#endif

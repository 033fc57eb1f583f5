/*
** Replacements of debug.sethook and debug.gethook while a program is recorded:
** they set and return the program's hook, which is called after the
** recorder's.
*/

#ifndef lhook_h
#define lhook_h

#include <lua.h>

#include "base/platform.h"


/*
** Replaces each function in the table 'debug', if that has the library's; and
** puts the library's back. May raise an error when out of memory.
*/
CPROF_I void lhook_replace (lua_State *L);
CPROF_I void lhook_putback (lua_State *L);

/*
** Pushes { name = function } of the replacements, so that they can be shown
** under the library's names. These copies must not be called.
*/
CPROF_I void lhook_pushnames (lua_State *L);

#endif

/*
** Variables of calls in another process, as values of the Lua part.
*/

#ifndef lvariables_h
#define lvariables_h

#include <lauxlib.h>

#include "remote/variables.h"

#if PLATFORM_WATCH

/*
** Sets the fields 'variables' and 'more' of the table on top: descriptions of
** a call's variables, and the number of others. '*most', if it is not 0, is
** what still may be read, and becomes less.
*/
CPROF_I void lvariables_set (lua_State *L, RemoteMemory *m,
                             const RemoteLayout *l, const RemoteCall *c,
                             uint32_t *most);

#endif

#endif

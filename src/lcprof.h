/*
** The functions of the core.
*/

#ifndef lcprof_h
#define lcprof_h

#include <lua.h>

#include "recording.h"


/* is it one of them? */
CPROF_I int lcprof_own (lua_CFunction f);

/*
** Stops 'r', looks again at what it has cost, and closes its file.
** 0: nothing is being recorded.
*/
CPROF_I int lcprof_stop (Recording *r, lua_State *L);

#endif

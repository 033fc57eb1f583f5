/*
** The functions of the core.
*/

#ifndef lcprof_h
#define lcprof_h

#include <lua.h>

#include "platform.h"


/* is it one of them? */
CPROF_I int lcprof_own (lua_CFunction f);

#endif

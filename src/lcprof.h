/*
** The functions of the core.
*/

#ifndef lcprof_h
#define lcprof_h

#include <lua.h>


/* is it one of them? */
int lcprof_own (lua_CFunction f);

#endif

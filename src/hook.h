/*
** From the events of the virtual machine to the nodes of the tree.
*/

#ifndef hook_h
#define hook_h

#include "recording.h"


/*
** Takes the hook of the coroutine of 's', whose own is called from then
** on after ours, and gives it back.
*/
CPROF_I void hook_install (Recording *r, Stack *s);
CPROF_I void hook_remove (Recording *r, lua_State *L);

/* is the hook of L ours? */
CPROF_I int hook_installed (lua_State *L);

#endif

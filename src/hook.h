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

/* puts it back where it was taken away after that; else L has no hook */
CPROF_I void hook_restore (Recording *r, lua_State *L);

/* is the hook of L ours? */
CPROF_I int hook_installed (lua_State *L);

/* a coroutine that somebody may resume unseen; 0: out of memory */
CPROF_I int hook_attach (Recording *r, lua_State *co);

/* the recording that goes on in L's state, or NULL */
CPROF_I Recording *hook_recording (lua_State *L);

#endif

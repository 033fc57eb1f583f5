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
void hook_install (Stack *s);
void hook_remove (Recording *r, lua_State *L);

/* is the hook of L ours? */
int hook_installed (lua_State *L);

/*
** Makes the frames of 's' those that are really there, down to 'level',
** where 0 is the function that runs, on top of 'root'. Frames that were
** known stay, with their zones; others are adopted, without a call.
** 0: out of memory.
*/
int hook_sync (Recording *r, lua_State *running, Stack *s, int level,
               Node *root);

/*
** Puts the frames of 's' on top of 'root', in states of their own.
** 0: out of memory.
*/
int hook_rebase (Recording *r, Stack *s, Node *root);

/* 's' is the stack that runs from now on, and the time is now */
void hook_current (Recording *r, Stack *s);

/* room for one more frame on the current stack; 0: out of memory */
int hook_room (Hot *h);

#endif

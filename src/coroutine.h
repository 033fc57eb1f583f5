/*
** Switching between coroutines. No event tells of a yield; what tells is
** that the next event comes from another coroutine.
*/

#ifndef coroutine_h
#define coroutine_h

#include "recording.h"


/*
** Makes the stack of L the current one; what runs there is known from
** 'level' on. 'told': the last event was that L is about to be resumed.
** 0: out of memory.
*/
CPROF_I int coroutine_switch (Recording *r, lua_State *L, int level,
                              int told);

/*
** The same where no event tells, for C code that runs in L: the function
** that runs there, or none, is on top then. 0: out of memory.
*/
CPROF_I int coroutine_here (Recording *r, lua_State *L);

#endif

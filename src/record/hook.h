/*
** The hook: from the events of Lua's virtual machine to counters.
*/

#ifndef hook_h
#define hook_h

#include "follow/hooks.h"


/* The functions that are set as hooks. */
CPROF_I const Hooks *hook_functions (void);

#endif

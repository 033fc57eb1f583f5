/*
** The host's frames in a profile, for the Lua part.
*/

#ifndef lhistory_h
#define lhistory_h

#include <lauxlib.h>

#include "profile/history.h"


/* the methods of a history, which count as the profiler's own functions */
CPROF_I const luaL_Reg *lhistory_methods (void);

/* Makes the metatable. */
CPROF_I void lhistory_open (lua_State *L);

/*
** Pushes the history of frames for the nodes of snapshot 's', or nil when
** there are none. Raises an error when out of memory.
*/
CPROF_I void lhistory_push (lua_State *L, const Frames *f,
                            const Snapshot *s);

#endif

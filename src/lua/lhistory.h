/*
** The host's frames in a profile, for the Lua part.
*/

#ifndef lhistory_h
#define lhistory_h

#include <lauxlib.h>

#include "profile/history.h"


/*
** Pushes the history of frames for the nodes of snapshot 's', or nil when
** there are none. What it needs meanwhile comes from the arena 'm'.
*/
CPROF_I void lhistory_push (lua_State *L, const Memory *m, const Frames *f,
                            const Snapshot *s);

#endif

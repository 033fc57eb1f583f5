/*
** What Lua sees of history: a copy of all periods and averages, taken
** together with a snapshot.
*/

#ifndef lhistory_h
#define lhistory_h

#include "recording.h"
#include "snapshot.h"


/* makes the metatable */
CPROF_I void lhistory_open (lua_State *L);

/* is it one of the functions here? */
CPROF_I int lhistory_own (lua_CFunction f);

/* pushes a copy that goes with snapshot 's', or nil when there is none */
CPROF_I void lhistory_push (lua_State *L, const Recording *r,
                            const Snapshot *s);

#endif

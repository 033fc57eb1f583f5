/*
** The time axis of a profile, for the Lua part: a userdata.
*/

#ifndef laxis_h
#define laxis_h

#include <lauxlib.h>

#include "profile/range.h"
#include "profile/snapshot.h"


/*
** Pushes the time axis of a recording of which 's' is a snapshot; nil: it has
** none.
*/
CPROF_I void laxis_push (lua_State *L, const Recording *r, const Snapshot *s);

/* The axis at 'arg'; raises an error when there is none. */
CPROF_I const AxisData *laxis_check (lua_State *L, int arg);

#endif

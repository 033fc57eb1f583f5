/*
** The host's frames as a file has them, for the Lua part: a list of records, by
** name.
*/

#ifndef lloops_h
#define lloops_h

#include <lua.h>
#include "profile/snapshot.h"


/*
** Pushes the frames of a recording of which 's' is a snapshot; nil: there are
** none.
*/
CPROF_I void lloops_push (lua_State *L, const Recording *r,
                          const Snapshot *s);

/* Adds the list of records at 'arg', or nil. 0: no room. */
CPROF_I int lloops_save (lua_State *L, int arg, Loops *l);

#endif

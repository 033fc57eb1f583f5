/*
** Tasks of a profile, for the Lua part: a list of records.
*/

#ifndef ltasks_h
#define ltasks_h

#include <lua.h>
#include "profile/snapshot.h"


/*
** Pushes the tasks of a recording of which 's' is a snapshot; nil: they were
** not counted.
*/
CPROF_I void ltasks_push (lua_State *L, const Recording *r, const Snapshot *s);

/* Adds the list of records at 'arg', or nil. 0: no room. */
CPROF_I int ltasks_save (lua_State *L, int arg, Tasks *t);

#endif

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
CPROF_I void laxis_push (lua_State *L, const Recording *r, const Snapshot *s,
                         const Memory *m);

/* Pushes what an axis has after 'from', as one of its own: see 'range_cut'. */
CPROF_I void laxis_pushcut (lua_State *L, const AxisData *d, double from,
                            const uint32_t *node);

/* The axis at 'arg'; raises an error when there is none. */
CPROF_I const AxisData *laxis_check (lua_State *L, int arg);

/* Raises an error about argument 1 if a node of the axis does not exist. */
CPROF_I void laxis_checknodes (lua_State *L, const AxisData *d,
                               const Nodes *nodes);

#endif

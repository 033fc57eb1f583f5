/*
** The table 'meta' of a profile, made of a recording, and written to the
** header of a file.
*/

#ifndef lmeta_h
#define lmeta_h

#include "file/format.h"
#include "profile/snapshot.h"


/* Pushes the 'meta' of a recording of which 's' is a snapshot. */
CPROF_I void lmeta_push (lua_State *L, const Recording *r, const Snapshot *s,
                         const Overhead *o);

/*
** Fills in a header from the 'meta' at 'arg', with a clock of ns, as times
** are in ns already.
*/
CPROF_I void lmeta_write (lua_State *L, int arg, FormatHeader *h);

/* Pushes costs as a table, in ns; and reads such a table on top. */
CPROF_I void lmeta_pushcosts (lua_State *L, const Costs *c);
CPROF_I Costs lmeta_tocosts (lua_State *L);

#endif

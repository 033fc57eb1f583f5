/*
** What Lua sees of profiles: snapshots, and sums over them.
*/

#ifndef lprofile_h
#define lprofile_h

#include "function.h"
#include "profile.h"
#include "recording.h"


/* adds its functions to the table on top of L */
CPROF_I void lprofile_open (lua_State *L);

/* is it one of these? */
CPROF_I int lprofile_own (lua_CFunction f);

/*
** Pushes a recording that does not change meanwhile: nodes, functions,
** meta, lines, sources, history.
*/
CPROF_I void lprofile_push (lua_State *L, Recording *r);

/* pushes a table of costs, in ns */
CPROF_I void lprofile_pushcosts (lua_State *L, const Costs *c);

/* those of the table on top */
CPROF_I Costs lprofile_tocosts (lua_State *L);

/* pushes a string */
CPROF_I void lprofile_pushtext (lua_State *L, const Text *t, uint32_t id);

/* pushes what is known of a function but its figures */
CPROF_I void lprofile_pushfunction (lua_State *L, const Functions *fs,
                                    const Function *f);

#endif

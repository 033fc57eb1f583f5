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

/* the nodes at 'arg'; raises an error when there are none */
CPROF_I Nodes *lprofile_checknodes (lua_State *L, int arg);

/* pushes room for 'count' nodes, to be filled in */
CPROF_I ProfileNode *lprofile_newnodes (lua_State *L, uint32_t count);

/* pushes a table of what is summed up */
CPROF_I void lprofile_pushrow (lua_State *L, const SumRow *row);
/*
** Pushes a recording that does not change meanwhile: nodes, functions,
** meta, lines, sources, history.
*/
CPROF_I void lprofile_push (lua_State *L, Recording *r);

/* pushes a string */
CPROF_I void lprofile_pushtext (lua_State *L, const Text *t, uint32_t id);

/* pushes what is known of a function but its figures */
CPROF_I void lprofile_pushfunction (lua_State *L, const Functions *fs,
                                    const Function *f);

#endif

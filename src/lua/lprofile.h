/*
** Profiles as Lua sees them: snapshots, and what is known of functions.
*/

#ifndef lprofile_h
#define lprofile_h

#include <lauxlib.h>

#include "follow/recorder.h"
#include "profile/snapshot.h"


CPROF_I const luaL_Reg *lprofile_functions (void);

/*
** Pushes nodes, functions, meta, lines, sources and history of a recording.
** 'frames' may be NULL. Raises an error when out of memory. No Lua code may
** run meanwhile, so garbage collection must have been stopped.
*/
CPROF_I void lprofile_push (lua_State *L, Recording *r, const Overhead *o,
                            const Frames *frames);

/*
** Calls 'f' with the topmost 'arguments', without garbage collection, so
** that no finalizer can change what is being read. Returns the number of
** its results, which take their place. Raises its errors again.
*/
CPROF_I int lprofile_nogc (lua_State *L, lua_CFunction f, int arguments);

/* Pushes a table of costs, in ns; and reads the one on top. */
CPROF_I void lprofile_pushcosts (lua_State *L, const Costs *c);
CPROF_I Costs lprofile_tocosts (lua_State *L);

/* What profiles call a kind of what is allocated, an AllocKind. */
CPROF_I const char *lprofile_kind (int kind);

CPROF_I void lprofile_pushtext (lua_State *L, const Text *t, uint32_t id);

/* Pushes what is known of a function but its figures. */
CPROF_I void lprofile_pushfunction (lua_State *L, const Functions *fs,
                                    const Function *f);

#endif

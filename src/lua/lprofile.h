/*
** Profiles for the Lua part: snapshots, and tables that describe functions.
*/

#ifndef lprofile_h
#define lprofile_h

#include <lauxlib.h>

#include "follow/recorder.h"
#include "profile/snapshot.h"


/*
** Pushes nodes, functions, meta, lines, sources, history and time axis of a
** recording. 'frames' may be NULL. Raises an error when out of memory. The
** collector must be stopped, as no finalizer may run meanwhile.
*/
CPROF_I void lprofile_push (lua_State *L, Recording *r, const Overhead *o,
                            const Frames *frames);

/*
** Calls 'f' with the topmost 'arguments' while the collector is stopped, so
** that no finalizer can change what 'f' reads. The results replace the
** arguments; returns their number. Raises errors of 'f' again.
*/
CPROF_I int lprofile_nogc (lua_State *L, lua_CFunction f, int arguments);

/* Names in profiles, and NULL behind them: by AllocKind, by FunctionKind. */
CPROF_I const char *const *lprofile_blocks (void);
CPROF_I const char *const *lprofile_kinds (void);

CPROF_I void lprofile_pushtext (lua_State *L, const Text *t, uint32_t id);

/* Pushes a table that describes a function, without its figures. */
CPROF_I void lprofile_pushfunction (lua_State *L, const Functions *fs,
                                    const Function *f);

#endif

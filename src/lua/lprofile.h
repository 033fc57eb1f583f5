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

/* Names in profiles, by AllocKind, and NULL after them. */
CPROF_I const char *const *lprofile_blocks (void);

#define LPROFILE_LINE	9	/* figures of a line, see 'lprofile_pushlines' */

/*
** Pushes 'n' lines as { function, line, hits, ns, ns with overhead,
** allocations, bytes, bytes in use, ns of waiting, ... }.
*/
CPROF_I void lprofile_pushlines (lua_State *L, const ProfileLine *line,
                                 size_t n);

#endif

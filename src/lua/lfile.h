/*
** Files, as Lua sees them: recording into one, and loading.
*/

#ifndef lfile_h
#define lfile_h

#include <lauxlib.h>

#include "file/livefile.h"


CPROF_I const luaL_Reg *lfile_functions (void);

/* Makes the metatable. */
CPROF_I void lfile_open (lua_State *L);

/*
** The store that the options at 'arg' ask for; NULL: none, or a message is
** pushed, for it cannot be.
*/
CPROF_I Store *lfile_create (lua_State *L, int arg, Recorder *r,
                             uint32_t max_nodes, const Overhead *o);

/* Writes the strings of the table on top to a journal. 0: no room. */
CPROF_I int lfile_meta (lua_State *L, Journal *j);

#endif

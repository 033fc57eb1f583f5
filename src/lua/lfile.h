/*
** Files, for the Lua part: recording into one, and loading one.
*/

#ifndef lfile_h
#define lfile_h

#include <lauxlib.h>

#include "file/livefile.h"


/*
** Makes the store that the options at 'arg' ask for. NULL: they ask for none,
** or it cannot be made; then a message is on top, else nil.
*/
CPROF_I Store *lfile_create (lua_State *L, int arg, Recorder *r,
                             uint32_t max_nodes, const Overhead *o);

/* Writes the string fields of the table on top to a journal. 0: no room. */
CPROF_I int lfile_meta (lua_State *L, Journal *j);

/*
** Writes the paths in 'at'. Each has the key of a C function or 0 (8 bytes),
** first and last line (4 each), and two strings: source and path. 0: no room.
*/
CPROF_I int lfile_paths (Journal *j, const char *at, size_t size);

#endif

/*
** The parts of "cprof.core", and what they do for one another. Each is opened
** by a function that adds its own to the table on top, and makes metatables.
*/

#ifndef parts_h
#define parts_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I void lcore_open (lua_State *L);
CPROF_I void lfile_open (lua_State *L);
CPROF_I void lhook_open (lua_State *L);
CPROF_I void lzone_open (lua_State *L);
CPROF_I void texts_open (lua_State *L);
#if CPROF_WHOLE
CPROF_I void entry_open (lua_State *L);
CPROF_I void laxis_open (lua_State *L);
CPROF_I void lcallees_open (lua_State *L);
CPROF_I void lcallgraph_open (lua_State *L);
CPROF_I void lhistory_open (lua_State *L);
CPROF_I void lmemory_open (lua_State *L);
CPROF_I void lnodes_open (lua_State *L);
CPROF_I void metatables_open (lua_State *L);
CPROF_I void lprofile_open (lua_State *L);
CPROF_I void lrebuild_open (lua_State *L);
CPROF_I void lsave_open (lua_State *L);
CPROF_I void lslow_open (lua_State *L);
#if PLATFORM_WATCH
CPROF_I void lnative_open (lua_State *L);
CPROF_I void loutside_open (lua_State *L);
CPROF_I void loutsideprofile_open (lua_State *L);
CPROF_I void lremote_open (lua_State *L);
#endif
#endif

/*
** Stops the recording, measures costs again, and completes the file. 0:
** nothing is being recorded.
*/
CPROF_I int lcore_stop (lua_State *L);

/* Ends a frame, as 'control_frame' does; see also lslow.h. */
CPROF_I int lcore_frame (lua_State *L, const char *name, int record);

/*
** While a program is recorded, replacements of debug.sethook and debug.gethook
** set and return its own hook, which is called after the recorder's. Replaces
** each function in the table 'debug', if that has the library's; and puts the
** library's back. May raise an error when out of memory.
*/
CPROF_I void lhook_replace (lua_State *L);
CPROF_I void lhook_putback (lua_State *L);

#if CPROF_WHOLE
/*
** The metatables of strings and other types, which all values of a type share.
** A program may have changed them, so cprof's Lua part replaces them by its own
** while it runs. Both functions take a list of metatables, see metatables.c,
** and return one: the first sets cprof's metatables, the second one the
** program's again.
*/
CPROF_I int metatables_set (lua_State *L);
CPROF_I int metatables_restore (lua_State *L);
#endif

#endif

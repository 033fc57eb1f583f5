/*
** What the Lua part asks the system for. Each of these adds its functions to
** the table on top, and makes its metatables.
*/

#ifndef system_h
#define system_h

#include <lauxlib.h>

#include "base/platform.h"


CPROF_I void folder_open (lua_State *L);
CPROF_I void system_open (lua_State *L);

#if PLATFORM_SIGNALS
CPROF_I void child_open (lua_State *L);
CPROF_I void console_open (lua_State *L);
CPROF_I void listen_open (lua_State *L);
CPROF_I void private_open (lua_State *L);
CPROF_I void signals_open (lua_State *L);
#endif

/* Makes the metatable 'name' for userdata. 'gc': their finalizer, or NULL. */
CPROF_I void system_class (lua_State *L, const char *name, lua_CFunction gc);

/* Returns nil and a message to Lua. */
CPROF_I int system_fail (lua_State *L, const char *why);

/* The C function behind those that 'core.saying' makes: it may be on the stack
   while recording, so it counts as the profiler's own. */
CPROF_I int system_say (lua_State *L);

#endif

/*
** A process that is read, as a value of the Lua part.
*/

#ifndef lremote_h
#define lremote_h

#include <lauxlib.h>

#include "remote/process.h"

#if PLATFORM_WATCH

/* The process at 'arg'; raises an error if it is not one. */
CPROF_I RemoteProcess *lremote_check (lua_State *L, int arg);

#endif

#endif

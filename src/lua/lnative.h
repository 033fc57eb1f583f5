/*
** The C stack of a thread of another process, as a value of the Lua part.
*/

#ifndef lnative_h
#define lnative_h

#include <lauxlib.h>

#include "remote/native.h"

#if PLATFORM_WATCH

/* The value at 'arg'; raises an error if it is not one. */
CPROF_I Native *lnative_check (lua_State *L, int arg);

#endif

#endif

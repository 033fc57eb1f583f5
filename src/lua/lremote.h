/*
** A process that is read, as a value of the Lua part.
*/

#ifndef lremote_h
#define lremote_h

#include <lauxlib.h>

#include "remote/process.h"
#include "remote/task.h"

#if PLATFORM_WATCH

/* The process at 'arg'; raises an error if it is not one. */
CPROF_I RemoteProcess *lremote_check (lua_State *L, int arg);

/*
** Reads the registers of the stopped thread with the number at 'arg', or those
** of a core file, a string there. 0: there are none.
*/
CPROF_I int lremote_registers (lua_State *L, int arg, TaskRegisters *r);

#endif

#endif

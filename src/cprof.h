/*
** cprof: the profiler for Lua 5.4.
**
**   require "cprof" gives the Lua module; its core is this library.
**   A host that links it statically makes it known with
**
**     luaL_requiref(L, "cprof.core", luaopen_cprof_core, 0);
**     lua_pop(L, 1);
**
** Thread rule: as Lua's own. A lua_State and its coroutines are used by
** one thread at a time; different states may be used, and recorded, by
** different threads at once.
*/

#ifndef cprof_h
#define cprof_h

/*
** Lua's own headers leave it to C++ to say that Lua is compiled as C. If
** yours is compiled as C++, so that its functions have C++ names, define
** CPROF_LUA_CPP, also for cprof.c.
*/
#if defined(__cplusplus) && !defined(CPROF_LUA_CPP)
extern "C" {
#include <lua.h>
}
#else
#include <lua.h>
#endif


#define CPROF_VERSION	"0.1.0"

#if defined(CPROF_API)
/* as the host says */
#elif defined(__GNUC__)
#define CPROF_API	__attribute__((visibility("default"))) extern
#else
#define CPROF_API	extern
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
** Opens all of cprof: pushes the module that require "cprof" gives. The
** Lua part is inside, so no files are needed. The host needs Lua's
** library 'package' to be open, and then calls
**
**   luaL_requiref(L, "cprof", luaopen_cprof, 0);
**   lua_pop(L, 1);
**
** Only in hosts that compile cprof.c, or src/host/embed.c. Raises an
** error when out of memory, or when 'package' is not open.
*/
CPROF_API int luaopen_cprof (lua_State *L);

/*
** Opens the core: pushes its table of functions, which the Lua part of
** cprof builds on. Raises an error when out of memory.
*/
CPROF_API int luaopen_cprof_core (lua_State *L);

/*
** The recorder of L's state takes its memory from 'alloc' from now on,
** which is called as Lua's own allocator is; the default is realloc and
** free. What was recorded is forgotten. Nothing may be recorded at that
** time: then 0 is returned and nothing changes, else 1. Raises an error
** when out of memory.
*/
CPROF_API int cprof_setalloc (lua_State *L, lua_Alloc alloc, void *ud);

#ifdef __cplusplus
}
#endif

#endif

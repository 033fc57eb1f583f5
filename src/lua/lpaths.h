/*
** Where functions are found: their paths in global tables and in modules. The
** Lua part finds them itself, in source/paths.lua; this is for a build without
** it.
*/

#ifndef lpaths_h
#define lpaths_h

#include <lauxlib.h>

#include "base/platform.h"

#if !CPROF_WHOLE

/*
** Pushes the paths of all functions that are found, as 'lfile_paths' takes
** them; without those in 'except' (NULL: in none), which are the paths of an
** earlier call.
*/
CPROF_I void lpaths_push (lua_State *L, const char *except, size_t size);

#endif

#endif

/*
** The options of 'start' in a build that only records, where no Lua part checks
** them.
*/

#ifndef onlyoptions_h
#define onlyoptions_h

#include <lauxlib.h>

#include "base/platform.h"

#if !CPROF_WHOLE

#define ONLY_HINT	"is not in this build, which only records " \
			"(CPROF_PARTS=recorder)"

/*
** options or nil -> those for the core, with what describes the recording in
** the field 'meta'; raises an error if one is wrong
*/
CPROF_I int onlyoptions_read (lua_State *L);

#endif

#endif

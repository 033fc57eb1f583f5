/*
** Zones in C, and a host: methods of a state that use the C API.
*/

#ifndef zones_h
#define zones_h

#include <lauxlib.h>
#include <lua.h>

#define ZONES_STATE	"host.state"	/* a pointer to a state */

extern const luaL_Reg zones_methods[];

int luaopen_spec_zones (lua_State *L);

#endif

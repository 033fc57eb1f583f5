/*
** Hosts of a state S, whose arguments are in L.
*/

#ifndef zones_h
#define zones_h

#include <lua.h>

int luaopen_spec_zones (lua_State *L);
int zones_start (lua_State *L, lua_State *S);
int zones_control (lua_State *L, lua_State *S);
int zones_report (lua_State *L, lua_State *S);
int zones_file (lua_State *L, lua_State *S);
int zones_host (lua_State *L, lua_State *S);
int zones_hostearly (lua_State *L, lua_State *S);
int zones_view (lua_State *L, lua_State *S);

#endif
